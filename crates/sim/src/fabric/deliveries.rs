//! The packets that reach hosts in a window, in order.
//!
//! Packets stay in the memory where they arrived until hosts have handled them. Only their keys are sorted.

use std::ops::ControlFlow;

use flowsched_units::Time;

use super::arrival::Arrival;
use super::arrivals::Inbox;
use super::order::Order;

/// The arrivals of the present window. Hosts have handled the first ones.
#[derive(Debug)]
pub(super) struct Deliveries<H> {
    arrivals: Vec<Arrival<H>>,
    order: Order,
    /// The number of arrivals, and of those that hosts have handled.
    count: usize,
    handled: usize,
}

impl<H> Default for Deliveries<H> {
    fn default() -> Deliveries<H> {
        Deliveries { arrivals: Vec::new(), order: Order::default(), count: 0, handled: 0 }
    }
}

impl<H: Copy> Deliveries<H> {
    /// Takes the packets from `start` to `end`, exclusive, out of the inbox of all hosts. Returns when the last
    /// one arrives, if there is one.
    pub(super) fn gather(&mut self, inbox: &mut Inbox<H>, start: Time, end: Time) -> Option<Time> {
        self.count = inbox.take_out(&mut self.order, &mut self.arrivals, start, end);
        self.handled = 0;
        self.rest().next_back().map(|last| last.at)
    }

    /// Hands each delivery, with the one after it, to `handle`. Goes on while `handle` says to continue and
    /// the next delivery is not later than the time that it returned. Returns when the last of them arrived.
    #[inline(always)]
    pub(super) fn hand_over(
        &mut self,
        mut handle: impl FnMut(&Arrival<H>, Option<&Arrival<H>>) -> ControlFlow<(), Time>,
    ) -> Option<Time> {
        let mut rest = self.rest();
        let (mut last, mut next) = (None, rest.next());
        while let Some(arrival) = next {
            next = rest.next();
            last = Some(arrival.at);
            match handle(arrival, next) {
                ControlFlow::Continue(until) if next.is_some_and(|next| next.at <= until) => {}
                _ => break,
            }
        }
        let left = rest.len() + usize::from(next.is_some());
        drop(rest);
        self.handled = self.count - left;
        last
    }

    /// The packets that hosts have not handled, in order.
    #[inline]
    pub(super) fn rest(&self) -> impl DoubleEndedIterator<Item = &Arrival<H>> + ExactSizeIterator {
        let keys = &self.order.keys()[self.handled..self.count];
        keys.iter().map(|key| &self.arrivals[key.index()])
    }
}
