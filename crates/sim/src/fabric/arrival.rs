//! A packet that is about to reach the end of a link.

use flowsched_schemes::Packet;
use flowsched_topology::PortId;
use flowsched_units::Time;

/// A packet that reaches the far end of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival<H> {
    /// When.
    pub(super) at: Time,
    /// The port before the link; packets that arrive at the same instant are taken in the order of
    /// these, as one event after the other.
    pub(super) from: PortId,
    pub(super) packet: Packet<H>,
}

impl<H> Arrival<H> {
    /// What decides which of two packets comes first.
    #[inline]
    pub(super) fn turn(&self) -> (Time, PortId) {
        (self.at, self.from)
    }
}
