//! The header of packets of a flow over several paths.

use crate::transport::pdq::{PdqHeader, Scheduled};

/// PDQ's scheduling header, and what tells the subflows of one flow apart.
///
/// A packet has two numbers, "as done in Multipath TCP" (PDQ 2012, 6). The packet's own number
/// counts in the flow, as if it had one path. The number here counts in the subflow. The paper
/// counts no bytes for that beside PDQ's 16, and neither does this header: the path would be in
/// TCP's ports, by which switches choose among equal paths.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MultipathHeader {
    /// What switches read.
    pub pdq: PdqHeader,
    /// The subflow, and so the path.
    pub path: u32,
    /// Data: the number of the segment in its subflow. ACK: the one expected next.
    pub number: u32,
}

impl Scheduled for MultipathHeader {
    #[inline]
    fn scheduling(&mut self) -> &mut PdqHeader {
        &mut self.pdq
    }
}
