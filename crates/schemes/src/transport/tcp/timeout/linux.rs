//! How much Linux adds to the round-trip time for its variation (`tcp_rtt_estimator` in tcp_input.c).
//!
//! It differs from RFC 6298 in three ways. The allowance is never less than the shortest timeout. It takes the largest
//! deviation of a round trip at once, but gives up only a quarter of what is too much with each round trip. And
//! a measurement far below the others hardly increases the deviation.

use flowsched_units::Time;

/// Where a sender is in its flow when it measures a round-trip time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The first segment not acknowledged.
    pub unacknowledged: u32,
    /// The next segment never sent.
    pub next: u32,
}

/// The allowance for variation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The mean deviation (a quarter of `mdev_us`).
    deviation: Time,
    /// Four times the largest deviation of this round trip (`mdev_max_us`).
    largest: Time,
    /// The allowance (`rttvar_us`).
    allowance: Time,
    /// The segment whose acknowledgement ends this round trip, once it is acknowledged (`rtt_seq`).
    end: u32,
}

impl Allowance {
    /// The allowance after the first measurement, `rtt`. `least` is the shortest timeout.
    pub fn first(rtt: Time, least: Time, at: Position) -> Allowance {
        let allowance = (rtt * 2).max(least);
        Allowance { deviation: rtt / 2, largest: allowance, allowance, end: at.next }
    }

    /// Takes in the measurement `rtt`, where the smoothed round-trip time was `smoothed`.
    pub fn measure(&mut self, rtt: Time, smoothed: Time, least: Time, at: Position) {
        let error = rtt.saturating_sub(smoothed) + smoothed.saturating_sub(rtt);
        self.deviation = if rtt < smoothed && error > self.deviation {
            self.deviation + (error - self.deviation) / 32
        } else {
            (self.deviation * 3 + error) / 4
        };
        self.largest = self.largest.max(self.deviation * 4);
        self.allowance = self.allowance.max(self.largest);
        if at.unacknowledged > self.end {
            self.allowance = self.allowance - (self.allowance - self.largest) / 4;
            self.end = at.next;
            self.largest = least;
        }
    }

    /// Begins a flow, whose segments count from 0 again.
    pub fn start_flow(&mut self) {
        self.end = 0;
    }

    /// The allowance now.
    pub fn get(&self) -> Time {
        self.allowance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Time = Time::from_ms(10);

    fn at(unacknowledged: u32, next: u32) -> Position {
        Position { unacknowledged, next }
    }

    fn after(first_ms: u64) -> Allowance {
        Allowance::first(Time::from_ms(first_ms), LEAST, at(0, 10))
    }

    #[test]
    fn it_is_never_less_than_the_shortest_timeout() {
        let mut allowance = after(1);
        assert_eq!(allowance.get(), LEAST);
        assert_eq!(after(8).get(), Time::from_ms(16));
        for segment in 1..100 {
            allowance.measure(Time::from_ms(1), Time::from_ms(1), LEAST, at(segment, segment + 10));
            assert_eq!(allowance.get(), LEAST);
        }
    }

    #[test]
    fn it_grows_at_once_and_falls_by_a_quarter_of_the_excess_per_round_trip() {
        let mut allowance = after(1);
        // The deviation is 1/4 of 40 ms and 3/4 of 0.5 ms.
        allowance.measure(Time::from_ms(41), Time::from_ms(1), LEAST, at(1, 20));
        let high = Time::from_us(4 * (10_000 + 375));
        assert_eq!(allowance.get(), high);
        // In the same round trip it stays, however little the others deviate.
        for segment in 2..=10 {
            allowance.measure(Time::from_ms(1), Time::from_ms(1), LEAST, at(segment, 20));
            assert_eq!(allowance.get(), high);
        }
        // The first one beyond segment 10 ends the round trip, in which the largest deviation was this one.
        allowance.measure(Time::from_ms(1), Time::from_ms(1), LEAST, at(11, 21));
        assert_eq!(allowance.get(), high);
        // The next round trip ends beyond segment 21. By then the deviation has shrunk below the minimum.
        for segment in 12..=21 {
            allowance.measure(Time::from_ms(1), Time::from_ms(1), LEAST, at(segment, 31));
        }
        assert_eq!(allowance.get(), high);
        allowance.measure(Time::from_ms(1), Time::from_ms(1), LEAST, at(22, 32));
        assert_eq!(allowance.get(), high - (high - LEAST) / 4);
    }

    #[test]
    fn a_short_round_trip_hardly_counts() {
        let (mut shorter, mut longer) = (after(40), after(40));
        shorter.measure(Time::from_ms(10), Time::from_ms(60), LEAST, at(1, 20));
        longer.measure(Time::from_ms(110), Time::from_ms(60), LEAST, at(1, 20));
        // The error is 50 ms and the deviation 20 ms.
        assert_eq!(shorter.deviation, Time::from_ns(20_000_000 + 30_000_000 / 32));
        assert_eq!(longer.deviation, Time::from_us(27_500));
    }
}
