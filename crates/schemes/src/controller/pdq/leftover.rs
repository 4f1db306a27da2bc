//! The rates of flows that a switch has no memory for (PDQ 2012, 3.3.1).
//!
//! "We run an RCP rate controller - which does not require per-flow state - alongside PDQ. We
//! inform RCP that its maximum link capacity is the amount of capacity not used by PDQ, and we
//! use RCP only for the less critical flows (outside the M most critical) that are not paused by
//! any other switches."

use flowsched_units::{Rate, Time};

/// RCP's gains on spare capacity and on the queue, from its authors' ns-2 code.
const ALPHA: f64 = 0.1;
const BETA: f64 = 1.0;

/// The least share of the capacity that a flow is given, because it must send to be given more.
const LEAST: f64 = 0.001;

/// RCP's rate controller for a capacity that changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Leftover {
    /// The rate of every flow, bits per second.
    rate: f64,
    /// Bytes that came since the last update.
    came: u64,
    updated: Time,
}

impl Leftover {
    /// Returns the rate of every flow of the rest, when a packet of `bytes` of one of them comes.
    ///
    /// Dukkipati and McKeown 2006: every round-trip time d,
    /// R = R (1 + (alpha (C - y) - beta q / d) / C).
    pub fn share(&mut self, now: Time, capacity: Rate, bytes: u64, queue: u64, rtt: Time) -> Rate {
        let full = capacity.as_bps() as f64;
        if full == 0.0 {
            *self = Leftover { updated: now, ..Leftover::default() };
            return capacity;
        }
        let elapsed = now.saturating_sub(self.updated);
        if self.rate == 0.0 {
            *self = Leftover { rate: full, came: 0, updated: now };
        } else if rtt > Time::ZERO && elapsed >= rtt {
            let bits = |bytes: u64, time: Time| 8.0 * bytes as f64 / time.as_secs_f64();
            let spare = ALPHA * (full - bits(self.came, elapsed)) - BETA * bits(queue, rtt);
            self.rate = (self.rate * (1.0 + spare / full)).clamp(LEAST * full, full);
            self.came = 0;
            self.updated = now;
        }
        self.came += bytes;
        Rate::from_bps(self.rate.min(full) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_share_what_is_left_and_nothing_where_nothing_is() {
        let mut rest = Leftover::default();
        let (rtt, left) = (Time::from_us(200), Rate::from_gbps(1));
        assert_eq!(rest.share(Time::ZERO, Rate::from_bps(0), 1500, 0, rtt), Rate::from_bps(0));
        assert_eq!(rest.share(Time::ZERO, left, 1500, 0, rtt), left, "alone");
        // Four flows send at the rate that they are told, over a queue that cannot be shorter than
        // 0.
        let (mut queue, mut share) = (0.0, left);
        for round in 1..400_u64 {
            let came = 4.0 * share.as_bps() as f64 / 8.0 * rtt.as_secs_f64();
            let sent = 1e9 / 8.0 * rtt.as_secs_f64();
            queue = f64::max(0.0, queue + came - sent);
            share = rest.share(rtt * round, left, came as u64, queue as u64, rtt);
        }
        let fair = share.as_bps() as f64 / 250e6;
        assert!((0.9..1.1).contains(&fair), "{share}");
        assert!(queue < 2_500.0, "{queue}");
    }
}
