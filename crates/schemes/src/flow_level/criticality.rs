//! Rules of criticality that senders of packets and fluid flows share.

use flowsched_units::Time;

/// The longest random transmission time: so long that next to no flow counts as nearly completed
/// (Early Start), which no one could know.
const LONGEST_RANDOM: Time = Time::from_ms(1_000);

/// The transmission time of a flow whose criticality is this random number (PDQ 2012, 5.6).
pub fn random_transmission(random: u64) -> Time {
    Time::from_ps(random % LONGEST_RANDOM.as_ps() + 1)
}

/// Ageing divides the size of a flow by this after the flow has waited so long (PDQ 2012, 7 and
/// Figure 12).
pub fn age_divisor(waited: Time, ageing: f64) -> f64 {
    libm::exp2(ageing * (waited.as_secs_f64() / 0.1))
}
