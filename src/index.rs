//! Finding things by their keys, compiled once: the standard maps are large code, and every type of key and
//! of value would bring its own. Here keys are bytes, and what is found is a number.

use std::collections::BTreeMap;

/// Numbers for keys, in the order in which they first come: 0, 1, 2 and so on. What belongs to a key is kept
/// in a list, at its number. A tree, so that no choice of keys makes it slow.
#[derive(Clone, Debug, Default)]
pub struct Index(BTreeMap<Box<[u8]>, u32>);

/// A key of two numbers.
pub fn pair(a: u64, b: u64) -> [u8; 16] {
    (u128::from(a) << 64 | u128::from(b)).to_le_bytes()
}

impl Index {
    /// How many keys have a number.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of `key`, if it has one.
    pub fn get(&self, key: &[u8]) -> Option<usize> {
        self.0.get(key).map(|&number| number as usize)
    }

    /// The number of `key`: a new one where it has none yet.
    pub fn add(&mut self, key: &[u8]) -> usize {
        if let Some(number) = self.get(key) {
            return number;
        }
        let number = self.0.len();
        self.0.insert(key.into(), number as u32);
        number
    }
}

/// Values by keys.
#[derive(Clone, Debug)]
pub struct Map<V> {
    index: Index,
    values: Vec<V>,
}

impl<V> Default for Map<V> {
    fn default() -> Self {
        Self {
            index: Index::default(),
            values: Vec::new(),
        }
    }
}

impl<V> Map<V> {
    /// How many keys have a value.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The value of `key`.
    pub fn get(&self, key: &[u8]) -> Option<&V> {
        self.values.get(self.index.get(key)?)
    }

    /// The value of `key`, which is `new` where it has none yet.
    pub fn entry(&mut self, key: &[u8], new: V) -> &mut V {
        let number = self.index.add(key);
        if number == self.values.len() {
            self.values.push(new);
        }
        &mut self.values[number]
    }

    /// The values, in the order in which their keys first came.
    pub fn into_values(self) -> Vec<V> {
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_numbers() {
        let mut index = Index::default();
        assert_eq!(index.get(b""), None);
        for round in 0..2 {
            for i in 0..1000_u64 {
                let key = i.to_string();
                assert_eq!(index.get(key.as_bytes()).is_some(), round > 0);
                assert_eq!(index.add(key.as_bytes()), i as usize);
                assert_eq!(index.get(key.as_bytes()), Some(i as usize));
            }
        }
        assert_eq!(index.get(b""), None);
        assert_eq!(index.add(b""), 1000);
        assert_eq!(index.get(b""), Some(1000));
    }

    #[test]
    fn pairs_are_keys() {
        let mut index = Index::default();
        assert_eq!(index.add(&pair(1, 2)), 0);
        assert_eq!(index.add(&pair(2, 1)), 1);
        assert_eq!(index.get(&pair(1, 2)), Some(0));
        assert_eq!(index.get(&pair(1, 1)), None);
    }
}
