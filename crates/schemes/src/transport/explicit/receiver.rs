//! The receiving side: an answer to every packet, with the packet's header in it.

use flowsched_units::{Bytes, PACKET_HEADER};

use super::{Answering, Reassembly};
use crate::packet::{Flags, Header, Packet};
use crate::transport::tcp::segments_of;

/// Option bytes of an ACK with one SACK block (RFC 2018, 3).
const SACK_OPTION: u16 = 10;

/// The receiver of one flow.
#[derive(Clone, Debug)]
pub struct Receiver {
    segments: u32,
    came: Reassembly,
}

impl<H: Header> Answering<H> for Receiver {
    fn new(size: Bytes) -> Receiver {
        Receiver { segments: segments_of(size), came: Reassembly::default() }
    }

    #[inline]
    fn is_complete(&self) -> bool {
        self.came.expected() == self.segments
    }

    #[inline]
    fn answer(&mut self, packet: &Packet<H>) -> Packet<H> {
        answer(&mut self.came, packet)
    }
}

/// Adds a packet to the segments that `came`, and returns the answer to it. The answer has no
/// destination yet. It carries the packet's header (PDQ 2012, 3.2) and, if the packet was out of
/// order, the block of segments around it.
#[inline]
pub(crate) fn answer<H: Header>(came: &mut Reassembly, packet: &Packet<H>) -> Packet<H> {
    let special = packet.flags.has(Flags::SYN.with(Flags::PROBE));
    if !special {
        came.take_in(packet.seq);
    }
    let kind = Flags::ACK
        .with_if(packet.flags.has(Flags::SYN), Flags::SYN)
        .with_if(packet.flags.has(Flags::PROBE), Flags::PROBE);
    let mut ack = Packet {
        flow: packet.flow,
        seq: came.expected(),
        wire: (PACKET_HEADER as u32 + H::WIRE_BYTES) as u16,
        priority: packet.priority,
        flags: kind,
        header: packet.header,
        ..Packet::default()
    };
    if special {
        // The number of the packet without data that this answers.
        ack.word = packet.seq;
    } else if packet.seq > came.expected() {
        ack.set_sack_block(came.run_around(packet.seq));
        ack.wire += SACK_OPTION;
    }
    ack
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_every_packet_with_what_it_expects_and_what_came_out_of_order() {
        let mut receiver: Receiver = Answering::<()>::new(Bytes::new(4 * 1460));
        let mut take = |seq, flags| {
            let ack = receiver.answer(&Packet::<()>::data(7, 1, seq, 1500, flags));
            (ack.seq, ack.sack_block(), Answering::<()>::is_complete(&receiver))
        };
        let none = Flags::default();
        assert_eq!(take(0, Flags::SYN.with(Flags::PROBE)), (0, 0..0, false));
        assert_eq!(take(0, none), (1, 0..0, false));
        assert_eq!(take(2, none), (1, 2..3, false));
        assert_eq!(take(3, none), (1, 2..4, false));
        assert_eq!(take(1, Flags::PROBE), (1, 1..1, false), "no data");
        assert_eq!(take(1, none), (4, 0..0, true));
        assert_eq!(take(3, none), (4, 0..0, true), "a copy");
    }
}
