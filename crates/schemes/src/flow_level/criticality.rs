//! Rules of criticality that senders of packets and fluid flows share.

use flowsched_units::Time;

/// The longest random transmission time. It is so long that hardly any flow counts as nearly
/// completed (Early Start), because no one could know that.
const LONGEST_RANDOM: Time = Time::from_ms(1_000);

/// The transmission time of a flow whose criticality is this random number (PDQ 2012, 5.6).
pub fn random_transmission(random: u64) -> Time {
    Time::from_ps(random % LONGEST_RANDOM.as_ps() + 1)
}

/// The number by which ageing divides the size of a flow that has waited for this time (PDQ 2012, 7
/// and Figure 12).
pub fn age_divisor(waited: Time, ageing: f64) -> f64 {
    libm::exp2(ageing * (waited.as_secs_f64() / 0.1))
}
