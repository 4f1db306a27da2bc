//! Lists without repetitions, in the order of their first mention.

use std::collections::BTreeSet;

/// Each value once, where it first appears.
pub(super) fn in_order<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    values.filter(|value| seen.insert(*value)).collect()
}
