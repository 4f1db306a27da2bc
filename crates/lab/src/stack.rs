//! What hosts send with: the kernel's TCP, or a protocol of a scheme's own.

use flowsched_schemes::on_linux::LinuxHosts;
use flowsched_units::PACKET_WIRE;

use crate::congestion::Congestion;

/// What hosts send with.
#[derive(Clone, Copy, Debug)]
pub enum Stack<'a> {
    /// The kernel's TCP, with these settings and this congestion control.
    Kernel(&'a LinuxHosts, &'a Congestion),
    /// A scheme's own protocol over UDP, whose header adds so many bytes to a full packet.
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
