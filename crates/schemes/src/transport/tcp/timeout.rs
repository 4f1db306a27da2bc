//! The retransmission timeout (RFC 6298), and Linux's.

use flowsched_units::Time;

use super::settings::{Rto, TcpSettings};

mod linux;

use linux::Allowance;
pub use linux::Position;

/// RFC 6298, 2.1: the timeout before there is a measurement.
const INITIAL: Time = Time::from_ms(1_000);
/// RFC 6298, 2.5: the maximum is at least 60 seconds.
const MAXIMUM: Time = Time::from_ms(60_000);

/// How much the round-trip time varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variation {
    /// RFC 6298's RTTVAR.
    Rfc(Time),
    Linux(Allowance),
}

impl Variation {
    /// How much longer than the smoothed round-trip time an answer may take.
    fn allowance(&self) -> Time {
        match self {
            Variation::Rfc(variation) => *variation * 4,
            Variation::Linux(allowance) => allowance.get(),
        }
    }
}

/// Estimates the timeout from round-trip times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTrip {
    /// Smoothed round-trip time and its variation, once measured.
    smoothed: Option<(Time, Variation)>,
    /// Doublings since the last measurement.
    backoff: u32,
}

impl RoundTrip {
    /// Takes in a measurement as `settings` say, at this position of the flow.
    pub fn measure_at(&mut self, rtt: Time, settings: &TcpSettings, at: Position) {
        match settings.rto {
            Rto::Linux => self.measure_as_linux(rtt, settings.rto_min, at),
            Rto::Estimated | Rto::Fixed => self.measure(rtt),
        }
    }

    /// Takes in a measurement (RFC 6298, 2.2 and 2.3, in whole picoseconds).
    pub fn measure(&mut self, rtt: Time) {
        let variation = match self.smoothed {
            Some((smoothed, Variation::Rfc(variation))) => {
                let error = rtt.saturating_sub(smoothed) + smoothed.saturating_sub(rtt);
                (variation * 3 + error) / 4
            }
            _ => rtt / 2,
        };
        self.smooth(rtt, Variation::Rfc(variation));
    }

    fn measure_as_linux(&mut self, rtt: Time, least: Time, at: Position) {
        let allowance = match self.smoothed {
            Some((smoothed, Variation::Linux(mut allowance))) => {
                allowance.measure(rtt, smoothed, least, at);
                allowance
            }
            _ => Allowance::first(rtt, least, at),
        };
        self.smooth(rtt, Variation::Linux(allowance));
    }

    fn smooth(&mut self, rtt: Time, variation: Variation) {
        self.backoff = 0;
        let smoothed = self.smoothed.map_or(rtt, |(smoothed, _)| (smoothed * 7 + rtt) / 8);
        self.smoothed = Some((smoothed, variation));
    }

    /// Begins a flow on the same connection.
    pub fn start_flow(&mut self) {
        if let Some((_, Variation::Linux(allowance))) = &mut self.smoothed {
            allowance.start_flow();
        }
    }

    /// Doubles the timeout after it has run out, if the settings allow this (RFC 6298, 5.5).
    pub fn back_off(&mut self, settings: &TcpSettings) {
        if settings.rto_backoff {
            self.backoff = (self.backoff + 1).min(30);
        }
    }

    /// The smoothed round-trip time, once measured.
    pub fn smoothed(&self) -> Option<Time> {
        self.smoothed.map(|(smoothed, _)| smoothed)
    }

    /// How long an answer may take, once measured: the smoothed round-trip time plus four times its
    /// variation (RFC 6298, 2.3), or plus Linux's allowance.
    pub fn patience(&self) -> Option<Time> {
        self.smoothed.map(|(smoothed, variation)| smoothed + variation.allowance())
    }

    /// The present timeout.
    pub fn timeout(&self, settings: &TcpSettings) -> Time {
        let least = settings.rto_min;
        let timeout = match settings.rto {
            Rto::Fixed => least,
            Rto::Estimated | Rto::Linux => self.patience().unwrap_or(INITIAL).max(least),
        };
        // Minimum, doubling, maximum: in this order, so that a longer minimum still doubles.
        timeout.saturating_mul(1 << self.backoff).min(MAXIMUM.max(settings.rto_min))
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::Settings;

    use super::super::parameters::PARAMETERS;
    use super::*;

    fn settings() -> TcpSettings {
        TcpSettings::from_settings(&Settings::defaults(PARAMETERS))
    }

    #[test]
    fn follows_the_measurements() {
        let mut round_trip = RoundTrip::default();
        assert_eq!(round_trip.timeout(&settings()), INITIAL);
        round_trip.measure(Time::from_ms(8));
        assert_eq!(round_trip.timeout(&settings()), Time::from_ms(8 + 4 * 4));
        round_trip.measure(Time::from_ms(16));
        // RTTVAR = 3/4 * 4 + 1/4 * 8 = 5, SRTT = 7/8 * 8 + 1/8 * 16 = 9.
        assert_eq!(round_trip.timeout(&settings()), Time::from_ms(9 + 4 * 5));
    }

    #[test]
    fn doubles_up_to_a_minute_and_falls_back_with_a_measurement() {
        let mut round_trip = RoundTrip::default();
        round_trip.measure(Time::from_us(100));
        assert_eq!(round_trip.timeout(&settings()), Time::from_ms(2), "the minimum");
        round_trip.back_off(&settings());
        assert_eq!(round_trip.timeout(&settings()), Time::from_ms(4));
        for _ in 0..100 {
            round_trip.back_off(&settings());
        }
        assert_eq!(round_trip.timeout(&settings()), MAXIMUM);
        round_trip.measure(Time::from_us(100));
        assert_eq!(round_trip.timeout(&settings()), Time::from_ms(2));
    }

    #[test]
    fn linux_adds_the_minimum_to_the_round_trip() {
        let linux = TcpSettings { rto: Rto::Linux, ..settings() };
        let mut round_trip = RoundTrip::default();
        assert_eq!(round_trip.timeout(&linux), INITIAL);
        round_trip.measure_at(Time::from_us(100), &linux, Position::default());
        assert_eq!(round_trip.timeout(&linux), Time::from_us(100 + 2_000));
        // SRTT = 7/8 * 100 us + 1/8 * 16.1 ms = 2.1 ms, deviation = 3/4 * 50 us + 1/4 * 16 ms = 4.0375 ms.
        round_trip.measure_at(Time::from_us(16_100), &linux, Position::default());
        assert_eq!(round_trip.timeout(&linux), Time::from_ns(2_100_000 + 4 * 4_037_500));
    }

    #[test]
    fn a_fixed_timeout_does_neither() {
        let fixed = TcpSettings { rto: Rto::Fixed, rto_backoff: false, ..settings() };
        let mut round_trip = RoundTrip::default();
        round_trip.measure(Time::from_ms(8));
        round_trip.back_off(&fixed);
        assert_eq!(round_trip.timeout(&fixed), Time::from_ms(2));
    }
}
