//! Frames that look like simulated packets.
//!
//! A TCP packet becomes Ethernet, IPv4 and TCP. Its DSCP encodes its priority. Its ECN field is ECT(0), CE,
//! or 0 if the packet is not ECN-capable. Sequence and acknowledgement numbers count bytes from 1 in each
//! flow. Every flow has its own ports. The header of a scheme, such as PDQ's, becomes an experimental TCP
//! option (RFC 4727) of the same size, filled with zeros; if it does not fit, it becomes the beginning of
//! the payload. A message of a switch becomes UDP, from an address that no host has. The payload is zeros.

use etherparse::{
    EtherType, Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, UdpHeader,
};
use flowsched_schemes::Packet;
use flowsched_schemes::on_linux::code_point;
use flowsched_schemes::packet::Flags;
use flowsched_topology::HostId;
use flowsched_units::{PACKET_HEADER, PACKET_PAYLOAD};
use flowsched_workload::Flow;

use crate::file::SNAP_LENGTH;

/// The first port of senders and the number of their ports: dynamic ones, which Wireshark gives to no protocol.
const SENDERS: (u32, u32) = (57_344, 8_192);
/// The first port of receivers and the number of their ports, which Wireshark gives to no protocol either.
const RECEIVERS: (u32, u32) = (41_000, 3_000);
/// The kind of experimental TCP options (RFC 4727).
const EXPERIMENT: u8 = 253;
/// The maximum length of TCP options in bytes.
const MOST_OPTIONS: usize = 40;
/// The source address of switches' messages.
const SWITCHES: [u8; 4] = [10, 255, 255, 254];
/// The UDP port of switches' messages: an experimental port (RFC 4727).
const MESSAGES: u16 = 1_021;
const HOPS: u8 = 64;
const WINDOW: u16 = u16::MAX;
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Makes the frames of simulated packets.
#[derive(Debug)]
pub(crate) struct Frames<'a> {
    flows: &'a [Flow],
    priorities: usize,
    frame: Vec<u8>,
}

impl<'a> Frames<'a> {
    /// Frames for packets of these flows, at ports with this many priorities.
    pub(crate) fn new(flows: &'a [Flow], priorities: usize) -> Frames<'a> {
        Frames { flows, priorities, frame: Vec::new() }
    }

    /// The first [`SNAP_LENGTH`] bytes of a packet's frame, and the length of the whole frame in bytes.
    /// `header` is the size of the scheme's own header in bytes.
    pub(crate) fn make(&mut self, packet: &Packet, header: u32) -> (&[u8], usize) {
        let flow = self.flows[packet.flow as usize];
        let is_back = packet.flags.has(Flags::ACK);
        let from = if is_back { flow.dst } else { flow.src };
        let is_message = packet.flags.has(Flags::MESSAGE);
        let source = if is_message { SWITCHES } else { address(from) };
        let protocol = if is_message { IpNumber::UDP } else { IpNumber::TCP };
        let rest = packet.wire.saturating_sub(Ipv4Header::MIN_LEN_U16);
        let mut ip = Ipv4Header {
            dscp: IpDscp::try_new(code_point(packet.priority.into(), self.priorities))
                .unwrap_or_default(),
            ecn: ecn(packet.flags),
            time_to_live: HOPS,
            protocol,
            source,
            destination: address(HostId(packet.to)),
            dont_fragment: true,
            total_len: rest + Ipv4Header::MIN_LEN_U16,
            ..Ipv4Header::default()
        };
        ip.header_checksum = ip.calc_header_checksum();
        let ethernet = Ethernet2Header {
            source: mac(source),
            destination: mac(ip.destination),
            ether_type: EtherType::IPV4,
        };
        self.frame.clear();
        self.frame.extend_from_slice(&ethernet.to_bytes());
        self.frame.extend_from_slice(&ip.to_bytes());
        if is_message {
            self.add_udp(&ip, rest);
        } else {
            self.add_tcp(packet, &flow, &ip, rest, header);
        }
        let length = Ethernet2Header::LEN + usize::from(ip.total_len);
        self.frame.resize(length.min(SNAP_LENGTH), 0);
        (&self.frame, length)
    }

    fn add_udp(&mut self, ip: &Ipv4Header, rest: u16) {
        let mut udp = UdpHeader {
            source_port: MESSAGES,
            destination_port: MESSAGES,
            length: rest,
            checksum: 0,
        };
        let payload = &ZEROS[..usize::from(rest.saturating_sub(UdpHeader::LEN_U16))];
        udp.checksum = udp.calc_checksum_ipv4(ip, payload).unwrap_or_default();
        self.frame.extend_from_slice(&udp.to_bytes());
    }

    fn add_tcp(&mut self, packet: &Packet, flow: &Flow, ip: &Ipv4Header, rest: u16, header: u32) {
        let mut tcp = tcp_header(packet, flow);
        let header = header as usize;
        let has_room = packet.wire as usize >= PACKET_HEADER as usize + header;
        if has_room && (2..=MOST_OPTIONS).contains(&header) && header.is_multiple_of(4) {
            let mut option = [0; MOST_OPTIONS];
            option[..2].copy_from_slice(&[EXPERIMENT, header as u8]);
            // Cannot fail: the length is at most `MOST_OPTIONS` and a multiple of four.
            let _ = tcp.set_options_raw(&option[..header]);
        }
        let payload = &ZEROS[..usize::from(rest).saturating_sub(tcp.header_len())];
        tcp.checksum = tcp.calc_checksum_ipv4(ip, payload).unwrap_or_default();
        self.frame.extend_from_slice(&tcp.to_bytes());
    }
}

fn tcp_header(packet: &Packet, flow: &Flow) -> TcpHeader {
    let Packet { flags, .. } = *packet;
    let is_back = flags.has(Flags::ACK);
    let sender = port(SENDERS, flow.id % SENDERS.1);
    let receiver = port(RECEIVERS, flow.id / SENDERS.1);
    let (source_port, destination_port) =
        if is_back { (receiver, sender) } else { (sender, receiver) };
    let syn = flags.has(Flags::SYN);
    let segments = u64::from(packet.seq) * PACKET_PAYLOAD;
    // The SYN has number 0, so that the first byte has number 1.
    let number = (1 + segments.min(flow.size.get())) as u32;
    let own = u32::from(!syn);
    TcpHeader {
        source_port,
        destination_port,
        sequence_number: if is_back || syn { own } else { number },
        acknowledgment_number: if is_back { number } else { u32::from(!syn) },
        ack: is_back || !syn,
        syn,
        fin: flags.has(Flags::TERM),
        ece: flags.has(Flags::ECE),
        cwr: flags.has(Flags::CWR),
        window_size: WINDOW,
        ..TcpHeader::default()
    }
}

fn port((first, count): (u32, u32), number: u32) -> u16 {
    (first + number % count) as u16
}

fn ecn(flags: Flags) -> IpEcn {
    if flags.has(Flags::CE) {
        IpEcn::CongestionExperienced
    } else if flags.has(Flags::ECT) {
        IpEcn::Ect0
    } else {
        IpEcn::NotEct
    }
}

/// The address of a host: host 0 has 10.0.0.1, host 1 has 10.0.0.2, and so on.
fn address(host: HostId) -> [u8; 4] {
    let [_, a, b, c] = (host.0 + 1).to_be_bytes();
    [10, a, b, c]
}

fn mac(address: [u8; 4]) -> [u8; 6] {
    let [a, b, c, d] = address;
    [2, 0, a, b, c, d]
}

#[cfg(test)]
mod tests {
    use etherparse::{NetSlice, SlicedPacket, TransportSlice};
    use flowsched_units::{Bytes, Time};

