//! Packets that arrive later than in the next window, by time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::{iter, mem};

use flowsched_schemes::Packet;
use flowsched_topology::PortId;
use flowsched_units::Time;

use super::arrival::Arrival;

/// The length of a day is two to the power of this, in picoseconds: 4.2 us, about half the shortest window.
const DAY_BITS: u32 = 22;

/// The number of days, from the present one on, that have a page of their own.
const PAGES: u64 = 64;

/// Arrivals by time: one page for each of the next days, and one heap for all later days.
#[derive(Clone, Debug)]
pub(super) struct Calendar<H> {
    /// A ring of pages, one per day; empty until the first packet comes.
    pages: Vec<Vec<Arrival<H>>>,
    /// Empty pages whose memory is used again, the last used one first, since it is in the cache.
    spare: Vec<Vec<Arrival<H>>>,
    /// The present day.
    today: u64,
    later: BinaryHeap<Late<H>>,
    /// When the first packet arrives: [`Time::MAX`] if there is none.
    first: Time,
    count: usize,
}

/// An arrival that comes before another one if it is earlier.
#[derive(Clone, Copy, Debug)]
struct Late<H>(Arrival<H>);

impl<H> PartialEq for Late<H> {
    fn eq(&self, other: &Late<H>) -> bool {
        self.0.at == other.0.at
    }
}

impl<H> Eq for Late<H> {}

impl<H> PartialOrd for Late<H> {
    fn partial_cmp(&self, other: &Late<H>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<H> Ord for Late<H> {
    fn cmp(&self, other: &Late<H>) -> Ordering {
        other.0.at.cmp(&self.0.at)
    }
}

impl<H> Default for Calendar<H> {
    fn default() -> Calendar<H> {
        let (pages, spare, later) = (Vec::new(), Vec::new(), BinaryHeap::new());
        Calendar { pages, spare, today: 0, later, first: Time::MAX, count: 0 }
    }
}

impl<H: Copy> Calendar<H> {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// When the first packet arrives: [`Time::MAX`] if there is none.
    #[inline]
    pub(super) fn first(&self) -> Time {
        self.first
    }

    /// All arrivals, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arrival<H>> {
        self.pages.iter().flatten().chain(self.later.iter().map(|late| &late.0))
    }

    /// Adds a packet that comes at `at` through the link behind `from`.
    #[inline]
    pub(super) fn put(&mut self, at: Time, from: PortId, packet: &Packet<H>) {
        let day = day_of(at);
        // No page is there before the first arrival.
        if day.wrapping_sub(self.today) >= self.pages.len() as u64 {
            return self.put_farther(Arrival { at, from, packet: *packet });
        }
        self.first = self.first.min(at);
        self.count += 1;
        let page = &mut self.pages[(day % PAGES) as usize];
        if page.capacity() == 0 {
            *page = self.spare.pop().unwrap_or_default();
        }
        page.extend(iter::once_with(|| Arrival { at, from, packet: *packet }));
    }

    /// Adds a packet where there are no pages yet, or none for its day.
    #[cold]
    #[inline(never)]
    fn put_farther(&mut self, arrival: Arrival<H>) {
        if self.pages.is_empty() {
            self.pages.resize_with(PAGES as usize, Vec::new);
            return self.put(arrival.at, arrival.from, &arrival.packet);
        }
        self.first = self.first.min(arrival.at);
        self.count += 1;
        self.later.push(Late(arrival));
    }

    /// Moves the arrivals before `end` to the end of `due`, in no order.
    pub(super) fn take(&mut self, end: Time, due: &mut Vec<Arrival<H>>) {
        let before = due.len();
        while self.later.peek().is_some_and(|late| late.0.at < end)
            && let Some(Late(arrival)) = self.later.pop()
        {
            due.push(arrival);
        }
        let last = day_of(end);
        for day in self.today..last.min(self.today + self.pages.len() as u64) {
            let page = &mut self.pages[(day % PAGES) as usize];
            if !page.is_empty() {
                due.append(page);
                self.spare.push(mem::take(page));
            }
        }
        self.today = last;
        if let Some(page) = self.pages.get_mut((last % PAGES) as usize) {
            due.extend(page.extract_if(.., |arrival| arrival.at < end));
        }
        self.count -= due.len() - before;
        self.first = self.find_first();
    }

    fn find_first(&self) -> Time {
        let later = self.later.peek().map_or(Time::MAX, |late| late.0.at);
        if self.count == self.later.len() {
            return later;
        }
        let days = self.today..self.today + self.pages.len() as u64;
        let mut pages = days.map(|day| &self.pages[(day % PAGES) as usize]);
        let first = pages.find_map(|page| page.iter().map(|arrival| arrival.at).min());
        first.unwrap_or(Time::MAX).min(later)
    }
}

fn day_of(time: Time) -> u64 {
    time.as_ps() >> DAY_BITS
}

#[cfg(test)]
mod tests {
    use flowsched_schemes::Packet;
    use flowsched_topology::PortId;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn arrivals_come_out_in_the_window_that_they_are_in(
            windows in prop::collection::vec(
                (prop::sample::select(vec![1u64, 1 << 20, 1 << 23, 1 << 30]), 0u64..1000,
                 prop::collection::vec((0u32..40, 0u64..1 << 20), 0..8)),
                1..60,
            ),
        ) {
            let mut calendar = Calendar::<()>::default();
            let (mut expected, mut end) = (Vec::new(), 0);
            for (scale, steps, drawn) in windows {
                for (bits, offset) in drawn {
                    let at = end + (1u64 << bits) + offset;
                    let (at, from) = (Time::from_ps(at), PortId(0));
                    calendar.put(at, from, &Packet::default());
                    expected.push(at);
                }
                end += scale * steps;
                let (mut due, limit) = (Vec::new(), Time::from_ps(end));
                calendar.take(limit, &mut due);
                let mut due: Vec<Time> = due.iter().map(|arrival| arrival.at).collect();
                due.sort_unstable();
                expected.sort_unstable();
                let later = expected.split_off(expected.partition_point(|at| *at < limit));
                prop_assert_eq!(due, expected);
                prop_assert_eq!(calendar.first(), later.first().copied().unwrap_or(Time::MAX));
                prop_assert_eq!(calendar.is_empty(), later.is_empty());
                prop_assert_eq!(calendar.iter().count(), later.len());
                expected = later;
            }
        }
    }
}
