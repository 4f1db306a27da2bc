//! C, the capacity that a D3 router grants of a link: RCP's rate adaptation.
//!
//! Every round-trip time T, C += alpha (link - u / T) - beta q / T (Wilson et al., SIGCOMM 2011,
//! after Dukkipati and McKeown, CCR 2006). u is what came in the last T. It includes ACKs, because
//! they take their part of the link. q is the queue. As in XCP (Katabi et al., SIGCOMM 2002,
//! 3.5.1), it is the shortest queue during T: a single packet that happens to wait is a tenth of
//! what the link sends in a short round-trip time, but it is no queue that must be drained.
//!
//! C above the link's rate has one purpose: to grant again the capacity that flows do not use
//! because another link limits them. C therefore never grows beyond the link's rate plus that
//! capacity. Spare capacity alone does not measure it, because the packets of new flows come a
//! round-trip time after their grants. If C grew until these packets came, it would be far above
//! the link's rate. Their queue would then lower C, and C would take many round-trip times to
//! recover, since it rises by a tenth of the spare capacity. The traffic of a T is therefore
//! compared with the grants of the round-trip time before.
//!
//! The bound limits only growth. In a short round-trip time few packets come. If the bound also
//! lowered C, one packet that comes a moment early would lower C at once, C would recover by a
//! tenth at a time, and flows would not get the unused capacity.

use flowsched_units::{Rate, Time};

/// The granted capacity stays within this factor of the link's rate. It rises above that rate for
/// flows that other links limit, which cannot use their share. Without the lower bound, a burst
/// would take it to zero, from where it would rise by only a tenth per round-trip time.
const FACTOR: f64 = 2.0;

/// C, and what was seen since its last update; rates are in bits per second.
#[derive(Clone, Copy, Debug)]
pub struct RateAdaptation {
    alpha: f64,
    beta: f64,
    link: f64,
    capacity: f64,
    /// u: the bytes that came.
    came: u64,
    least_queue: u64,
    updated: Time,
}

impl RateAdaptation {
    /// The adaptation for a link with this rate. `alpha` is the gain on spare capacity, `beta` the
    /// gain on the queue.
    pub fn new(alpha: f64, beta: f64, link: Rate) -> RateAdaptation {
        let link = link.as_bps() as f64;
        RateAdaptation {
            alpha,
            beta,
            link,
            capacity: link,
            came: 0,
            least_queue: u64::MAX,
            updated: Time::ZERO,
        }
    }

    /// C.
    #[inline]
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// Notes that this many bytes wait.
    #[inline]
    pub fn see(&mut self, queue: u64) {
        self.least_queue = self.least_queue.min(queue);
    }

    /// The fewest bytes that have waited since the last update.
    #[inline]
    pub fn least_queue(&self) -> u64 {
        self.least_queue
    }

    /// Counts bytes that came.
    #[inline]
    pub fn add(&mut self, bytes: u64) {
        self.came += bytes;
    }

    /// Whether a round-trip time has passed since the last update.
    #[inline]
    pub fn is_due(&self, now: Time, round_trip: Time) -> bool {
        round_trip > Time::ZERO && now.saturating_sub(self.updated) >= round_trip
    }

    /// Updates C. `in_force` is the sum of the rates at which flows were told to send what came
    /// since the last update.
    pub fn update(&mut self, now: Time, queue: u64, round_trip: Time, in_force: u64) {
        let bits = |bytes: u64, time: Time| 8.0 * bytes as f64 / time.as_secs_f64();
        let came = bits(self.came, now.saturating_sub(self.updated));
        let grown = self.capacity + self.alpha * (self.link - came);
        let left_of_grants = (in_force as f64 - came).max(0.0);
        let bound = self.capacity.max(self.link + left_of_grants);
        self.capacity = grown.min(bound) - self.beta * bits(self.least_queue, round_trip);
        self.capacity = self.capacity.clamp(self.link / FACTOR, FACTOR * self.link);
        self.came = 0;
        self.least_queue = queue;
        self.updated = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Time = Time::from_us(200);
    /// The bytes that the link carries in T.
    const FULL: u64 = 25_000;

    fn adaptation() -> RateAdaptation {
        RateAdaptation::new(0.1, 1.0, Rate::from_gbps(1))
    }

    /// Returns C after another T in which `came` bytes came and `queue` bytes waited, in
    /// thousandths of the link's rate.
    fn after(adaptation: &mut RateAdaptation, came: u64, queue: u64, in_force: u64) -> u64 {
        let now = adaptation.updated + T;
        adaptation.add(came);
        adaptation.see(queue);
        assert!(!adaptation.is_due(now - Time::from_us(1), T));
        assert!(adaptation.is_due(now, T));
        adaptation.update(now, queue, T, in_force * 1_000_000);
        (adaptation.capacity() / 1e6).round() as u64
    }

    /// C += alpha (link - u / T) - beta q / T.
    #[test]
    fn the_capacity_falls_with_the_queue() {
        let mut adaptation = adaptation();
        // As much came as the link can carry; 5,000 bytes in 200 us are 200 Mbps.
        assert_eq!(after(&mut adaptation, FULL, 5_000, 1000), 800);
        // Nothing came: a tenth of the link more.
        assert_eq!(after(&mut adaptation, 0, 0, 800), 900);
        assert_eq!(after(&mut adaptation, FULL * 3 / 2, 0, 800), 850, "more than the link carries");
    }

    /// Below the link's rate, C grows for whatever reason nothing came. The bound stops it there:
    /// without it, three round-trip times would take C to 1250.
    #[test]
    fn what_was_not_granted_takes_the_capacity_to_the_link_and_no_further() {
        let mut adaptation = adaptation();
        assert_eq!(after(&mut adaptation, FULL, 1_250, 1000), 950);
        for _ in 0..3 {
            assert_eq!(after(&mut adaptation, 0, 0, 0), 1000);
        }
        assert_eq!(after(&mut adaptation, FULL / 2, 0, 500), 1000, "all that was granted came");
        assert_eq!(after(&mut adaptation, FULL, 1_250, 500), 1000, "none waited all the time");
        assert_eq!(after(&mut adaptation, FULL, 1_250, 500), 950);
        assert_eq!(after(&mut adaptation, FULL / 2, 0, 0), 1000, "more than was granted came");
    }

    /// Half of a grant of the whole link came. C rises until it makes up for the other half, and
    /// stays there when the grants are used.
    #[test]
    fn what_is_left_of_grants_is_granted_again() {
        let mut adaptation = adaptation();
        assert_eq!(after(&mut adaptation, FULL / 2, 0, 1000), 1050);
        for _ in 0..20 {
            after(&mut adaptation, FULL / 2, 0, 1000);
        }
        assert_eq!(after(&mut adaptation, FULL / 2, 0, 1000), 1500);
        assert_eq!(after(&mut adaptation, FULL, 0, 1000), 1500);
    }
}
