//! What a sender knows about its outstanding segments: which ones are acknowledged, reported by
//! SACK, lost or sent again (RFC 6675).

use std::ops::Range;

use super::SegmentSet;

/// RFC 6675, 2: this many later segments acknowledged mean that a segment is lost.
const DUPLICATE_THRESHOLD: usize = 3;

/// The scoreboard of a flow; segments are numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    /// The first segment not acknowledged.
    unacknowledged: u32,
    /// The first segment never sent.
    next: u32,
    sacked: SegmentSet,
    /// The highest segments reported by SACK, the highest first. Only the first `known` ones count.
    highest: [u32; DUPLICATE_THRESHOLD],
    known: u32,
    /// Segments below this that are not reported are lost.
    lost_end: u32,
    /// Lost segments below this have been sent again. It does not count while it is less than
    /// `unacknowledged`.
    resend: u32,
}

impl Scoreboard {
    /// The first segment not acknowledged.
    #[inline]
    pub fn unacknowledged(&self) -> u32 {
        self.unacknowledged
    }

    /// The first segment never sent.
    #[inline]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Segments sent and not acknowledged in order, whatever became of them.
    #[inline]
    pub fn outstanding(&self) -> u32 {
        self.next - self.unacknowledged
    }

    /// Segments that SACK has reported beyond those acknowledged in order.
    #[inline]
    pub fn sacked(&self) -> u32 {
        self.sacked.count()
    }

    /// Segments known to have arrived.
    #[inline]
    pub fn delivered(&self) -> u32 {
        self.unacknowledged + self.sacked.count()
    }

    /// Segments thought to be in the network (RFC 6675, SetPipe).
    #[inline]
    pub fn in_flight(&self) -> u32 {
        let outstanding = self.outstanding() - self.sacked.count();
        let resend = self.resend.max(self.unacknowledged);
        if self.lost_end <= resend {
            return outstanding;
        }
        outstanding - self.missing_in(resend..self.lost_end)
    }

    /// Whether a segment that is not acknowledged in order is thought lost. It may have been sent
    /// again.
    #[inline]
    pub fn has_lost(&self) -> bool {
        self.unacknowledged < self.lost_end
    }

    fn missing_in(&self, range: Range<u32>) -> u32 {
        let length = range.end.saturating_sub(range.start);
        length - self.sacked.count_in(range)
    }

    /// The next lost segment that has not been sent again, if there is one (RFC 6675, NextSeg, rule
    /// 1).
    #[inline]
    pub fn lost(&mut self) -> Option<u32> {
        self.resend = self.resend.max(self.unacknowledged);
        while self.resend < self.lost_end {
            let end = self.sacked.run_end(self.resend);
            if end == self.resend {
                return Some(self.resend);
            }
            self.resend = end;
        }
        None
    }

    /// Records that the segment which [`Scoreboard::lost`] returned is sent again.
    pub fn sent_again(&mut self) {
        self.resend += 1;
    }

    /// Records that the next new segment is sent.
    #[inline]
    pub fn sent_new(&mut self) {
        self.next += 1;
    }

    /// Takes in an ACK for all segments below `segment`. Returns how many of them are newly
    /// acknowledged.
    #[inline]
    pub fn acknowledge(&mut self, segment: u32) -> u32 {
        let segment = segment.min(self.next);
        if segment <= self.unacknowledged {
            return 0;
        }
        let fresh = segment - self.unacknowledged;
        self.unacknowledged = segment;
        if self.sacked.count() > 0 {
            self.sacked.advance(segment);
        }
        fresh
    }

    /// Takes in a SACK block.
    #[inline(never)]
    pub fn report(&mut self, block: Range<u32>) {
        self.sacked.advance(self.unacknowledged);
        for segment in block.start.max(self.unacknowledged)..block.end.min(self.next) {
            if self.sacked.insert(segment) {
                self.note_highest(segment);
            }
        }
    }

    fn note_highest(&mut self, segment: u32) {
        let known = self.known as usize;
        let place =
            self.highest[..known].iter().position(|other| segment > *other).unwrap_or(known);
        if place < DUPLICATE_THRESHOLD {
            self.highest.copy_within(place..DUPLICATE_THRESHOLD - 1, place + 1);
            self.highest[place] = segment;
            self.known = (known + 1).min(DUPLICATE_THRESHOLD) as u32;
        }
    }

    /// Counts as lost every segment that three later reported ones follow (RFC 6675, IsLost).
    /// Returns whether the first unacknowledged one is among those lost.
    #[inline]
    pub fn find_losses(&mut self) -> bool {
        if (self.known as usize) < DUPLICATE_THRESHOLD {
            return false;
        }
        self.lost_end = self.lost_end.max(self.highest[DUPLICATE_THRESHOLD - 1]);
        self.has_lost()
    }

    /// After a timeout, counts as lost every outstanding segment that SACK has not reported (RFC
    /// 6675, 5.1).
    pub fn lose_all(&mut self) {
        self.lost_end = self.next;
        self.resend = self.unacknowledged;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(count: u32) -> Scoreboard {
        let mut board = Scoreboard::default();
        (0..count).for_each(|_| board.sent_new());
        board
    }

    #[test]
    fn three_later_reports_mean_a_loss() {
        let mut board = sent(10);
        board.acknowledge(2);
        board.report(3..5);
        assert!(!board.find_losses(), "only two later ones");
        assert_eq!((board.in_flight(), board.lost()), (6, None));
        board.report(6..7);
        assert!(board.find_losses());
        assert_eq!((board.in_flight(), board.lost()), (4, Some(2)), "5 has one later report");
        board.sent_again();
        assert_eq!((board.in_flight(), board.lost()), (5, None));
        board.report(7..10);
        assert!(board.find_losses());
        assert_eq!((board.in_flight(), board.lost()), (1, Some(5)));
        board.sent_again();
        assert_eq!(board.acknowledge(10), 8);
        assert_eq!((board.in_flight(), board.lost()), (0, None));
    }

    #[test]
    fn after_a_timeout_all_that_is_not_reported_is_sent_again() {
        let mut board = sent(5);
        board.report(1..3);
        board.lose_all();
        assert_eq!(board.in_flight(), 0);
        let mut again = Vec::new();
        while let Some(segment) = board.lost() {
            again.push(segment);
            board.sent_again();
        }
        assert_eq!(again, [0, 3, 4]);
        assert_eq!(board.in_flight(), 3);
    }

    #[test]
    fn reports_of_what_was_never_sent_are_ignored() {
        let mut board = sent(3);
        board.report(0..100);
        assert_eq!((board.sacked.count(), board.acknowledge(100)), (3, 3));
    }
}
