//! A set of segment numbers in a sliding window: those that SACK has reported, or that came out of
//! order.

use std::ops::Range;

const BITS: u32 = u64::BITS;

/// A set of segment numbers that are not below a base. The base only moves up.
///
/// The set has one bit per segment, in a ring of words that grows to the widest window seen.
/// Nothing is allocated before the first insertion, and an empty set moves its base at no cost.
#[derive(Clone, Debug, Default)]
pub struct SegmentSet {
    words: Vec<u64>,
    base: u32,
    count: u32,
}

impl SegmentSet {
    /// How many segments are in the set.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether `segment` is in the set.
    #[inline]
    pub fn contains(&self, segment: u32) -> bool {
        self.count > 0 && self.covers(segment) && self.word(segment) & bit(segment) != 0
    }

    /// Adds `segment`. Returns false if it was there already or lies below the base.
    pub fn insert(&mut self, segment: u32) -> bool {
        if segment < self.base || self.contains(segment) {
            return false;
        }
        self.grow_to_cover(segment);
        let index = self.index(segment);
        self.words[index] |= bit(segment);
        self.count += 1;
        true
    }

    /// Moves the base up to `base`, dropping what lies below it.
    #[inline]
    pub fn advance(&mut self, base: u32) {
        if self.count > 0 {
            self.drop_below(base);
        }
        self.base = self.base.max(base);
    }

    #[inline(never)]
    fn drop_below(&mut self, base: u32) {
        let mut segment = self.base;
        while segment < base && self.count > 0 && self.covers(segment) {
            let end = ((segment / BITS + 1) * BITS).min(base);
            let index = self.index(segment);
            let below = mask(segment..end);
            self.count -= (self.words[index] & below).count_ones();
            self.words[index] &= !below;
            segment = end;
        }
    }

    /// The end of the unbroken run of segments in the set that begins at `segment`: `segment`
    /// itself if it is not in the set.
    pub fn run_end(&self, segment: u32) -> u32 {
        let mut end = segment;
        while self.count > 0 && self.covers(end) {
            let ones = (self.word(end) >> (end % BITS)).trailing_ones();
            let left_in_word = BITS - end % BITS;
            end += ones.min(left_in_word);
            if ones < left_in_word {
                break;
            }
        }
        end
    }

    /// The unbroken run of segments in the set around `segment`, which is in it.
    pub fn run_around(&self, segment: u32) -> Range<u32> {
        let mut start = segment;
        while start > self.base && self.contains(start - 1) {
            start -= 1;
        }
        start..self.run_end(segment)
    }

    /// How many segments of `range` are in the set.
    pub fn count_in(&self, range: Range<u32>) -> u32 {
        let mut count = 0;
        let mut segment = range.start.max(self.base);
        while self.count > 0 && segment < range.end && self.covers(segment) {
            let end = ((segment / BITS + 1) * BITS).min(range.end);
            count += (self.word(segment) & mask(segment..end)).count_ones();
            segment = end;
        }
        count
    }

    fn covers(&self, segment: u32) -> bool {
        segment >= self.base && segment / BITS - self.base / BITS < self.words.len() as u32
    }

    fn index(&self, segment: u32) -> usize {
        (segment / BITS) as usize & (self.words.len() - 1)
    }

    fn word(&self, segment: u32) -> u64 {
        self.words[self.index(segment)]
    }

    fn grow_to_cover(&mut self, segment: u32) {
        let needed = (segment / BITS - self.base / BITS + 1) as usize;
        if needed <= self.words.len() {
            return;
        }
        let length = needed.next_power_of_two().max(4);
        let mut words = vec![0; length];
        let first = (self.base / BITS) as usize;
        for number in first..first + self.words.len() {
            words[number & (length - 1)] = self.words[number & (self.words.len() - 1)];
        }
        self.words = words;
    }
}

fn bit(segment: u32) -> u64 {
    1 << (segment % BITS)
}

/// The bits of a range of segments that lies within one word and is not empty.
fn mask(range: Range<u32>) -> u64 {
    let ones = u64::MAX >> (BITS - (range.end - range.start));
    ones << (range.start % BITS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_as_a_set(steps in prop::collection::vec((0u32..600, 0u32..40, any::<bool>()), 0..300)) {
            let mut set = SegmentSet::default();
            let mut model = BTreeSet::new();
            let mut base = 0;
            for (ahead, forward, insert) in steps {
                if insert {
                    let fresh = base + ahead >= base && model.insert(base + ahead);
                    prop_assert_eq!(set.insert(base + ahead), fresh);
                    let run = set.run_around(base + ahead);
                    prop_assert!(run.clone().all(|segment| model.contains(&segment)));
                    prop_assert!(!model.contains(&run.end));
                    prop_assert!(run.start == base || !model.contains(&(run.start - 1)));
                } else {
                    base += forward;
                    set.advance(base);
                    model = model.split_off(&base);
                    prop_assert!(base == 0 || !set.insert(base - 1));
                }
                prop_assert_eq!(set.count() as usize, model.len());
                prop_assert_eq!(set.contains(base + ahead), model.contains(&(base + ahead)));
                let range = base..base + ahead;
                prop_assert_eq!(set.count_in(range.clone()) as usize, model.range(range).count());
            }
        }
    }
}
