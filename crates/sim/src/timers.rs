//! Timers that are set far more often than they run out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use flowsched_units::Time;

/// The owner of a timer: one side of a flow, or a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Sender,
    Receiver,
    Host,
}

/// The timers of all owners, earliest first.
///
/// A timer that moves to a later time keeps its entry. When the entry's time comes, the owner arms
/// the timer again. The owner keeps the time of its earliest entry in an [`Armed`].
#[derive(Debug)]
pub(crate) struct Timers<O> {
    heap: BinaryHeap<Reverse<(Time, O)>>,
    /// The time of the first entry: [`Time::MAX`] if there is none.
    first: Time,
}

impl<O: Ord> Default for Timers<O> {
    fn default() -> Timers<O> {
        Timers { heap: BinaryHeap::new(), first: Time::MAX }
    }
}

/// When the earliest entry of one owner is due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Armed(Time);

impl Default for Armed {
    fn default() -> Armed {
        Armed(Time::MAX)
    }
}

impl<O: Ord> Timers<O> {
    /// The time of the first entry.
    #[inline]
    pub(crate) fn first(&self) -> Time {
        self.first
    }

    /// Removes the first entry. Returns its time and its owner.
    pub(crate) fn pop(&mut self) -> Option<(Time, O)> {
        let entry = self.heap.pop().map(|Reverse(entry)| entry);
        self.first = self.heap.peek().map_or(Time::MAX, |Reverse((time, _))| *time);
        entry
    }

    /// Removes all entries except those whose owners `is_kept` accepts.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&O) -> bool) {
        self.heap.retain(|Reverse((_, owner))| is_kept(owner));
        self.first = self.heap.peek().map_or(Time::MAX, |Reverse((time, _))| *time);
    }

    /// Sets the owner's timer to `deadline`. Adds an entry unless the owner has one that is not
    /// later.
    #[inline]
    pub(crate) fn arm(&mut self, armed: &mut Armed, deadline: Time, owner: O) {
        if deadline < armed.0 {
            armed.0 = deadline;
            self.add(deadline, owner);
        }
    }

    #[inline(never)]
    fn add(&mut self, deadline: Time, owner: O) {
        self.first = self.first.min(deadline);
        self.heap.push(Reverse((deadline, owner)));
    }
}

impl Armed {
    /// Notes that the entry of this time was removed. Returns whether it was the owner's earliest.
    pub(crate) fn disarm(&mut self, time: Time) -> bool {
        let is_earliest = self.0 == time;
        if is_earliest {
            self.0 = Time::MAX;
        }
        is_earliest
    }
}
