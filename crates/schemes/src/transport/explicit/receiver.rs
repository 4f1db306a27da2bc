//! The receiving side: an answer to every packet, with the packet's header in it.

use flowsched_units::{Bytes, PACKET_HEADER};

use crate::packet::{Flags, Header, Packet};
use crate::transport::tcp::{SegmentSet, segments_of};

/// Option bytes of an ACK with one SACK block (RFC 2018, 3).
const SACK_OPTION: u16 = 10;

/// The receiver of one flow.
#[derive(Clone, Debug)]
pub struct Receiver {
    segments: u32,
    /// The segment expected next.
    expected: u32,
    /// What came beyond it.
    beyond: SegmentSet,
}

impl Receiver {
    /// A receiver of `size` bytes.
    pub fn new(size: Bytes) -> Receiver {
        Receiver { segments: segments_of(size), expected: 0, beyond: SegmentSet::default() }
    }

    /// Whether every byte came.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.expected == self.segments
    }

    /// A packet came: its answer, addressed to nobody yet, with the packet's header (PDQ 2012,
    /// 3.2) and, if it was out of order, the block of segments around it.
    #[inline]
    pub fn answer<H: Header>(&mut self, packet: &Packet<H>) -> Packet<H> {
        let special = packet.flags.has(Flags::SYN.with(Flags::PROBE));
        if !special {
            self.take_in(packet.seq);
        }
        let kind = Flags::ACK
            .with_if(packet.flags.has(Flags::SYN), Flags::SYN)
            .with_if(packet.flags.has(Flags::PROBE), Flags::PROBE);
        let mut ack = Packet {
            flow: packet.flow,
            seq: self.expected,
            wire: (PACKET_HEADER as u32 + H::WIRE_BYTES) as u16,
            priority: packet.priority,
            flags: kind,
            header: packet.header,
            ..Packet::default()
        };
        if special {
            // Which of the sender's packets without data it answers.
            ack.word = packet.seq;
        } else if packet.seq > self.expected {
            ack.set_sack_block(self.beyond.run_around(packet.seq));
            ack.wire += SACK_OPTION;
        }
        ack
    }

    #[inline]
    fn take_in(&mut self, segment: u32) {
        if segment != self.expected {
            if segment > self.expected {
                self.beyond.insert(segment);
            }
            return;
        }
        self.expected += 1;
        if self.beyond.count() > 0 {
            self.expected = self.beyond.run_end(self.expected);
        }
        self.beyond.advance(self.expected);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_every_packet_with_what_it_expects_and_what_came_out_of_order() {
        let mut receiver = Receiver::new(Bytes::new(4 * 1460));
        let mut take = |seq, flags| {
            let ack = receiver.answer(&Packet::<()>::data(7, 1, seq, 1500, flags));
            (ack.seq, ack.sack_block(), receiver.is_complete())
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
