//! The retransmission timeout (RFC 6298).

use flowsched_units::Time;

use super::settings::{Rto, TcpSettings};

/// RFC 6298, 2.1: the timeout before there is a measurement.
const INITIAL: Time = Time::from_ms(1_000);
/// RFC 6298, 2.5: the maximum is at least 60 seconds.
const MAXIMUM: Time = Time::from_ms(60_000);

/// Estimates the timeout from round-trip times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTrip {
    /// Smoothed round-trip time and its variation, once measured.
    smoothed: Option<(Time, Time)>,
    /// Doublings since the last measurement.
    backoff: u32,
}

impl RoundTrip {
    /// Takes in a measurement (RFC 6298, 2.2 and 2.3, in whole picoseconds).
    pub fn measure(&mut self, rtt: Time) {
        self.backoff = 0;
        self.smoothed = Some(match self.smoothed {
            None => (rtt, rtt / 2),
            Some((smoothed, variation)) => {
                let error = rtt.saturating_sub(smoothed) + smoothed.saturating_sub(rtt);
                ((smoothed * 7 + rtt) / 8, (variation * 3 + error) / 4)
            }
        });
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
    /// variation (RFC 6298, 2.3).
    pub fn patience(&self) -> Option<Time> {
        self.smoothed.map(|(smoothed, variation)| smoothed + variation * 4)
    }

    /// The present timeout.
    pub fn timeout(&self, settings: &TcpSettings) -> Time {
        let least = settings.rto_min;
        let timeout = match (settings.rto, self.smoothed) {
            (Rto::Fixed, _) => least,
            (_, None) => INITIAL.max(least),
            (Rto::Estimated, Some((smoothed, variation))) => (smoothed + variation * 4).max(least),
            (Rto::Linux, Some((smoothed, variation))) => smoothed + (variation * 4).max(least),
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
        round_trip.measure(Time::from_us(100));
        assert_eq!(round_trip.timeout(&linux), Time::from_us(100 + 2_000));
        round_trip.measure(Time::from_ms(16));
        assert_eq!(Some(round_trip.timeout(&linux)), round_trip.patience());
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
