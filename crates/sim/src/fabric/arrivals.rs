//! Packets that are about to reach a port or a host, and the order in which they do.

use std::{iter, mem};

use flowsched_schemes::Packet;
use flowsched_topology::PortId;
use flowsched_units::Time;

use super::arrival::Arrival;
use super::calendar::Calendar;

/// What reaches one port, or hosts.
#[derive(Clone, Debug)]
pub(super) struct Inbox<H> {
    near: Vec<Arrival<H>>,
    /// What arrives so late that every window would look at it in vain.
    far: Calendar<H>,
}

impl<H> Default for Inbox<H> {
    fn default() -> Inbox<H> {
        Inbox { near: Vec::new(), far: Calendar::default() }
    }
}

impl<H: Copy> Inbox<H> {
    /// Adds a packet that comes at `at` through the link behind `from`.
    #[inline]
    pub(super) fn push(&mut self, at: Time, from: PortId, packet: &Packet<H>) {
        // Made in its place once there is room: `push` would make it before, and copy it.
        self.near.extend(iter::once_with(|| Arrival { at, from, packet: *packet }));
    }

    /// The same for a packet that comes after the present window.
    #[inline]
    pub(super) fn push_later(&mut self, at: Time, from: PortId, packet: &Packet<H>) {
        self.far.put(at, from, packet);
    }

    /// Moves what has come to the end of `arrivals`.
    pub(super) fn hand_over(&mut self, arrivals: &mut Vec<Arrival<H>>) {
        arrivals.append(&mut self.near);
    }

    /// Takes in what has come to an inbox that handed it over.
    pub(super) fn take_in(&mut self, arrivals: &mut Vec<Arrival<H>>) {
        self.near.append(arrivals);
    }

    /// Whether nothing has come since it was last looked at, and nothing is to come soon.
    #[inline]
    pub(super) fn is_near_empty(&self) -> bool {
        self.near.is_empty()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.near.is_empty() && self.far.is_empty()
    }

    /// All arrivals, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arrival<H>> {
        self.near.iter().chain(self.far.iter())
    }

    /// When the first one arrives.
    pub(super) fn first(&self) -> Time {
        self.near.iter().map(|arrival| arrival.at).min().unwrap_or(Time::MAX).min(self.far.first())
    }

    /// Takes the arrivals before `end` out, in their order, and hands them to `taken`; none is before
    /// `start`. When the first of the others arrives.
    #[inline]
    pub(super) fn take(
        &mut self,
        order: &mut Order,
        start: Time,
        end: Time,
        taken: impl FnOnce(&mut [Arrival<H>], &[Key]),
    ) -> Time {
        if self.far.first() < end {
            self.far.take(end, &mut self.near);
        }
        let next = order.take(&mut self.near, start, end, taken);
        if !self.near.is_empty() {
            self.put_off(end.saturating_add(end.saturating_sub(start)));
        }
        next.min(self.far.first())
    }

    /// Moves the arrivals before `end` to `taken`, in place of what that has; none is before `start`. How many
    /// these are: `order` has so many keys for them, in their order. Arrivals in `taken` without a key have stayed
    /// here.
    pub(super) fn take_out(
        &mut self,
        order: &mut Order,
        taken: &mut Vec<Arrival<H>>,
        start: Time,
        end: Time,
    ) -> usize {
        if self.far.first() < end {
            self.far.take(end, &mut self.near);
        }
        let near = &mut self.near;
        let due = order.sort(near, start, end);
        taken.clear();
        taken.extend(order.keys[due..near.len()].iter().map(|key| near[key.index()]));
        mem::swap(near, taken);
        if !near.is_empty() {
            self.put_off(end.saturating_add(end.saturating_sub(start)));
        }
        due
    }

    /// Sets what arrives at `from` or later aside.
    fn put_off(&mut self, from: Time) {
        let far = &mut self.far;
        self.near.retain(|arrival| {
            let is_near = arrival.at < from;
            if !is_near {
                far.put(arrival.at, arrival.from, &arrival.packet);
            }
            is_near
        });
    }
}

/// The place of an arrival in the order, and in memory: its time since the first slot, then its index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

/// How many bits of a key hold the index.
const INDEX_BITS: u32 = 28;

/// The bits of a key that hold the index.
const INDEX: u64 = (1 << INDEX_BITS) - 1;

/// A longer span does not fit into keys: its slots take up to twice as many picoseconds.
const LONGEST_SPAN: u64 = u64::MAX >> (INDEX_BITS + 1);

impl Key {
    /// Where the arrival is.
    #[inline]
    pub(super) fn index(self) -> usize {
        (self.0 & INDEX) as usize
    }

    #[inline]
    fn time(self) -> u64 {
        self.0 >> INDEX_BITS
    }
}

/// Puts arrivals in order: by one pass of a counting sort, for which time is divided into slots,
/// one or two for each arrival; then neighbours that share a slot are exchanged.
#[derive(Debug, Default)]
pub(super) struct Order {
    keys: Vec<Key>,
    /// By slot: how many arrivals it has; then where its next one goes.
    slots: Vec<u32>,
    /// The keys of arrivals that are in order already.
    in_place: Vec<Key>,
}

