//! What is known about a run before its first event.

use flowsched_units::Time;

use super::{NamedLink, PortRecord, RunKey};

/// What is known about a run before its first event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunStart {
    /// Which run it is.
    pub key: RunKey,
    /// Its ports.
    pub ports: Vec<PortRecord>,
    /// The first and the last start of a flow; `None` if there is no flow.
    pub arrivals: Option<(Time, Time)>,
    /// Whether start times are random, so that the load stays the same while flows arrive.
    pub random_starts: bool,
    /// The ports that the load of its flows refers to, by their places.
    pub load_ports: Vec<u32>,
    /// The links to report on.
    pub links: Vec<NamedLink>,
    /// Whether ports or flows are recorded over time.
    pub has_probe: bool,
}
