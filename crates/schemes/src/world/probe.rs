//! Probes, which observe chosen ports and chosen flows of a run over time.

use std::ops::ControlFlow;

use flowsched_units::{Bytes, Rate, Time};

use super::PortSample;

/// Which ports and flows a run observes, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The ports, by their places in the network.
    pub ports: Vec<u32>,
    /// The flows, by their numbers.
    pub flows: Vec<u32>,
    /// When they are observed.
    pub every: Every,
}

/// When a probe observes its ports and flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// At this interval.
    Interval(Time),
    /// Each time that something changes.
    Change,
}

/// A flow at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowState {
    /// When the flow was observed.
    pub time: Time,
    /// The flow's number.
    pub flow: u32,
    /// Bits per second: the rate that its sender reports, or else, with an interval, what it sent
    /// since the last observation.
    pub rate: Option<f64>,
    /// The state that its sender reports.
    pub sender: SenderState,
    /// The priority of the last data packet that it sent; `None` before the first.
    pub priority: Option<u8>,
}

impl FlowState {
    /// Whether `later` differs in anything but the time.
    pub fn has_changed(&self, later: &FlowState) -> bool {
        *self != FlowState { time: self.time, ..*later }
    }
}

/// A port at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortState {
    /// The port's counters, as samples have them.
    pub sample: PortSample,
    /// Bytes of the packet being sent that have not left yet. The sample counts them as sent.
    pub unsent_bytes: f64,
}

/// The state that a sender reports; `None` for values that its transport does not have.
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
        /// Bits per second that left since the last observation; `None` at the first one.
        rate: Option<f64>,
    },
    /// A flow that is under way.
    Flow(FlowState),
}

/// A probe, and the function that takes its observations.
pub struct Probing<'a> {
    /// The ports and flows to observe, and when.
    pub probe: &'a Probe,
    /// Takes the observations, in the order of time. The run ends soon after this returns
    /// [`ControlFlow::Break`].
    pub seen: &'a mut dyn FnMut(Seen) -> ControlFlow<()>,
}
