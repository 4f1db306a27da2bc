//! TCP's receiving side: what came, and what to answer.

use flowsched_units::{PACKET_HEADER, Time};

use super::congestion::CongestionControl;
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
    /// Segments that came beyond the expected one.
    beyond: SegmentSet,
    /// Packets in order that no ACK has answered yet.
    unanswered: u32,
    /// When the delayed ACK is due.
    deadline: Time,
    /// Whether ACKs report congestion (ECE): the mark of the last packet (RFC 8257, 3.2), or a mark
    /// that is repeated until CWR comes (RFC 3168, 6.1.3).
    echo: bool,
    /// The last of the packets that no ACK has answered.
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

    /// Handles a data packet, a probe or a SYN. Hands ACKs, which have no destination yet, to
    /// `send`.
    #[inline]
    pub fn on_data<A: CongestionControl>(
        &mut self,
        tcp: &Tcp<A>,
        now: Time,
        packet: &Packet,
        mut send: impl FnMut(Packet),
    ) {
        if packet.flags.has(Flags::SYN) {
            return send(answer(tcp, packet, Flags::SYN, 0));
        }
        let marked = packet.flags.has(Flags::CE);
        if tcp.latches_echo {
            self.echo = marked || (self.echo && !packet.flags.has(Flags::CWR));
        } else if marked != self.echo {
            // RFC 8257, 3.2: the mark changed, so the waiting packets are answered with the old
            // one.
            if self.unanswered > 0 {
                send(self.acknowledge(tcp, self.last));
            }
            self.echo = marked;
        }
        let in_order = self.take_in(packet);
        let unanswered = self.unanswered + 1;
        if unanswered >= tcp.settings.ack_ratio || !in_order || self.is_complete() {
            send(self.acknowledge(tcp, *packet));
        } else {
            self.wait(tcp, now, packet);
        }
    }

    /// Delays the ACK for this packet, so that it can answer more packets.
    #[inline(never)]
    fn wait<A: CongestionControl>(&mut self, tcp: &Tcp<A>, now: Time, packet: &Packet) {
        self.last = *packet;
        self.unanswered += 1;
        if self.deadline == Time::MAX {
            self.deadline = now + tcp.settings.ack_delay;
        }
    }

    /// Takes in a segment. Returns whether it was the one expected, with nothing waiting beyond it.
    #[inline]
    fn take_in(&mut self, packet: &Packet) -> bool {
        if packet.flags.has(Flags::PROBE) {
            return false;
        }
        let in_order = packet.seq == self.expected && self.beyond.count() == 0;
        if in_order {
            self.expected += 1;
        } else {
            self.take_in_out_of_order(packet.seq);
        }
        in_order
    }

    #[inline(never)]
    fn take_in_out_of_order(&mut self, segment: u32) {
        self.beyond.advance(self.expected);
        if segment > self.expected {
            self.beyond.insert(segment);
        } else if segment == self.expected {
            self.expected = self.beyond.run_end(segment + 1);
            self.beyond.advance(self.expected);
        }
    }

    /// Sends the delayed ACK if it is due.
    pub fn on_timer<A: CongestionControl>(
        &mut self,
        tcp: &Tcp<A>,
        now: Time,
        mut send: impl FnMut(Packet),
    ) {
        if now >= self.deadline {
            send(self.acknowledge(tcp, self.last));
        }
    }

    /// Returns the ACK that answers all unanswered packets. `packet` is the last of them.
    #[inline]
    fn acknowledge<A: CongestionControl>(&mut self, tcp: &Tcp<A>, packet: Packet) -> Packet {
        self.unanswered = 0;
        self.deadline = Time::MAX;
        let echo = Flags::default().with_if(self.echo, Flags::ECE);
        let mut ack = answer(tcp, &packet, echo, self.expected);
        if packet.seq > self.expected {
            self.report(packet.seq, &mut ack);
        }
        ack
    }

    /// Reports the block that holds `segment`, which is beyond the expected one.
    #[inline(never)]
    fn report(&self, segment: u32, ack: &mut Packet) {
        if self.beyond.contains(segment) {
            ack.set_sack_block(self.beyond.run_around(segment));
            ack.wire += SACK_OPTION;
        }
    }
}

