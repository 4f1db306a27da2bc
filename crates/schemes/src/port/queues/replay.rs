//! Computes again which packets of a batch had begun to leave by some time. Ports need this for few
//! arrivals.

use flowsched_units::Time;

use crate::packet::Frame;
use crate::port::{Arrivals, Backlog, Line};

/// What a batch notes for [`Begun`].
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    /// The packets that waited before the batch and have left: when their first bits left, and
    /// their bytes.
    waited: Vec<(Time, u32)>,
    /// For each dropped arrival, the number of arrivals that were to come after it.
    dropped: Vec<usize>,
}

impl Notes {
    /// Clears the notes for a new batch.
    pub(super) fn clear(&mut self) {
        self.waited.clear();
        self.dropped.clear();
    }

    /// Notes a packet that waited before the batch and whose first bit leaves at `start`.
    #[inline]
    pub(super) fn note_waited(&mut self, start: Time, bytes: u32) {
        self.waited.push((start, bytes));
    }

    /// Notes a dropped arrival, which `to_come` other arrivals follow.
    pub(super) fn note_dropped(&mut self, to_come: usize) {
        self.dropped.push(to_come);
    }

    /// How many arrivals were dropped.
    pub(super) fn dropped(&self) -> usize {
        self.dropped.len()
    }
}

/// The packets of a batch that have begun to leave, up to a time that only moves forward.
pub(super) struct Begun<A> {
    amount: Backlog,
    /// The line after these packets have left.
    line: Line,
    /// Arrivals that may not have begun to leave.
    arrivals: A,
    /// The number of notes that have been read.
    waited: usize,
    dropped: usize,
}

impl<A> Begun<A> {
    /// Nothing of a batch with these arrivals. `line` is the line after the packets that waited
    /// before the batch have left.
    #[inline]
    pub(super) fn new(line: Line, arrivals: A) -> Begun<A> {
        Begun { amount: Backlog::default(), line, arrivals, waited: 0, dropped: 0 }
    }

    /// What has begun to leave by `now`, when an arrival comes that `to_come` others follow.
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
