//! How well the lab kept to real time, and whether a run is valid.

use flowsched_units::Time;

use crate::switch::Counts;
use crate::switch::pace::{Pace, Pacing};

/// The share of packets that may be late in a run that counts.
const LATE_SHARE: f64 = 0.01;

/// How well the lab kept to real time in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conduct {
    /// Packets that were handed to their hosts.
    pub packets: u64,
    /// Packets that hosts sent, by priority, the highest first.
    pub priorities: [u64; 8],
    /// The lateness that half of the packets did not exceed.
    pub median: Time,
    /// What 99% of them did not exceed.
    pub p99: Time,
    /// That of the latest.
    pub most: Time,
    /// What passes for late: the time of a full packet on the slowest link.
    pub limit: Time,
    /// The share of packets that were later.
    pub late_share: f64,
    /// How the port before the busiest host was paced; `None` if none was busy.
    pub pacing: Option<Pacing>,
    /// The longest time that the switch did not look for packets while some were under way.
    pub longest_absence: Time,
    /// The latest that a flow began after it should have.
    pub latest_start: Time,
    /// Packets that a host had no room for.
    pub overrun: u64,
    /// Frames that were malformed or for nobody of the lab.
    pub refused: u64,
}

impl Conduct {
    pub(crate) fn new(counts: &Counts, latest_start: Time, limit: Time) -> Conduct {
        let lateness = &counts.lateness;
        Conduct {
            packets: lateness.packets(),
            priorities: counts.priorities,
            median: lateness.quantile(0.5),
            p99: lateness.quantile(0.99),
            most: lateness.most(),
            limit,
            late_share: lateness.share_beyond(limit),
            pacing: Pace::of_busiest(&counts.paces),
            longest_absence: counts.longest_absence,
            latest_start,
            overrun: counts.overrun,
            refused: counts.refused,
        }
    }

    /// Whether the run counts: at most 1% of its packets were late, and hosts had room for all.
    pub fn is_valid(&self) -> bool {
        self.late_share <= LATE_SHARE && self.overrun == 0
    }
}