/// An ACK for `packet`. It carries the packet's flow and, for schemes that echo it, the packet's
/// priority.
#[inline]
fn answer<A: CongestionControl>(
    tcp: &Tcp<A>,
    packet: &Packet,
    flags: Flags,
    expected: u32,
) -> Packet {
    Packet {
        flow: packet.flow,
        seq: expected,
        wire: PACKET_HEADER as u16,
        priority: packet.priority,
        flags: flags.with(Flags::ACK).with_if(tcp.settings.ack_ecn, Flags::ECT),
        ..Packet::default()
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::Settings;

    use super::super::congestion::{AnyAlgorithm, Dctcp, DctcpSettings, EcnStar, Reno};
    use super::super::{parameters::PARAMETERS, settings::TcpSettings};
    use super::*;

    fn dctcp() -> Dctcp {
        Dctcp::new(DctcpSettings { g: 0.0625, initial_alpha: 1.0 })
    }

    fn tcp(algorithm: impl Into<AnyAlgorithm>, ack_ratio: u32) -> Tcp {
        let settings = TcpSettings::from_settings(&Settings::defaults(PARAMETERS));
        Tcp::new(TcpSettings { ack_ratio, ..settings }, algorithm.into())
    }

    fn data(seq: u32, flags: Flags) -> Packet {
        Packet::data(0, 0, seq, 1500, flags.with(Flags::ECT))
    }

    /// The ACKs that answer a packet: which segment each one expects, and whether it echoes a mark.
    fn take(receiver: &mut Receiver, tcp: &Tcp, seq: u32, flags: Flags) -> Vec<(u32, bool)> {
        let mut acks = Vec::new();
        receiver.on_data(tcp, Time::ZERO, &data(seq, flags), |ack| {
            acks.push((ack.seq, ack.flags.has(Flags::ECE)));
        });
        acks
    }

    const NO: Flags = Flags::ECT;

    /// RFC 8257, 3.2: "If the CE codepoint is set and dctcp().CE is false, set dctcp().CE to true
    /// and send an immediate ACK" for what came before, with the old state; and the other way
    /// round.
    #[test]
    fn dctcp_echoes_each_mark_exactly_though_acks_are_delayed() {
        let tcp = tcp(dctcp(), 2);
        let mut receiver = Receiver::new(100);
        let mut take = |seq, flags| take(&mut receiver, &tcp, seq, flags);
        assert_eq!(take(0, NO), []);
        assert_eq!(take(1, NO), [(2, false)], "two packets, one ACK");
        assert_eq!(take(2, NO), []);
        assert_eq!(take(3, Flags::CE), [(3, false)], "the mark changed: packet 2 at once");
        assert_eq!(take(4, Flags::CE), [(5, true)], "3 and 4");
        assert_eq!(take(5, Flags::CE), []);
        assert_eq!(take(6, NO), [(6, true)], "changed back: packet 5 at once");
        assert_eq!(take(7, NO), [(8, false)]);
        assert_eq!(take(8, Flags::CE), [], "nothing waits when it changes");
    }

    /// RFC 3168, 6.1.3: the receiver "sends ECN-Echo in all subsequent ACKs until it receives a
    /// CWR packet"; a CWR packet that is marked itself starts it again.
    #[test]
    fn ecn_star_repeats_the_echo_until_the_window_is_cut() {
        let tcp = tcp(EcnStar, 1);
        let mut receiver = Receiver::new(100);
        let mut take = |seq, flags| take(&mut receiver, &tcp, seq, flags);
        assert_eq!(take(0, NO), [(1, false)]);
        assert_eq!(take(1, Flags::CE), [(2, true)]);
        assert_eq!(take(2, NO), [(3, true)]);
        assert_eq!(take(3, Flags::CWR), [(4, false)]);
        assert_eq!(take(4, NO), [(5, false)]);
        assert_eq!(take(5, Flags::CE), [(6, true)]);
        assert_eq!(take(6, Flags::CWR.with(Flags::CE)), [(7, true)]);
    }

    /// RFC 5681, 4.2: "A TCP receiver SHOULD send an immediate duplicate ACK when an
    /// out-of-order segment arrives" and "an immediate ACK when the incoming segment fills in
    /// all or part of a gap in the sequence space"; otherwise within the delay.
    #[test]
    fn acks_wait_only_for_packets_in_order() {
        let tcp = tcp(Reno, 2);
        let mut receiver = Receiver::new(100);
        assert_eq!(take(&mut receiver, &tcp, 0, NO), []);
        assert_eq!(receiver.deadline(), tcp.settings.ack_delay);
        let mut acks = 0;
        receiver.on_timer(&tcp, tcp.settings.ack_delay, |ack| {
            assert_eq!(ack.seq, 1);
            acks += 1;
        });
        assert_eq!((acks, receiver.deadline()), (1, Time::MAX));
        assert_eq!(take(&mut receiver, &tcp, 2, NO), [(1, false)], "out of order");
        assert_eq!(take(&mut receiver, &tcp, 1, NO), [(3, false)], "fills the gap");
        assert_eq!(take(&mut receiver, &tcp, 1, NO), [(3, false)], "a copy");
    }

    /// RFC 2018, 4: "The first SACK block MUST specify the contiguous block of data containing
    /// the segment which triggered this ACK".
    #[test]
    fn the_sack_block_holds_the_packet_that_caused_it() {
        let tcp = tcp(Reno, 1);
        let mut receiver = Receiver::new(100);
        let blocks: Vec<_> = [3, 5, 4, 1, 0]
            .into_iter()
            .map(|seq| {
                let mut block = 0..0;
                receiver.on_data(&tcp, Time::ZERO, &data(seq, NO), |ack| block = ack.sack_block());
                block
            })
            .collect();
        assert_eq!(blocks, [3..4, 5..6, 3..6, 1..2, 0..0]);
    }
}
