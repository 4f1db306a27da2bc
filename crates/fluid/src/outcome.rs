//! What a run gives.

use flowsched_units::Time;

/// What became of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowOutcome {
    /// When its sender knew that the last byte had arrived.
    pub finished_at_sender: Option<Time>,
    /// When its last byte arrived.
    pub finished_at_receiver: Option<Time>,
    /// Whether it was given up, as it could not meet its deadline.
    pub gave_up: bool,
}

/// A port at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortSample {
    /// When.
    pub time: Time,
    /// The port's number in the network.
    pub port: u32,
    /// Bytes sent since the start, headers included.
    pub sent_bytes: u64,
}

/// What an omniscient schedule is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// No schedule has a lower mean flow completion time: flows without deadlines pass one
    /// bottleneck, the shortest remaining first.
    LeastMeanFct,
    /// No schedule meets more deadlines: flows that have one start together and pass one bottleneck.
    MostDeadlinesMet,
    /// A good schedule, and no bound.
    Heuristic,
}

/// What a run gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What became of each flow.
    pub flows: Vec<FlowOutcome>,
    /// Every port at every sampling time and at the end.
    pub ports: Vec<PortSample>,
    /// What the schedule is worth, if it is an omniscient one.
    pub worth: Option<Worth>,
    /// Events handled: starts, ends and turning points of flows.
    pub events: u64,
    /// Rates that were found to be others than before.
    pub rate_changes: u64,
    /// Whether the run was stopped before its end.
    pub stopped: bool,
    /// When the last event was.
    pub end: Time,
}
