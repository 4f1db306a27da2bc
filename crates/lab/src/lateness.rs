//! Measures how late the lab's threads were. They pace packets in user space, on a machine that also does
//! other work.

use flowsched_units::Time;

/// Buckets of [`Lateness`]: of 1 us each, and one for all that is later.
const BUCKETS: usize = 10_000;

/// How late the switch read packets or handed them over, or how late hosts handled packets and timers.
#[derive(Clone, Debug)]
pub struct Lateness {
    /// How many were late by each number of microseconds, rounded down.
    counts: Vec<u64>,
    most: Time,
    count: u64,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { counts: vec![0; BUCKETS + 1], most: Time::ZERO, count: 0 }
    }
}

impl Lateness {
    /// Counts a packet or a timer that was due at `due`, and for which the lab acted at `now`.
    pub fn note(&mut self, due: Time, now: Time) {
        let late = now.saturating_sub(due);
        let bucket = (late.as_ps() / Time::from_us(1).as_ps()).min(BUCKETS as u64);
        self.counts[bucket as usize] += 1;
        self.most = self.most.max(late);
        self.count += 1;
    }

    /// The share that was later than `limit`, to a microsecond.
    pub fn share_beyond(&self, limit: Time) -> f64 {
        let first = (limit.as_ps() / Time::from_us(1).as_ps()).min(BUCKETS as u64) as usize;
        let beyond: u64 = self.counts[first..].iter().sum();
        beyond as f64 / self.count.max(1) as f64
    }

    /// The lateness that this share did not exceed, to a microsecond.
    pub fn quantile(&self, share: f64) -> Time {
        let wanted = (share * self.count as f64).ceil() as u64;
        let mut seen = 0;
        for (us, count) in (1..).zip(&self.counts) {
            seen += count;
            if seen >= wanted {
                return Time::from_us(us).min(self.most);
            }
        }
        self.most
    }

    /// The largest lateness.
    pub fn most(&self) -> Time {
        self.most
    }

    /// The number of packets and timers.
    pub fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_quantiles_are_those_of_the_packets() {
        let mut lateness = Lateness::default();
        for us in 0..100 {
            lateness.note(Time::from_us(7), Time::from_us(7 + us));
        }
        assert_eq!(lateness.quantile(0.5), Time::from_us(50));
        assert_eq!(lateness.quantile(1.0), Time::from_us(99));
        assert_eq!(lateness.share_beyond(Time::from_us(90)), 0.1);
        lateness.note(Time::ZERO, Time::from_ms(500));
        assert_eq!((lateness.most(), lateness.count()), (Time::from_ms(500), 101));
        assert!(lateness.share_beyond(Time::from_ms(400)) > 0.0);
        lateness.note(Time::from_us(9), Time::from_us(8));
        assert_eq!(lateness.count(), 102, "early is not late");
    }
}
