//! TCP's receiving side: what came, and what to answer.

use flowsched_units::{PACKET_HEADER, Time};

use super::{SegmentSet, Tcp};
use crate::packet::{Flags, Packet};

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
    /// Packets in order that no ACK has answered yet.
    unanswered: u32,
    /// When the delayed ACK is due.
    deadline: Time,
    /// The mark of the last packet (RFC 8257, 3.2), or ECE until CWR comes (RFC 3168, 6.1.3).
    echo: bool,
    /// The last data packet, which the next ACK answers.
    last: Packet,
}

impl Receiver {
    /// A receiver of `segments` segments.
    pub fn new(segments: u32) -> Receiver {
        Receiver {
            segments,
            expected: 0,
            beyond: SegmentSet::default(),
            unanswered: 0,
            deadline: Time::MAX,
            echo: false,
            last: Packet::default(),
        }
    }

    /// Whether every segment came.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.expected == self.segments
    }

    /// When [`Receiver::on_timer`] is due.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// A data packet, a probe or a SYN came; ACKs, addressed to nobody yet, go to `send`.
    #[inline]
    pub fn on_data(&mut self, tcp: &Tcp, now: Time, packet: &Packet, mut send: impl FnMut(Packet)) {
        if packet.flags.has(Flags::SYN) {
            return send(answer(tcp, packet, Flags::SYN, 0));
        }
        let marked = packet.flags.has(Flags::CE);
        if tcp.algorithm.latches_echo() {
            self.echo = marked || (self.echo && !packet.flags.has(Flags::CWR));
        } else if marked != self.echo {
            // RFC 8257, 3.2: the mark changed, so what waits is answered with the old one.
            if self.unanswered > 0 {
                let last = self.last;
                self.acknowledge(tcp, &last, &mut send);
            }
            self.echo = marked;
        }
        let in_order = self.take_in(packet);
        self.last = *packet;
        self.unanswered += 1;
        let due = self.unanswered >= tcp.settings.ack_ratio || !in_order || self.is_complete();
        if due {
            self.acknowledge(tcp, packet, &mut send);
        } else if self.deadline == Time::MAX {
            self.deadline = now + tcp.settings.ack_delay;
        }
    }

    /// Whether the segment was the one expected, with nothing waiting beyond it.
    #[inline]
    fn take_in(&mut self, packet: &Packet) -> bool {
        if packet.flags.has(Flags::PROBE) {
            return false;
        }
        if packet.seq != self.expected {
            if packet.seq > self.expected {
                self.beyond.insert(packet.seq);
            }
            return false;
        }
        self.expected += 1;
        let in_order = self.beyond.count() == 0;
        if !in_order {
            self.expected = self.beyond.run_end(self.expected);
        }
        self.beyond.advance(self.expected);
        in_order
    }

    /// The delayed ACK is due, if the time is right.
    pub fn on_timer(&mut self, tcp: &Tcp, now: Time, mut send: impl FnMut(Packet)) {
        if now >= self.deadline {
            let last = self.last;
            self.acknowledge(tcp, &last, &mut send);
        }
    }

    #[inline]
    fn acknowledge(&mut self, tcp: &Tcp, packet: &Packet, send: &mut impl FnMut(Packet)) {
        self.unanswered = 0;
        self.deadline = Time::MAX;
        let echo = Flags::default().with_if(self.echo, Flags::ECE);
        let mut ack = answer(tcp, packet, echo, self.expected);
        if packet.seq > self.expected && self.beyond.contains(packet.seq) {
            ack.set_sack_block(self.beyond.run_around(packet.seq));
            ack.wire += SACK_OPTION;
        }
        send(ack);
    }
}

/// An ACK for `packet`, which carries its flow and, for who echoes it, its priority.
#[inline]
fn answer(tcp: &Tcp, packet: &Packet, flags: Flags, expected: u32) -> Packet {
    Packet {
        flow: packet.flow,
        seq: expected,
        wire: PACKET_HEADER as u16,
        priority: packet.priority,
        flags: flags.with(Flags::ACK).with_if(tcp.settings.ack_ecn, Flags::ECT),
        ..Packet::default()
    }
}
