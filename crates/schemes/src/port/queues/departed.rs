//! What of a batch has departed, and what of it had not yet done so at some time.

use flowsched_units::Time;

use crate::port::Backlog;

/// A packet that has left: when its first bit did, and the bytes that had left by then, its own
/// included, since the batch began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departed {
    start: Time,
    bytes: u64,
}

/// What of a batch waits at the time of each arrival.
pub(super) struct Waiting<'d> {
    departed: &'d mut Vec<Departed>,
    bytes: u64,
    /// How many of those that departed had done so by the last arrival.
    begun: usize,
}

impl<'d> Waiting<'d> {
    /// Nothing has departed yet.
    pub(super) fn new(departed: &'d mut Vec<Departed>) -> Waiting<'d> {
        Waiting { departed, bytes: 0, begun: 0 }
    }

    /// Notes that a packet's first bit leaves at `start`.
    #[inline]
    pub(super) fn note(&mut self, start: Time, bytes: u32) {
        self.bytes += u64::from(bytes);
        self.departed.push(Departed { start, bytes: self.bytes });
    }

    /// What had not begun to leave by `now`, beside what waits in the queue.
    pub(super) fn at(&mut self, now: Time) -> Backlog {
        while self.departed.get(self.begun).is_some_and(|one| one.start <= now) {
            self.begun += 1;
        }
        let before = self.begun.checked_sub(1).map_or(0, |last| self.departed[last].bytes);
        let packets = (self.departed.len() - self.begun) as u32;
        Backlog { bytes: self.bytes - before, packets }
    }
}
