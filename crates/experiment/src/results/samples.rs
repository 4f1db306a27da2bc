//! Counts the independent samples that several seeds give.
//!
//! A seed is a sample if something in its run is random. If nothing is random, for example with a
//! trace and schemes without random choices, every seed repeats the same run. There is then one
//! sample, and no interval.

/// The number of `items` that differ from all items before them.
pub(super) fn distinct<T: PartialEq>(items: &[T]) -> u64 {
    let is_new = |place: &usize| !items[..*place].contains(&items[*place]);
    (0..items.len()).filter(is_new).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_count_once() {
        assert_eq!(distinct(&[1, 2, 1, 1, 3, 2]), 3);
        assert_eq!(distinct(&["same"; 4]), 1);
        assert_eq!(distinct::<u8>(&[]), 0);
    }
}
