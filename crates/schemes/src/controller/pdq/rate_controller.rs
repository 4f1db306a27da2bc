//! The rate controller: how much all PDQ flows of a link may send together (PDQ 2012, 3.3.3).
//!
//! "The rate controller updates C to max{0, r_PDQ - q / (2 x RTT)}, where q is the instantaneous
//! queue size", "every 2 RTTs because of the feedback-loop delay". r_PDQ is the link's rate, or a
//! share of it (`link_share`) that leaves the rest to other traffic. C is updated only when packets
//! come, because no flow is told a rate in between.

use flowsched_units::{Rate, Time};

/// C, and when it is next updated.
#[derive(Clone, Copy, Debug)]
pub struct RateController {
    /// r_PDQ.
    full: Rate,
    rate: Rate,
    due: Time,
}

impl RateController {
    /// A rate controller with this r_PDQ.
    pub fn new(full: Rate) -> RateController {
        RateController { full, rate: full, due: Time::ZERO }
    }

    /// C.
    #[inline]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Whether two round-trip times have passed since the last update.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        now >= self.due
    }

    /// Updates C while `queue` bytes wait; `rtt` is the flows' mean round-trip time.
    pub fn update(&mut self, now: Time, queue: u64, rtt: Time) {
        // Whole bits and picoseconds give the same result on every machine.
        let drain =
            u128::from(queue) * 8 * 1_000_000_000_000 / u128::from((rtt * 2).as_ps().max(1));
        let drain = u64::try_from(drain).unwrap_or(u64::MAX);
        self.rate = Rate::from_bps(self.full.as_bps().saturating_sub(drain));
        self.due = now.saturating_add(rtt * 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "C = max{0, r_PDQ - q / (2 x RTT)}".
    #[test]
    fn the_queue_is_drained_in_two_round_trips() {
        let mut controller = RateController::new(Rate::from_gbps(1));
        assert_eq!(controller.rate(), Rate::from_gbps(1));
        assert!(controller.is_due(Time::ZERO));
        let rtt = Time::from_us(200);
        // 25,000 bytes in 400 us are 500 Mbps.
        controller.update(Time::from_us(10), 25_000, rtt);
        assert_eq!(controller.rate(), Rate::from_bps(500_000_000));
        assert!(!controller.is_due(Time::from_us(409)));
        assert!(controller.is_due(Time::from_us(410)));
        controller.update(Time::from_us(410), 1_000_000, rtt);
        assert_eq!(controller.rate(), Rate::from_bps(0));
        controller.update(Time::from_us(810), 0, rtt);
        assert_eq!(controller.rate(), Rate::from_gbps(1));
    }
}
