//! When each segment was sent, for senders that measure the round-trip time with every ACK.

use std::collections::VecDeque;

use flowsched_units::Time;

/// When one segment was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    first: Time,
    last: Time,
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
        self.sent.push_back(Sent { first: now, last: now });
    }

    /// Notes that `segment` is sent again.
    pub fn sent_again(&mut self, segment: u32, now: Time) {
        if let Some(sent) = self.sent.get_mut((segment - self.first) as usize) {
            sent.last = now;
        }
    }

    /// Drops all segments below `until`, which an ACK has acknowledged. Returns when the first of them was sent:
    /// for the last time if the ACK answers a copy, otherwise for the first time. Timestamps tell the kernel the same
    /// (RFC 7323, 4.3).
    pub fn acknowledge(&mut self, until: u32, is_of_copy: bool) -> Option<Time> {
        let count = until.saturating_sub(self.first) as usize;
        let mut acknowledged = self.sent.drain(..count.min(self.sent.len()));
        let sent = acknowledged.next();
        drop(acknowledged);
        self.first = self.first.max(until);
        sent.map(|sent| if is_of_copy { sent.last } else { sent.first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    #[test]
    fn an_ack_times_the_first_segment_that_it_acknowledges() {
        let mut times = SendTimes::default();
        (1..=4).for_each(|segment| times.sent(us(segment)));
        assert_eq!(times.acknowledge(2, false), Some(us(1)));
        assert_eq!(times.acknowledge(2, false), None, "nothing new");
        assert_eq!(times.acknowledge(3, false), Some(us(3)));
        times.sent(us(5));
        assert_eq!(times.acknowledge(5, false), Some(us(4)));
    }

    #[test]
    fn of_a_segment_that_was_sent_twice_the_copy_that_came_counts() {
        let sent_twice = || {
            let mut times = SendTimes::default();
            (1..=4).for_each(|segment| times.sent(us(segment)));
            times.acknowledge(1, false);
            times.sent_again(1, us(50));
            times
        };
        assert_eq!(sent_twice().acknowledge(2, false), Some(us(2)));
        assert_eq!(sent_twice().acknowledge(2, true), Some(us(50)));
    }
}
