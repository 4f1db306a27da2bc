//! What a run is watched for over time: chosen ports and chosen flows.

use std::ops::ControlFlow;

use flowsched_units::{Bytes, Rate, Time};

use super::PortSample;

/// Which ports and flows are looked at, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The ports, by their places in the network.
    pub ports: Vec<u32>,
    /// The flows, by their numbers.
    pub flows: Vec<u32>,
    /// When they are looked at.
    pub every: Every,
}

/// When a probe looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// Each time that so much time has passed.
    Interval(Time),
    /// Each time that something changes.
    Change,
}

/// A flow at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowState {
    /// When.
    pub time: Time,
    /// Which flow.
    pub flow: u32,
    /// Bits per second: what its sender says, or what it sent since the last look at an interval.
    pub rate: Option<f64>,
    /// What its sender says.
    pub sender: SenderState,
    /// The priority of the last data packet that it sent; `None` before the first.
    pub priority: Option<u8>,
}

impl FlowState {
    /// Whether anything but the time is otherwise later.
    pub fn has_changed(&self, later: &FlowState) -> bool {
        *self != FlowState { time: self.time, ..*later }
    }
}

/// A port at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortState {
    /// What samples tell of it.
    pub sample: PortSample,
    /// Bytes of the packet being sent, counted as sent, that are yet to leave.
    pub unsent_bytes: f64,
}

/// What a sender can say of itself; `None` for what its transport does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderState {
    /// Bytes that may be in flight.
    pub window: Option<Bytes>,
    /// The rate at which it may send.
    pub rate: Option<Rate>,
    /// The estimate of the share of marked packets (DCTCP).
    pub alpha: Option<f64>,
    /// Bytes that were sent and neither acknowledged nor found lost.
    pub in_flight: Option<Bytes>,
}

/// What a probe saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    /// A port.
    Port {
        /// The port.
        sample: PortSample,
        /// Bits per second that left since the last look; `None` at the first.
        rate: Option<f64>,
    },
    /// A flow that is under way.
    Flow(FlowState),
}

/// A probe, and who takes what it sees.
pub struct Probing<'a> {
    /// What it looks at.
    pub probe: &'a Probe,
    /// Takes what it sees, in the order of time. The run ends soon once it answers
    /// [`ControlFlow::Break`].
    pub seen: &'a mut dyn FnMut(Seen) -> ControlFlow<()>,
}
