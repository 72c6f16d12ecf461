//! Sorting, compiled once: the sort is large code, and every type and key would bring its own. Indices are
//! sorted instead of things.

use std::cmp::Ordering;

/// Sorts indices; equal ones keep their order.
pub fn sort(indices: &mut [u32], compare: &dyn Fn(u32, u32) -> Ordering) {
    indices.sort_by(|&a, &b| compare(a, b));
}

/// The indices of `count` things by increasing key; those with equal keys keep their order.
pub fn by_key(count: usize, key: &dyn Fn(usize) -> u64) -> Vec<u32> {
    let mut indices: Vec<u32> = (0..count as u32).collect();
    sort(&mut indices, &|a, b| key(a as usize).cmp(&key(b as usize)));
    indices
}

/// Puts `things` in the order of increasing keys; those with equal keys keep their order.
pub fn arrange<T>(things: &mut [T], key: impl Fn(&T) -> u64) {
    arrange_by(things, |a, b| key(a).cmp(&key(b)));
}

/// Puts `things` in order; equal ones keep theirs.
pub fn arrange_by<T>(things: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut order: Vec<u32> = (0..things.len() as u32).collect();
    sort(&mut order, &|a, b| {
        compare(&things[a as usize], &things[b as usize])
    });
    permute(&order, &mut |a, b| things.swap(a, b));
}

/// Swaps things until each place has the one that `order` has there.
fn permute(order: &[u32], swap: &mut dyn FnMut(usize, usize)) {
    let mut places = vec![0; order.len()];
    for (place, &thing) in order.iter().enumerate() {
        places[thing as usize] = place;
    }
    for i in 0..places.len() {
        while places[i] != i {
            let place = places[i];
            swap(i, place);
            places.swap(i, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_arranged_and_equal_ones_keep_their_order() {
        for count in [0, 1, 2, 7, 1000] {
            let mut things: Vec<(u64, usize)> =
                (0..count).map(|i| (i as u64 * 7 % 31, i)).collect();
            let mut expected = things.clone();
            expected.sort();
            arrange(&mut things, |thing| thing.0);
            assert_eq!(things, expected);
        }
    }
}
