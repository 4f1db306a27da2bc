//! Sorts numbers that are spread evenly, as arrivals within a window are.

/// Puts numbers into somewhat more drawers than there are numbers, by their highest bits, and what is
/// left in order by insertion; its memory is used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Sorter {
    /// By drawer, where its next number goes.
    places: Vec<u32>,
    sorted: Vec<u64>,
}

/// Fewer numbers than this are sorted without drawers.
const FEW: usize = 32;
/// More numbers than this in one drawer are not left to insertion, which takes the square of them.
const MANY: u32 = 16;

impl Sorter {
    /// Sorts numbers of so many bits, no two of which are equal.
    pub(super) fn sort(&mut self, numbers: &mut Vec<u64>, bits: u32) {
        if numbers.len() < FEW || !self.spread(numbers, bits) {
            numbers.sort_unstable();
        }
    }

    /// Sorts by drawers, unless some have many numbers.
    fn spread(&mut self, numbers: &mut Vec<u64>, bits: u32) -> bool {
        let drawer_bits = (numbers.len().ilog2() + 1).min(bits);
        let drawer_of = |number: u64| (number >> (bits - drawer_bits)) as usize;
        let (places, sorted) = (&mut self.places, &mut self.sorted);
        places.clear();
        places.resize(1 << drawer_bits, 0);
        let mut most = 0;
        for number in numbers.iter() {
            let count = &mut places[drawer_of(*number)];
            *count += 1;
            most = most.max(*count);
        }
        if most > MANY {
            return false;
        }
        let mut next = 0;
        for place in places.iter_mut() {
            next += std::mem::replace(place, next);
        }
        sorted.resize(numbers.len(), 0);
        for number in numbers.iter() {
            let place = &mut places[drawer_of(*number)];
            sorted[*place as usize] = *number;
            *place += 1;
        }
        insert_in_order(sorted);
        std::mem::swap(numbers, sorted);
        true
    }
}

/// Insertion sort, for numbers that are near their places.
fn insert_in_order(numbers: &mut [u64]) {
    for end in 1..numbers.len() {
        let number = numbers[end];
        let mut place = end;
        while place > 0 && numbers[place - 1] > number {
            numbers[place] = numbers[place - 1];
            place -= 1;
        }
        numbers[place] = number;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_out_in_order(
            bits in 20u32..=64,
            numbers in prop::collection::btree_set(any::<u64>(), 0..500),
            crowd in 0usize..200,
        ) {
            let mut numbers: Vec<u64> = numbers.into_iter().map(|number| number >> (64 - bits)).collect();
            numbers.extend((0..crowd as u64).map(|step| step * 3));
            numbers.sort_by_key(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let mut expected = numbers.clone();
            expected.sort_unstable();
            Sorter::default().sort(&mut numbers, bits);
            prop_assert_eq!(numbers, expected);
        }
    }
}
