//! A packet that is about to reach the end of a link.

use flowsched_schemes::Packet;
use flowsched_topology::PortId;
use flowsched_units::Time;

use super::order::Comes;

/// A packet that reaches the far end of a link.
///
/// The packet comes first in memory, and so is written first. After another write the compiler could not tell
/// whether the packet that is copied is still the same, and would copy it twice.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Arrival<H> {
    pub(super) packet: Packet<H>,
    /// The port before the link. Packets that arrive at the same instant are handled in the order of these
    /// ports, as single events are.
    pub(super) from: PortId,
    /// When the packet arrives.
    pub(super) at: Time,
}

impl<H> Comes for Arrival<H> {
    #[inline]
    fn at(&self) -> Time {
        self.at
    }

    #[inline]
    fn rank(&self) -> u32 {
        self.from.0
    }
}
