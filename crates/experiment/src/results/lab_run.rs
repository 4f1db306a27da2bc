//! How well the lab kept to real time in one run.

use serde::{Deserialize, Serialize};

use super::Point;

/// What the name of a scheme ends with that is simulated beside the lab.
pub const SIMULATED: &str = " (simulated)";

/// How well the lab kept to real time in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabRun {
    /// Which run, in words.
    pub run: String,
    /// The varied keys and their values.
    #[serde(default)]
    pub point: Point,
    /// The scheme.
    pub scheme: String,
    /// The seed.
    pub seed: u64,
    /// Whether the run counts.
    pub valid: bool,
    /// Why it does not count, in clauses.
    #[serde(default)]
    pub faults: Vec<String>,
    /// Packets that reached their hosts.
    pub packets: u64,
    /// Packets that hosts sent, by priority, the highest first.
    pub priorities: [u64; 8],
    /// Lateness in microseconds: of half of the packets, of 99%, of all.
    pub late_us: [f64; 3],
    /// A packet is late beyond this, in microseconds.
    pub limit_us: f64,
    /// The share of late packets.
    pub late_share: f64,
    /// Of the busiest host: its rate while its port was busy, relative to the link's.
    pub busiest_rate: Option<f64>,
    /// The mean queueing delay of its full packets, and their mean lateness, in microseconds.
    pub busiest_delay_us: Option<[f64; 2]>,
    /// The longest time during which nobody read packets while some were under way, in microseconds.
    pub longest_absence_us: f64,
    /// The latest start of a flow after its planned start, in microseconds.
    pub latest_start_us: f64,
    /// The share of flows that began late.
    #[serde(default)]
    pub late_starts: f64,
    /// The longest wait of a memcached for a processor, relative to the run.
    #[serde(default)]
    pub server_wait: f64,
    /// Packets that a host had no room for.
    pub overrun: u64,
    /// Malformed packets, and packets to or from unknown addresses.
    pub refused: u64,
}
