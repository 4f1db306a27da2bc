//! Sorts what happens within a window.

use std::mem;

use flowsched_units::Time;

/// Something that happens at an instant.
pub(super) trait Comes {
    /// The instant.
    fn at(&self) -> Time;

    /// Decides the order within an instant: the lowest comes first.
    fn rank(&self) -> u32;
}

/// What arrivals are sorted by: the time since the first slot, and below it the arrival's index in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

/// The number of a key's bits that hold the index.
const INDEX_BITS: u32 = 28;

/// A mask of the bits that hold the index.
const INDEX: u64 = (1 << INDEX_BITS) - 1;

/// The longest span, in picoseconds, whose times fit into keys. Slots cover up to twice the span.
const LONGEST_SPAN: u64 = u64::MAX >> (INDEX_BITS + 1);

impl Key {
    /// The arrival's index in memory.
    #[inline]
    pub(super) fn index(self) -> usize {
        (self.0 & INDEX) as usize
    }

    #[inline]
    fn time(self) -> u64 {
        self.0 >> INDEX_BITS
    }
}

/// Sorts arrivals in two steps. A counting sort distributes them over slots of time, one or two slots for
/// each arrival. Then an insertion sort orders those that share a slot.
#[derive(Debug, Default)]
pub(super) struct Order {
    keys: Vec<Key>,
    /// For each slot, first the number of its arrivals, then the place of the next one.
    slots: Vec<u32>,
    /// The keys of arrivals that are in order already.
    in_place: Vec<Key>,
}

impl Order {
    /// The keys sorted last, followed by keys without a meaning.
    #[inline]
    pub(super) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Removes the arrivals before `end` from `arrivals` and hands them to `taken` with their keys in order.
    /// None may be before `start`. Returns the time of the first arrival that is left.
    #[inline]
    pub(super) fn take<A: Comes + Copy>(
        &mut self,
        arrivals: &mut Vec<A>,
        start: Time,
        end: Time,
        taken: impl FnOnce(&mut [A], &[Key]),
    ) -> Time {
        let count = arrivals.len();
        let is_sorted = is_sorted(arrivals, end);
        let due = if is_sorted {
            self.know_places(count);
            count
        } else {
            self.sort(arrivals, start, end)
        };
        taken(arrivals, if is_sorted { &self.in_place[..due] } else { &self.keys[..due] });
        if due == count {
            arrivals.clear();
            return Time::MAX;
        }
        let mut next = Time::MAX;
        // In the order of their places, so that none is overwritten before it is moved.
        for (place, key) in self.keys[due..count].iter().enumerate() {
            arrivals[place] = arrivals[key.index()];
            next = next.min(arrivals[place].at());
        }
        arrivals.truncate(count - due);
        next
    }

    fn know_places(&mut self, count: usize) {
        let known = self.in_place.len();
        self.in_place.extend((known as u64..count as u64).map(Key));
    }

    /// Sorts the keys of the arrivals before `end`. The keys of the others follow, in the order of their
    /// places. Returns how many arrivals are before `end`.
    pub(super) fn sort<A: Comes>(&mut self, arrivals: &[A], start: Time, end: Time) -> usize {
        let span = end.saturating_sub(start).as_ps();
        if arrivals.len() >= 1 << INDEX_BITS || span > LONGEST_SPAN {
            return self.compare(arrivals, end);
        }
        let due = self.count(arrivals, start, span);
        insert_all(&mut self.keys[..due], arrivals);
        due
    }

    /// Sorts the keys by slot. Arrivals after the span share a slot after all others. Returns how many
    /// arrive within the span.
    #[inline]
    fn count<A: Comes>(&mut self, arrivals: &[A], start: Time, span: u64) -> usize {
        let shift = slot_bits(span, arrivals.len());
        let last = (span >> shift) as usize + 1;
        // The last slot starts at the end of the span: one minimum finds the slot of what comes later, too.
        let first = start.as_ps().wrapping_add(span).wrapping_sub((last as u64) << shift);
        let since_first = |arrival: &A| {
            debug_assert!(arrival.at() >= start);
            arrival.at().as_ps().wrapping_sub(first)
        };
        let slot = |since_first: u64| ((since_first >> shift) as usize).min(last);
        self.slots.clear();
        self.slots.resize(last + 1, 0);
        let counts = &mut self.slots[..=last];
        for arrival in arrivals {
            counts[slot(since_first(arrival))] += 1;
        }
        let mut before = 0;
        for slot in counts.iter_mut() {
            before += mem::replace(slot, before);
        }
        let due = counts[last] as usize;
        if self.keys.len() < arrivals.len() {
            self.keys.resize(arrivals.len(), Key::default());
        }
        let keys = &mut self.keys[..arrivals.len()];
        for (index, arrival) in arrivals.iter().enumerate() {
            let since_first = since_first(arrival);
            let place = &mut counts[slot(since_first)];
            keys[*place as usize] = Key(since_first << INDEX_BITS | index as u64);
            *place += 1;
        }
        due
    }

    /// Does what `sort` does by comparisons, where times are far apart.
    #[cold]
    fn compare<A: Comes>(&mut self, arrivals: &[A], end: Time) -> usize {
        self.keys.clear();
        self.keys.extend((0..arrivals.len() as u64).map(Key));
        self.keys.sort_by_key(|key| arrivals[key.index()].at() >= end);
        let due = self.keys.partition_point(|key| arrivals[key.index()].at() < end);
        self.keys[..due]
            .sort_by_key(|key| (arrivals[key.index()].at(), arrivals[key.index()].rank(), key.0));
        due
    }
}

/// The length of a slot is two to the power of this, in picoseconds: the span then has one or two slots for each
/// of so many arrivals.
#[inline]
fn slot_bits(span: u64, arrivals: usize) -> u32 {
    let count = arrivals as u64 | 1;
    let bits = (span | 1).ilog2().saturating_sub(count.ilog2());
    if span >> bits < count { bits.saturating_sub(1) } else { bits }
}

/// Whether all arrivals are in order, and before `end`.
#[inline]
fn is_sorted<A: Comes>(arrivals: &[A], end: Time) -> bool {
    arrivals.is_sorted_by(|one, other| {
        one.at() < other.at() || (one.at() == other.at() && one.rank() <= other.rank())
    }) && arrivals.last().is_none_or(|last| last.at() < end)
}

/// Sorts keys of which nearly all are in their places.
#[inline]
fn insert_all<A: Comes>(keys: &mut [Key], arrivals: &[A]) {
    let mut before = keys.first().copied().unwrap_or_default();
    for place in 1..keys.len() {
        let key = keys[place];
        // Seldom: the one before it is later or at the same time.
        if before.0 | INDEX >= key.0 {
            insert(keys, place, arrivals);
            before = keys[place];
        } else {
            before = key;
        }
    }
}

#[inline]
fn insert<A: Comes>(keys: &mut [Key], place: usize, arrivals: &[A]) {
    let key = keys[place];
    let turn = |key: Key| (key.time(), arrivals[key.index()].rank(), key.index());
    let mut hole = place;
    while hole > 0 && turn(keys[hole - 1]) > turn(key) {
        keys[hole] = keys[hole - 1];
        hole -= 1;
    }
    keys[hole] = key;
}
