//! Lists without repetitions, in the order of first occurrence.

use std::collections::BTreeSet;

/// Each value once, in the order of first occurrence.
pub(super) fn in_order<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    values.filter(|value| seen.insert(*value)).collect()
}
