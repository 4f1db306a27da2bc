//! When the next packet may leave, given a rate.

use flowsched_units::{Bytes, PACKET_HEADER, Rate, Time};

/// Spaces packets so that they leave at a rate, headers included. The rate may change at any time.
/// A new rate counts from the last departure on.
#[derive(Clone, Copy, Debug)]
pub struct Pacing {
    rate: Rate,
    /// The last packet: when it left, and its bytes on the wire.
    last: (Time, Bytes),
    /// How long the last packet takes at the rate. It is stored because a division takes longer.
    gap: Time,
    /// Bytes that the scheme's header adds to a packet.
    header: u32,
}

impl Pacing {
    /// Starts at rate zero, with a scheme's header of `header` bytes on every packet.
    pub fn new(header: u32) -> Pacing {
        let (rate, last) = (Rate::from_bps(0), (Time::ZERO, Bytes::ZERO));
        Pacing { rate, last, gap: Time::MAX, header }
    }

    /// The rate.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Whether nothing may be sent.
    #[inline]
    pub fn is_paused(&self) -> bool {
        self.rate == Rate::from_bps(0)
    }

    /// Sets the rate, which counts from the last departure on.
    #[inline]
    pub fn set_rate(&mut self, rate: Rate) {
        if rate != self.rate {
            self.rate = rate;
            self.space();
        }
    }

    /// Records that a packet of `payload` bytes leaves now.
    #[inline]
    pub fn sent(&mut self, now: Time, payload: u32) {
        let wire = Bytes::new(u64::from(payload) + PACKET_HEADER + u64::from(self.header));
        let is_alike = wire == self.last.1;
        self.last = (now, wire);
        if !is_alike {
            self.space();
        }
    }

    fn space(&mut self) {
        self.gap = self.rate.transmission_time(self.last.1);
    }

    /// When the last packet left.
    pub fn last_departure(&self) -> Time {
        self.last.0
    }

    /// When the next packet may leave.
    #[inline]
    pub fn next_departure(&self) -> Time {
        self.last.0.saturating_add(self.gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_rate_counts_from_the_last_departure() {
        let mut pacing = Pacing::new(16);
        assert_eq!(pacing.next_departure(), Time::MAX, "paused");
        pacing.set_rate(Rate::from_gbps(1));
        pacing.sent(Time::from_us(5), 1460);
        assert_eq!(pacing.next_departure(), Time::from_us(5) + Time::from_ns(1516 * 8));
        pacing.set_rate(Rate::from_gbps(2));
        assert_eq!(pacing.next_departure(), Time::from_us(5) + Time::from_ns(1516 * 4));
    }
}
