//! Packets that are about to reach a node within a window, and the order in which they do.

use flowsched_schemes::Packet;
use flowsched_topology::PortId;
use flowsched_units::Time;

/// A packet that reaches a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival<H> {
    /// Picoseconds since the window's start, then the rank of the link: packets that arrive at the
    /// same instant are taken in the order of their links, as one event after the other.
    key: u64,
    pub(super) packet: Packet<H>,
    /// The port through which the node sends it on.
    pub(super) port: PortId,
    /// The next arrival in the same slot; after the last one, the first one again.
    next: u32,
}

/// Bits of a key that tell links apart.
const RANK_BITS: u32 = 24;

/// No arrival is later than this since its window's start.
pub(super) const LONGEST_SPAN: Time = Time::from_ps((1 << (u64::BITS - RANK_BITS)) - 1);

impl<H> Arrival<H> {
    /// When it is, since the window's start.
    #[inline]
    pub(super) fn since_start(&self) -> Time {
        Time::from_ps(self.key >> RANK_BITS)
    }
}

/// Arrivals within one window, from several links.
#[derive(Clone, Debug)]
pub(super) struct Inbox<H> {
    arrivals: Vec<Arrival<H>>,
}

impl<H> Default for Inbox<H> {
    fn default() -> Inbox<H> {
        Inbox { arrivals: Vec::new() }
    }
}

impl<H: Copy> Inbox<H> {
    /// Takes in a packet that comes over the link of this rank and goes on through `port`.
    #[inline]
    pub(super) fn push(&mut self, since_start: Time, rank: u32, packet: &Packet<H>, port: PortId) {
        let key = (since_start.as_ps() << RANK_BITS) | u64::from(rank);
        self.arrivals.push(Arrival { key, packet: *packet, port, next: NONE });
    }

    /// Forgets all arrivals.
    pub(super) fn clear(&mut self) {
        self.arrivals.clear();
    }
}

/// No arrival.
const NONE: u32 = u32::MAX;

/// Puts the arrivals of a window in order: divides the window into slots, four or more for each
/// arrival, so that most have one or none. A slot is a circular list of arrivals in their order.
/// Inboxes use the same slots one after the other, which stay in the cache.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    groups: Vec<Group>,
}

/// Neighbouring slots.
#[derive(Clone, Debug)]
struct Group {
    /// Bit i is set while slot i has arrivals.
    occupied: u64,
    /// The last arrival of each slot that has any.
    last: [u32; GROUP],
}

const GROUP: usize = u64::BITS as usize;

/// More slots than this do not stay in the cache.
const MOST_GROUPS: usize = 128;

impl Slots {
    /// Puts the arrivals of an inbox in order, all of them within `span`: where to start.
    pub(super) fn fill<H>(&mut self, inbox: &mut Inbox<H>, span: Time) -> Cursor {
        let arrivals = &mut inbox.arrivals[..];
        let count = (4 * arrivals.len()).div_ceil(GROUP).next_power_of_two().min(MOST_GROUPS);
        self.groups.resize(count, Group { occupied: 0, last: [NONE; GROUP] });
        self.groups.iter_mut().for_each(|group| group.occupied = 0);
        let key_bits = u64::BITS - span.as_ps().leading_zeros() + RANK_BITS;
        let shift = key_bits.saturating_sub((count * GROUP).ilog2());
        for place in 0..arrivals.len() {
            let number = (arrivals[place].key >> shift) as usize;
            let group = &mut self.groups[number / GROUP];
            let (bit, last) = (1 << (number % GROUP), &mut group.last[number % GROUP]);
            if group.occupied & bit == 0 {
                group.occupied |= bit;
                *last = place as u32;
                arrivals[place].next = place as u32;
            } else {
                *last = insert(arrivals, *last, place as u32);
            }
        }
        let occupied = self.groups[0].occupied;
        let mut cursor = Cursor { occupied, ..Cursor::END };
        cursor.go_to_next_slot(self, inbox);
        cursor
    }
}

