//! When each segment was sent, for senders that measure the round-trip time with every ACK.

use std::collections::VecDeque;
use std::ops::Range;

use flowsched_units::Time;

/// What is known of one segment.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Time,
    /// Whether SACK has reported it.
    is_reported: bool,
    /// Whether it was sent again: nobody can tell which copy is answered (Karn's algorithm; RFC 6298, 3).
    is_repeated: bool,
}

/// The times of all segments that are sent and not acknowledged.
#[derive(Clone, Debug, Default)]
pub struct SendTimes {
    /// The number of the first of them.
    first: u32,
    sent: VecDeque<Sent>,
}

impl SendTimes {
    /// Notes that the next new segment is sent.
    pub fn sent(&mut self, now: Time) {
        self.sent.push_back(Sent { at: now, is_reported: false, is_repeated: false });
    }

    /// Notes that `segment` is sent again.
    pub fn sent_again(&mut self, segment: u32) {
        if let Some(sent) = self.sent.get_mut((segment - self.first) as usize) {
            sent.is_repeated = true;
        }
    }

    /// Takes in an ACK for all segments below `until` that also reports those of `block`. Returns the send time of the
    /// segment whose round trip the ACK measures, as in Linux without timestamps (`tcp_ack_update_rtt` in
    /// tcp_input.c). This is the first segment that the ACK acknowledges and that SACK has not reported, unless a
    /// segment that it acknowledges was sent again. Otherwise it is the first segment that SACK reports for the first
    /// time and that was not sent again.
    pub fn answered(&mut self, until: u32, block: Range<u32>) -> Option<Time> {
        let reported = self.reported(block);
        self.acknowledged(until).or(reported)
    }

    fn reported(&mut self, block: Range<u32>) -> Option<Time> {
        let place = |segment: u32| segment.saturating_sub(self.first) as usize;
        let end = place(block.end).min(self.sent.len());
        let begin = place(block.start).min(end);
        let mut measured = None;
        for sent in self.sent.range_mut(begin..end) {
            if !std::mem::replace(&mut sent.is_reported, true) && !sent.is_repeated {
                measured = measured.or(Some(sent.at));
            }
        }
        measured
    }

    /// Drops all segments below `until`.
    fn acknowledged(&mut self, until: u32) -> Option<Time> {
        let count = until.saturating_sub(self.first) as usize;
        self.first = self.first.max(until);
        let (mut measured, mut is_ambiguous) = (None, false);
        for sent in self.sent.drain(..count.min(self.sent.len())) {
            is_ambiguous |= sent.is_repeated;
            if !sent.is_reported {
                measured = measured.or(Some(sent.at));
            }
        }
        measured.filter(|_| !is_ambiguous)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    /// Segments 0 to `count` - 1, sent at 1 us, 2 us and so on.
    fn sent(count: u64) -> SendTimes {
        let mut times = SendTimes::default();
        (1..=count).for_each(|segment| times.sent(us(segment)));
        times
    }

    #[test]
    fn an_ack_times_the_first_segment_that_it_acknowledges() {
        let mut times = sent(4);
        assert_eq!(times.answered(2, 0..0), Some(us(1)));
        assert_eq!(times.answered(2, 0..0), None, "nothing new");
        assert_eq!(times.answered(3, 0..0), Some(us(3)));
        times.sent(us(5));
        assert_eq!(times.answered(5, 0..0), Some(us(4)));
    }

    #[test]
    fn an_ack_of_a_segment_that_was_sent_again_measures_nothing() {
        let mut times = sent(4);
        times.sent_again(1);
        assert_eq!(times.answered(1, 0..0), Some(us(1)));
        assert_eq!(times.answered(3, 0..0), None, "segment 1 is among them");
        assert_eq!(times.answered(4, 0..0), Some(us(4)));
    }

    #[test]
    fn reports_measure_once_and_unless_the_segment_was_sent_again() {
        let mut times = sent(6);
        times.sent_again(3);
        assert_eq!(times.answered(0, 2..4), Some(us(3)));
        assert_eq!(times.answered(0, 2..4), None, "known");
        assert_eq!(times.answered(0, 2..5), Some(us(5)));
        assert_eq!(times.answered(1, 2..6), Some(us(1)), "what is acknowledged comes first");
        assert_eq!(times.answered(3, 0..0), Some(us(2)), "segment 2 was reported");
        assert_eq!(times.answered(6, 0..0), None, "3 was sent again");
    }

    #[test]
    fn reports_of_what_was_never_sent_are_ignored() {
        assert_eq!(sent(2).answered(0, 5..9), None);
        assert_eq!(sent(2).answered(9, 1..9), Some(us(1)));
    }
}
