//! What hosts report about the flows that they played.

use flowsched_schemes::world::{FlowOutcome, Uncounted};
use flowsched_units::Time;

use crate::lateness::Lateness;

/// The outcomes of flows that were played.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// The outcome of each flow.
    pub flows: Vec<FlowOutcome>,
    /// How late the flows began.
    pub starts: Starts,
    /// How late the simulator's hosts handled packets and timers. Empty for hosts with the kernel's TCP.
    pub lateness: Lateness,
    /// Packets for which the simulator's hosts had no room.
    pub overrun: u64,
    /// What hosts do not report about the flows.
    pub uncounted: Uncounted,
}

/// A flow that begins later than this after its planned start is late.
pub const LATE_START: Time = Time::from_ms(5);

/// How late flows began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Starts {
    /// The latest start after the planned one.
    pub latest: Time,
    /// Flows that began.
    pub flows: u64,
    /// Flows that began more than [`LATE_START`] late.
    pub late: u64,
}

impl Starts {
    /// Counts a flow that began this much after its planned start.
    pub(crate) fn note(&mut self, lateness: Time) {
        self.latest = self.latest.max(lateness);
        self.flows += 1;
        self.late += u64::from(lateness > LATE_START);
    }

    /// The starts of these flows and of other flows together.
    pub(crate) fn and(self, other: Starts) -> Starts {
        Starts {
            latest: self.latest.max(other.latest),
            flows: self.flows + other.flows,
            late: self.late + other.late,
        }
    }

    /// The share of flows that began late.
    pub fn late_share(&self) -> f64 {
        self.late as f64 / self.flows.max(1) as f64
    }
}