/// Puts the arrival at `place` into a slot whose last one is `last`; which one is the last then.
#[inline]
fn insert<H>(arrivals: &mut [Arrival<H>], last: u32, place: u32) -> u32 {
    let key = arrivals[place as usize].key;
    let is_last = arrivals[last as usize].key < key;
    let mut before = last;
    while !is_last && arrivals[arrivals[before as usize].next as usize].key < key {
        before = arrivals[before as usize].next;
    }
    arrivals[place as usize].next = arrivals[before as usize].next;
    arrivals[before as usize].next = place;
    if is_last { place } else { last }
}

/// Goes through the arrivals of an inbox in their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    /// The next arrival, and the last one of its slot.
    next: u32,
    last: u32,
    /// The group of that slot, and which of its slots come after it.
    group: u32,
    occupied: u64,
}

impl Cursor {
    /// Where nothing is left.
    pub(super) const END: Cursor = Cursor { next: NONE, last: NONE, group: 0, occupied: 0 };

    /// The next arrival.
    #[inline]
    pub(super) fn peek<'i, H>(&self, inbox: &'i Inbox<H>) -> Option<&'i Arrival<H>> {
        inbox.arrivals.get(self.next as usize)
    }

    /// The next arrival; goes on to the one after it.
    #[inline]
    pub(super) fn pop<'i, H>(
        &mut self,
        slots: &Slots,
        inbox: &'i Inbox<H>,
    ) -> Option<&'i Arrival<H>> {
        let arrival = self.peek(inbox)?;
        if self.next == self.last {
            self.go_to_next_slot(slots, inbox);
        } else {
            self.next = arrival.next;
        }
        Some(arrival)
    }

    #[inline]
    fn go_to_next_slot<H>(&mut self, slots: &Slots, inbox: &Inbox<H>) {
        while self.occupied == 0 {
            self.group += 1;
            let Some(group) = slots.groups.get(self.group as usize) else {
                *self = Cursor::END;
                return;
            };
            self.occupied = group.occupied;
        }
        let slot = self.occupied.trailing_zeros() as usize;
        self.occupied &= self.occupied - 1;
        self.last = slots.groups[self.group as usize].last[slot % GROUP];
        self.next = inbox.arrivals[self.last as usize].next;
    }
}

#[cfg(test)]
mod tests {
    use flowsched_schemes::packet::Flags;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packets_are_in_order_of_their_arrivals_then_of_their_links(
            span in 1u64..100_000,
            windows in prop::collection::vec(
                prop::collection::btree_set((any::<u64>(), 0u32..40), 0..400), 1..4),
        ) {
            let (mut inbox, mut slots) = (Inbox::<()>::default(), Slots::default());
            for window in windows {
                let mut arrivals: Vec<(u64, u32)> =
                    window.into_iter().map(|(ps, rank)| (ps % (span + 1), rank)).collect();
                arrivals.sort_by_key(|(ps, rank)| {
                    (ps ^ u64::from(*rank)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
                });
                arrivals.dedup();
                for (ps, rank) in &arrivals {
                    let packet = Packet::data(0, 0, *rank, 1500, Flags::default());
                    inbox.push(Time::from_ps(*ps), *rank, &packet, PortId(*rank));
                }
                arrivals.sort_unstable();
                let mut cursor = slots.fill(&mut inbox, Time::from_ps(span));
                for (ps, rank) in arrivals {
                    let next = cursor.peek(&inbox).map(Arrival::since_start);
                    prop_assert_eq!(next, Some(Time::from_ps(ps)));
                    let arrival = cursor.pop(&slots, &inbox).unwrap();
                    prop_assert_eq!((arrival.packet.seq, arrival.port), (rank, PortId(rank)));
                }
                prop_assert!(cursor.pop(&slots, &inbox).is_none());
                inbox.clear();
            }
        }
    }
}
