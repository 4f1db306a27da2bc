//! How well the lab kept to real time in one run.

use serde::{Deserialize, Serialize};

use super::Point;

/// The suffix of the names of schemes that are simulated for comparison with the lab.
pub const SIMULATED: &str = " (simulated)";

/// How well the lab kept to real time in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabRun {
    /// The run, in words.
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
    /// Why the run does not count, as clauses.
    #[serde(default)]
    pub faults: Vec<String>,
    /// Packets that reached their hosts.
    pub packets: u64,
    /// Packets that hosts sent, by priority, the highest first.
    pub priorities: [u64; 8],
    /// Lateness in microseconds: the median, the 99th percentile and the maximum.
    pub late_us: [f64; 3],
    /// The lateness in microseconds beyond which a packet counts as late.
    pub limit_us: f64,
    /// The share of late packets.
    pub late_share: f64,
    /// The share of packets and timers that the simulator's hosts handled late; 0 for hosts with the kernel's
    /// TCP.
    #[serde(default)]
    pub host_late_share: f64,
    /// The largest lateness of the simulator's hosts in microseconds; 0 for hosts with the kernel's TCP.
    #[serde(default)]
    pub host_late_us: f64,
    /// The rate of the busiest host while its port was busy, relative to the link's rate.
    pub busiest_rate: Option<f64>,
    /// For the busiest host, the mean queueing delay of full packets and their mean lateness, in
    /// microseconds.
    pub busiest_delay_us: Option<[f64; 2]>,
    /// The share of packets that the lab read more than `limit_us` late.
    #[serde(default)]
    pub read_late_share: f64,
    /// The longest time in microseconds that a packet may have waited until the lab read it.
    pub longest_absence_us: f64,
    /// The largest delay of a flow's start after its planned start, in microseconds.
    pub latest_start_us: f64,
    /// The share of flows that began late.
    #[serde(default)]
    pub late_starts: f64,
    /// The longest wait of a memcached server for a processor, relative to the length of the run.
    #[serde(default)]
    pub server_wait: f64,
    /// Packets that a host had no room for.
    pub overrun: u64,
    /// Malformed packets, and packets to or from unknown addresses.
    pub refused: u64,
}
