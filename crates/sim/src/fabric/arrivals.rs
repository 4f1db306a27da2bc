//! Packets that are about to reach a port or a host.

use std::{iter, mem};

use flowsched_schemes::Packet;
use flowsched_topology::PortId;
use flowsched_units::Time;

use super::arrival::Arrival;
use super::calendar::Calendar;
use super::order::{Key, Order};

/// The packets on their way to one port, or to all hosts.
#[derive(Clone, Debug)]
pub(super) struct Inbox<H> {
    near: Vec<Arrival<H>>,
    /// Packets that arrive so late that the next windows need not look at them.
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
        // `push` would make the arrival elsewhere and copy it; this makes it in its place.
        self.near.extend(iter::once_with(|| Arrival { at, from, packet: *packet }));
    }

    /// Adds a packet that comes after the present window.
    #[inline]
    pub(super) fn push_later(&mut self, at: Time, from: PortId, packet: &Packet<H>) {
        self.far.put(at, from, packet);
    }

    /// Moves the near packets to the end of `arrivals`.
    pub(super) fn hand_over(&mut self, arrivals: &mut Vec<Arrival<H>>) {
        arrivals.append(&mut self.near);
    }

    /// Adds packets that another inbox handed over.
    pub(super) fn take_in(&mut self, arrivals: &mut Vec<Arrival<H>>) {
        self.near.append(arrivals);
    }

    /// Whether no near packet is here.
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

    /// Removes the arrivals before `end` and hands them to `taken` with their keys in order. None may be
    /// before `start`. Returns when the first of the others arrives.
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

    /// Moves the arrivals before `end` to `taken`, whose contents it replaces. None may be before `start`.
    /// Returns how many these are: the first keys of `order` list them in order. Arrivals in `taken` without
    /// such a key have stayed here.
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
        taken.extend(order.keys()[due..near.len()].iter().map(|key| near[key.index()]));
        mem::swap(near, taken);
        if !near.is_empty() {
            self.put_off(end.saturating_add(end.saturating_sub(start)));
        }
        due
    }

    /// Moves what arrives at `from` or later to the far packets.
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
