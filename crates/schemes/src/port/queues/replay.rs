//! Which packets of a batch had begun to leave by some time: worked out again, for the few arrivals
//! of which it is asked.

use flowsched_units::Time;

use crate::packet::Frame;
use crate::port::{Arrivals, Backlog, Line};

/// What a batch leaves behind for [`Begun`].
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    /// Packets that waited before the batch, and have left: when their first bits did, and their
    /// bytes.
    waited: Vec<(Time, u32)>,
    /// Arrivals that were dropped: how many arrivals were to come after each of them.
    dropped: Vec<usize>,
}

impl Notes {
    /// A batch begins.
    pub(super) fn clear(&mut self) {
        self.waited.clear();
        self.dropped.clear();
    }

    /// A packet that waited before the batch leaves: its first bit at `start`.
    #[inline]
    pub(super) fn note_waited(&mut self, start: Time, bytes: u32) {
        self.waited.push((start, bytes));
    }

    /// An arrival is dropped, after which so many are to come.
    pub(super) fn note_dropped(&mut self, to_come: usize) {
        self.dropped.push(to_come);
    }

    /// How many arrivals were dropped.
    pub(super) fn dropped(&self) -> usize {
        self.dropped.len()
    }
}

/// What of a batch has begun to leave, up to a time that moves on.
pub(super) struct Begun<A> {
    amount: Backlog,
    /// As it is when these packets have left.
    line: Line,
    /// Arrivals that may not have begun to leave.
    arrivals: A,
    /// How many notes have been seen.
    waited: usize,
    dropped: usize,
}

impl<A> Begun<A> {
    /// Nothing of a batch with these arrivals; `line` is as it is when what waited has left.
    #[inline]
    pub(super) fn new(line: Line, arrivals: A) -> Begun<A> {
        Begun { amount: Backlog::default(), line, arrivals, waited: 0, dropped: 0 }
    }

    /// What has begun to leave by `now`, when one comes after which so many are to come.
    pub(super) fn by<'f, F>(&mut self, now: Time, to_come: usize, notes: &Notes) -> Backlog
    where
        F: Frame + 'f,
        A: Arrivals<'f, F>,
    {
        while let Some((start, bytes)) = notes.waited.get(self.waited) {
            if *start > now {
                return self.amount;
            }
            self.waited += 1;
            self.add(*bytes);
        }
        while self.arrivals.len() > to_come + 1 {
            let mut rest = self.arrivals.clone();
            let Some((at, frame)) = rest.next() else { break };
            if notes.dropped.get(self.dropped) == Some(&rest.len()) {
                self.dropped += 1;
            } else {
                let start = self.line.free_at().max(at);
                if start > now {
                    break;
                }
                self.line.send(frame.wire_bytes(), start);
                self.add(frame.wire_bytes());
            }
            self.arrivals = rest;
        }
        self.amount
    }

    fn add(&mut self, bytes: u32) {
        self.amount.bytes += u64::from(bytes);
        self.amount.packets += 1;
    }
}
