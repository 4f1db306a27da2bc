//! The header of packets of a flow over several paths.

use crate::packet::Header;
use crate::transport::pdq::{PdqHeader, Scheduled};

/// PDQ's scheduling header, and what tells the subflows of one flow apart.
///
/// The packet's own number is the flow's, as if it had one path; the subflow's number is here, as
/// Multipath TCP has both ("as done in Multipath TCP", PDQ 2012, 6). The paper counts no bytes
/// for that beside PDQ's 16, nor does this: the path would be in the ports of TCP, by which
/// switches choose among equal paths.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MultipathHeader {
    /// What switches read.
    pub pdq: PdqHeader,
    /// Which subflow, and so which path.
    pub path: u32,
    /// Data: the number of the segment in its subflow. ACK: the one expected next.
    pub number: u32,
}

impl Header for MultipathHeader {
    const WIRE_BYTES: u32 = PdqHeader::WIRE_BYTES;
    const IS_SPREAD: bool = true;

    #[inline]
    fn path(&self) -> u32 {
        self.path
    }
}

impl Scheduled for MultipathHeader {
    #[inline]
    fn scheduling(&mut self) -> &mut PdqHeader {
        &mut self.pdq
    }
}
