//! Measures how late the switch was. It paces packets in user space, on a machine that also does
//! other work.

use flowsched_units::Time;

/// Buckets of [`Lateness`]: of 1 us each, and one for all that is later.
const BUCKETS: usize = 10_000;

/// How late packets were handed over.
#[derive(Clone, Debug)]
pub struct Lateness {
    /// The number of packets by lateness in microseconds, rounded down.
    counts: Vec<u64>,
    most: Time,
    packets: u64,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { counts: vec![0; BUCKETS + 1], most: Time::ZERO, packets: 0 }
    }
}

impl Lateness {
    /// Counts a packet that was due at `due` and was handed over at `now`.
    pub fn note(&mut self, due: Time, now: Time) {
        let late = now.saturating_sub(due);
        let bucket = (late.as_ps() / Time::from_us(1).as_ps()).min(BUCKETS as u64);
        self.counts[bucket as usize] += 1;
        self.most = self.most.max(late);
        self.packets += 1;
    }

    /// The share of packets that were later than `limit`, to a microsecond.
    pub fn share_beyond(&self, limit: Time) -> f64 {
        let first = (limit.as_ps() / Time::from_us(1).as_ps()).min(BUCKETS as u64) as usize;
        let beyond: u64 = self.counts[first..].iter().sum();
        beyond as f64 / self.packets.max(1) as f64
    }

    /// The lateness that this share of the packets did not exceed, to a microsecond.
    pub fn quantile(&self, share: f64) -> Time {
        let wanted = (share * self.packets as f64).ceil() as u64;
        let mut seen = 0;
        for (us, count) in (1..).zip(&self.counts) {
            seen += count;
            if seen >= wanted {
                return Time::from_us(us).min(self.most);
            }
        }
        self.most
    }

    /// The lateness of the latest packet.
    pub fn most(&self) -> Time {
        self.most
    }

    /// The number of packets that were handed over.
    pub fn packets(&self) -> u64 {
        self.packets
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
        assert_eq!((lateness.most(), lateness.packets()), (Time::from_ms(500), 101));
        assert!(lateness.share_beyond(Time::from_ms(400)) > 0.0);
        lateness.note(Time::from_us(9), Time::from_us(8));
        assert_eq!(lateness.packets(), 102, "early is not late");
    }
}
