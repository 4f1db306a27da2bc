//! The protocols that hosts send with: the kernel's TCP, or the simulator's over UDP.

use flowsched_schemes::on_linux::LinuxHosts;
use flowsched_units::PACKET_WIRE;

use crate::congestion::Congestion;

/// The protocol that hosts send with.
#[derive(Clone, Copy, Debug)]
pub enum Stack<'a> {
    /// The kernel's TCP, with these settings and this congestion control.
    Kernel(&'a LinuxHosts, &'a Congestion),
    /// The simulator's senders and receivers, over UDP. The scheme's header adds this many bytes to a full packet.
    OverUdp(u32),
}

impl Stack<'_> {
    /// Bytes of the longest IP packet.
    pub(crate) fn mtu(&self) -> u32 {
        PACKET_WIRE as u32
            + match self {
                Stack::Kernel(..) => 0,
                Stack::OverUdp(header) => *header,
            }
    }
}