impl Order {
    /// The keys that were put in order last; after these, keys without a meaning.
    #[inline]
    pub(super) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Takes the arrivals before `end`, in their order, off `arrivals`, of which none is before `start`:
    /// hands them to `taken`, and keeps the others, the first of which is at the time returned.
    #[inline]
    fn take<H: Copy>(
        &mut self,
        arrivals: &mut Vec<Arrival<H>>,
        start: Time,
        end: Time,
        taken: impl FnOnce(&mut [Arrival<H>], &[Key]),
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
            next = next.min(arrivals[place].at);
        }
        arrivals.truncate(count - due);
        next
    }

    fn know_places(&mut self, count: usize) {
        let known = self.in_place.len();
        self.in_place.extend((known as u64..count as u64).map(Key));
    }

    /// Puts keys for the arrivals before `end` in order, before those for the others, which are in the
    /// order of their places: how many are before `end`.
    fn sort<H>(&mut self, arrivals: &[Arrival<H>], start: Time, end: Time) -> usize {
        let span = end.saturating_sub(start).as_ps();
        if arrivals.len() >= 1 << INDEX_BITS || span > LONGEST_SPAN {
            return self.compare(arrivals, end);
        }
        let due = self.count(arrivals, start, span);
        insert_all(&mut self.keys[..due], arrivals);
        due
    }

    /// Brings the keys into the order of their slots; what does not arrive within the span has a slot
    /// after all others. How many arrive within it.
    #[inline]
    fn count<H>(&mut self, arrivals: &[Arrival<H>], start: Time, span: u64) -> usize {
        let shift = slot_bits(span, arrivals.len());
        let last = (span >> shift) as usize + 1;
        // The last slot starts at the end of the span: one minimum finds the slot of what comes later, too.
        let first = start.as_ps().wrapping_add(span).wrapping_sub((last as u64) << shift);
        let since_first = |arrival: &Arrival<H>| {
            debug_assert!(arrival.at >= start);
            arrival.at.as_ps().wrapping_sub(first)
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

    /// The same by comparisons, where times are far apart.
    #[cold]
    fn compare<H>(&mut self, arrivals: &[Arrival<H>], end: Time) -> usize {
        self.keys.clear();
        self.keys.extend((0..arrivals.len() as u64).map(Key));
        self.keys.sort_by_key(|key| arrivals[key.index()].at >= end);
        let due = self.keys.partition_point(|key| arrivals[key.index()].at < end);
        self.keys[..due].sort_by_key(|key| (arrivals[key.index()].turn(), key.0));
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
fn is_sorted<H>(arrivals: &[Arrival<H>], end: Time) -> bool {
    arrivals.is_sorted_by(|one, other| {
        one.at < other.at || (one.at == other.at && one.from <= other.from)
    }) && arrivals.last().is_none_or(|last| last.at < end)
}

/// Sorts keys of which nearly all are in their places.
#[inline]
fn insert_all<H>(keys: &mut [Key], arrivals: &[Arrival<H>]) {
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
fn insert<H>(keys: &mut [Key], place: usize, arrivals: &[Arrival<H>]) {
    let key = keys[place];
    let turn = |key: Key| (key.time(), arrivals[key.index()].from, key.index());
    let mut hole = place;
    while hole > 0 && turn(keys[hole - 1]) > turn(key) {
        keys[hole] = keys[hole - 1];
        hole -= 1;
    }
    keys[hole] = key;
}

#[cfg(test)]
mod tests {
    use flowsched_schemes::packet::Flags;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn arrivals_are_in_the_order_of_time_then_port_then_coming(
            drawn in prop::collection::vec((0u64..2_000, 0u32..40), 0..400),
            scale in prop::sample::select(vec![1u64, 1_000, 1 << 40]),
            (start, end) in (0u64..200, 0u64..2_500),
        ) {
            let arrivals: Vec<Arrival<()>> = drawn.iter().map(|(ps, port)| Arrival {
                at: Time::from_ps((start + ps) * scale),
                from: PortId(*port),
                packet: Packet::data(0, 0, *port, 1500, Flags::default()),
            }).collect();
            let mut expected: Vec<usize> =
                (0..drawn.len()).filter(|index| start + drawn[*index].0 < end).collect();
            expected.sort_by_key(|index| drawn[*index]);
            let mut later: Vec<u32> = (0..drawn.len())
                .filter(|index| start + drawn[*index].0 >= end)
                .map(|index| drawn[index].1)
                .collect();
            let mut order = Order::default();
            let (start, end) = (Time::from_ps(start * scale), Time::from_ps(end * scale));
            let mut indices = Vec::new();
            let mut inbox = Inbox::default();
            arrivals.iter().for_each(|one| inbox.push(one.at, one.from, &one.packet));
            let next = inbox.take(&mut order, start, end, |_, keys| {
                indices.extend(keys.iter().map(|key| key.index()));
            });
            prop_assert_eq!(indices, expected);
            prop_assert_eq!(next, inbox.first());
            let mut kept: Vec<u32> = inbox.iter().map(|one| one.packet.seq).collect();
            kept.sort_unstable();
            later.sort_unstable();
            prop_assert_eq!(kept, later);
        }
    }
}
