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
pub fn arrange<T>(things: &mut Vec<T>, key: impl Fn(&T) -> u64) {
    arrange_by(things, |a, b| key(a).cmp(&key(b)));
}

/// Puts `things` in order; equal ones keep theirs.
pub fn arrange_by<T>(things: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let mut order: Vec<u32> = (0..things.len() as u32).collect();
    sort(&mut order, &|a, b| {
        compare(&things[a as usize], &things[b as usize])
    });
    let mut slots: Vec<Option<T>> = things.drain(..).map(Some).collect();
    things.extend(order.iter().filter_map(|&i| slots[i as usize].take()));
}
