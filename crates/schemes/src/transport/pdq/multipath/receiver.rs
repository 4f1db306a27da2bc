//! The receiving side of a flow over several paths.

use flowsched_units::Bytes;

use super::MultipathHeader;
use crate::packet::{Flags, Packet};
use crate::transport::explicit::{Answering, Reassembly, answer};
use crate::transport::tcp::segments_of;

/// The receiver of one flow: it answers each subflow as a flow of its own, and puts the flow
/// together in one place.
#[derive(Clone, Debug)]
pub struct MultipathReceiver {
    segments: u32,
    /// "The M-PDQ receiver maintains a single shared buffer for a multipath flow to resequence
    /// out-of-order packet arrivals" (PDQ 2012, 6).
    buffer: Reassembly,
    /// For each path, the segments of the subflow that have come.
    subflows: Vec<Reassembly>,
}

impl Answering<MultipathHeader> for MultipathReceiver {
    fn new(size: Bytes) -> MultipathReceiver {
        let (buffer, subflows) = (Reassembly::default(), Vec::new());
        MultipathReceiver { segments: segments_of(size), buffer, subflows }
    }

    #[inline]
    fn is_complete(&self) -> bool {
        self.buffer.expected() == self.segments
    }

    #[inline]
    fn answer(&mut self, packet: &Packet<MultipathHeader>) -> Packet<MultipathHeader> {
        let path = packet.header.path as usize;
        if path >= self.subflows.len() {
            self.subflows.resize_with(path + 1, Reassembly::default);
        }
        if !packet.flags.has(Flags::SYN.with(Flags::PROBE)) {
            self.buffer.take_in(packet.seq);
        }
        let of_subflow = Packet { seq: packet.header.number, ..*packet };
        let mut ack = answer(&mut self.subflows[path], &of_subflow);
        ack.header.number = ack.seq;
        ack.seq = self.buffer.expected();
        ack
    }
}