    use super::*;

    const FLOW: Flow = Flow::new(0, HostId(3), HostId(300), Bytes::new(4_000), Time::ZERO);

    /// The whole frame of a packet, with the payload that the capture cuts off.
    fn made(packet: Packet, header: u32) -> Vec<u8> {
        let flows = [FLOW];
        let mut frames = Frames::new(&flows, 8);
        let (frame, length) = frames.make(&packet, header);
        assert!(frame.len() <= SNAP_LENGTH && length == packet.wire as usize + 14);
        let mut whole = frame.to_vec();
        whole.resize(length, 0);
        whole
    }

    #[test]
    fn data_has_the_priority_the_mark_and_the_place_of_its_bytes() {
        let mut packet = Packet::data(0, 300, 2, 1120, Flags::ECT.with(Flags::CE));
        packet.priority = 2;
        let frame = made(packet, 0);
        let parsed = SlicedPacket::from_ethernet(&frame).unwrap();
        let Some(NetSlice::Ipv4(ip)) = &parsed.net else { panic!("no IPv4") };
        let header = ip.header().to_header();
        assert_eq!((header.dscp.value(), header.ecn.value(), header.total_len), (40, 3, 1120));
        assert_eq!((header.source, header.destination), ([10, 0, 0, 4], [10, 0, 1, 45]));
        assert_eq!(header.header_checksum, header.calc_header_checksum());
        let Some(TransportSlice::Tcp(tcp)) = &parsed.transport else { panic!("no TCP") };
        assert_eq!((tcp.sequence_number(), tcp.payload().len()), (2_921, 1_080));
        let sum = tcp.to_header().calc_checksum_ipv4(&header, tcp.payload()).unwrap();
        assert_eq!(tcp.checksum(), sum);
    }

    #[test]
    fn an_ack_comes_back_on_the_same_ports() {
        let frame = made(Packet::data(0, 3, 3, 40, Flags::ACK.with(Flags::ECE)), 0);
        let parsed = SlicedPacket::from_ethernet(&frame).unwrap();
        let Some(TransportSlice::Tcp(tcp)) = &parsed.transport else { panic!("no TCP") };
        assert!(tcp.ack() && tcp.ece() && !tcp.syn());
        assert_eq!((tcp.source_port(), tcp.destination_port()), (41_000, 57_344));
        assert_eq!(tcp.acknowledgment_number(), 4_001, "the last segment is short");
    }

    #[test]
    fn a_header_of_a_scheme_is_an_option_or_payload() {
        for (header, options, payload) in [(16, 16, 1_460), (18, 0, 1_478), (50, 0, 1_510)] {
            let packet = Packet::data(0, 300, 0, 1_500 + header, Flags::default());
            let frame = made(packet, header.into());
            let parsed = SlicedPacket::from_ethernet(&frame).unwrap();
            let Some(TransportSlice::Tcp(tcp)) = &parsed.transport else { panic!("no TCP") };
            assert_eq!((tcp.options().len(), tcp.payload().len()), (options, payload));
        }
    }

    #[test]
    fn a_message_is_of_a_switch() {
        let frame = made(Packet::data(0, 3, 0, 90, Flags::MESSAGE), 50);
        let parsed = SlicedPacket::from_ethernet(&frame).unwrap();
        let Some(NetSlice::Ipv4(ip)) = &parsed.net else { panic!("no IPv4") };
        assert_eq!((ip.header().source(), ip.header().destination()), (SWITCHES, [10, 0, 0, 4]));
        assert!(matches!(parsed.transport, Some(TransportSlice::Udp(_))));
    }
}
