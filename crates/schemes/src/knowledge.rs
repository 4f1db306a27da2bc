//! What a sending host knows of its flows and packets, for taggers and transports.

use flowsched_units::{Bytes, Rate, Time};

/// What a sending host knows of a flow when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The flow's index, which its packets carry.
    pub flow: u32,
    /// When the flow starts.
    pub now: Time,
    /// Bytes to send.
    pub size: Bytes,
    /// When it should have finished, if it has a deadline.
    pub deadline: Option<Time>,
    /// The rate at which the application hands over payload, more than 0; `None` if it hands over all
    /// of it at the start.
    pub application_rate: Option<Rate>,
    /// The rate of the host's network card.
    pub rate: Rate,
    /// A random number of the flow's own.
    pub random: u64,
}

/// What the sending host knows about a data packet at the moment it leaves the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When the packet leaves the transport.
    pub now: Time,
    /// Bytes of the flow before the packet's first byte.
    pub offset: u64,
    /// Payload bytes of the packet.
    pub payload: u32,
    /// Whether everything sent before had been acknowledged.
    pub idle: bool,
    /// Retransmission timeouts of the flow since it last made progress.
    pub timeouts_in_a_row: u32,
}

/// What the sending host knows of a flow only where applications say how much they will send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// The flow's size.
    pub size: Bytes,
    /// Packets of the flow that no ACK or SACK block has reported as arrived.
    pub remaining: u32,
}
