//! Tests what an edge does with the packets of a host. The test takes the host's place.

use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::AsFd;
use std::time::Duration;

use etherparse::{IpEcn, IpHeaders, Ipv4Extensions, Ipv4Header, PacketBuilder};
use flowsched_schemes::controller::epn::header::{Dp, EpnHeader, INITIAL_TTL, Tp};
use flowsched_units::Bytes;
use proptest::prelude::*;

use super::*;
use crate::address::mac;

const HOST: HostId = HostId(0);
const PEER: HostId = HostId(1);
/// The host's flow. Its connection carried 5,000 bytes of another flow before.
const FLOW: u32 = 3;
const BEFORE: u32 = 5_000;
const SIZE: u64 = 4 * PACKET_PAYLOAD;
/// The sequence number of the first byte of the connection: it wraps around within the flow.
const FIRST: u32 = u32::MAX - BEFORE - 2_000;
const ECT: u8 = 2;
const NOT_ECT: u8 = 0;

/// A tagger whose header shows what the edge says: the packets that remain, and whether one is resent. A message
/// demotes its flow.
struct Mirror;

impl Tagging<EpnHeader> for Mirror {
    type Flow = bool;

    fn tag(
        &self,
        is_demoted: &mut bool,
        _departure: &Departure,
        work: &Work,
        packet: &mut Packet<EpnHeader>,
    ) {
        packet.priority = u8::from(*is_demoted);
        packet.header.dp = Dp::of_level(work.remaining as u16);
        packet.header.is_sampled = packet.flags.has(Flags::RETRANSMISSION).into();
        packet.header.ttl = INITIAL_TTL;
    }

    fn on_message(&self, is_demoted: &mut bool, message: &Packet<EpnHeader>) {
        *is_demoted = message.header.tp == Tp::LOW;
    }
}

/// A cable whose host is the test.
struct Host {
    sends: VecDeque<Vec<u8>>,
    file: File,
}

impl Cable for Host {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(frame) = self.sends.pop_front() else { return Ok(None) };
        buffer[..frame.len()].copy_from_slice(&frame);
        Ok(Some(frame.len()))
    }

    fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn tunnel() -> Tunnel<EpnHeader> {
    EpnHeader::TUNNEL.unwrap()
}

fn address(host: HostId) -> SocketAddr {
    (ipv4(host), 1_000 + host.0 as u16).into()
}

/// The edge of a host that has opened its connection and sends [`FLOW`] on it.
fn edge() -> Edge<Host, Mirror, EpnHeader> {
    let bursts = Arc::new(Bursts::default());
    let (before, size) = (BEFORE.into(), Bytes::new(SIZE));
    bursts.begin(address(HOST), Burst { flow: FLOW, before, size, deadline: None });
    let clock = Clock::starting_in(Duration::ZERO);
    let shared = Shared { tagger: Mirror, tunnel: tunnel(), bursts, priorities: 2, clock };
    let file = File::open("/dev/null").unwrap();
    let cable = Host { sends: VecDeque::new(), file };
    let mut edge = Edge::new(cable, HOST, Rate::from_gbps(1), Rc::new(shared));
    let (sequence, is_syn) = (FIRST.wrapping_sub(1), true);
    let syn = tcp(HOST, &Fields { sequence, is_syn, ..Fields::default() });
    assert_eq!(leave(&mut edge, syn).unwrap().0.vni, NO_FLOW);
    edge
}

/// The fields of a segment that a test sets.
#[derive(Default)]
struct Fields {
    ecn: u8,
    sequence: u32,
    acknowledges: Option<u32>,
    is_syn: bool,
    payload: usize,
}

/// A segment from `from` to the other host.
fn tcp(from: HostId, fields: &Fields) -> Vec<u8> {
    let to = if from == HOST { PEER } else { HOST };
    let ip = Ipv4Header {
        ecn: IpEcn::try_new(fields.ecn).unwrap(),
        source: ipv4(from).octets(),
        destination: ipv4(to).octets(),
        time_to_live: 64,
        ..Ipv4Header::default()
    };
    let ports = (address(from).port(), address(to).port());
    let mut builder = PacketBuilder::ethernet2(mac(from), mac(to))
        .ip(IpHeaders::Ipv4(ip, Ipv4Extensions::default()))
        .tcp(ports.0, ports.1, fields.sequence, 1_000);
    if fields.is_syn {
        builder = builder.syn();
    }
    if let Some(number) = fields.acknowledges {
        builder = builder.ack(number);
    }
    let mut frame = Vec::new();
    builder.write(&mut frame, &vec![7; fields.payload]).unwrap();
    frame
}

/// A full data segment of the host. Its first byte is `place` bytes after the connection's first one.
fn data(place: u32) -> Vec<u8> {
    let (sequence, payload) = (FIRST.wrapping_add(place), PACKET_PAYLOAD as usize);
    tcp(HOST, &Fields { ecn: ECT, sequence, payload, ..Fields::default() })
}

/// Sends a frame from the host. Returns the header, the priority's code point and the inner frame that leave the
/// edge.
fn leave(edge: &mut Edge<Host, Mirror, EpnHeader>, frame: Vec<u8>) -> Option<(Bits, u8, Vec<u8>)> {
    edge.cable.sends.push_back(frame);
    let mut buffer = [0; LONGEST_FRAME];
    let length = edge.receive(&mut buffer).unwrap()?;
    let (around, inner) = buffer[..length].split_at(AROUND);
    Some((Bits::read(&around[AROUND - 8..]).unwrap(), around[ETHERNET + 1] >> 2, inner.to_vec()))
}

/// Remaining packets and whether the packet was sent before, as the tagger saw it.
fn seen(bits: Bits) -> (Dp, bool) {
    let header = (tunnel().from_bits)(bits.reserved, 64);
    (header.dp, header.is_sampled.is_set())
}

/// Hands the edge a frame of the peer: `inner` in VXLAN with this header and this ECN field. Returns what the host gets.
fn arrive(
    edge: &mut Edge<Host, Mirror, EpnHeader>,
    header: EpnHeader,
    ecn: u8,
    inner: &[u8],
) -> Option<Vec<u8>> {
    arrive_from(Some(PEER), edge, header, ecn, inner)
}

/// Hands the edge a frame of a host, or of a switch if `from` is `None`. Returns what the host gets.
fn arrive_from(
    from: Option<HostId>,
    edge: &mut Edge<Host, Mirror, EpnHeader>,
    header: EpnHeader,
    ecn: u8,
    inner: &[u8],
) -> Option<Vec<u8>> {
    let bits = Bits { vni: FLOW, reserved: (tunnel().to_bits)(&header) };
    let outer = Outer { from, to: HOST, dscp: 0, ecn, ttl: 60, bits };
    edge.arrive(vxlan::wrap(&outer, inner))
}

#[test]
fn data_leaves_with_its_flow_and_its_header() {
    let mut edge = edge();
    let frame = data(BEFORE);
    let (bits, dscp, inner) = leave(&mut edge, frame.clone()).unwrap();
    assert_eq!((bits.vni, dscp, inner), (FLOW, code_point(0, 2), frame));
    assert_eq!(seen(bits), (Dp::of_level(4), false));
    let (bits, ..) = leave(&mut edge, data(BEFORE + PACKET_PAYLOAD as u32)).unwrap();
    assert_eq!(seen(bits), (Dp::of_level(4), false), "nothing is acknowledged");
    let (bits, ..) = leave(&mut edge, data(BEFORE)).unwrap();
    assert_eq!(seen(bits), (Dp::of_level(4), true), "sent before");
}

#[test]
fn acknowledged_data_does_not_remain() {
    let mut edge = edge();
    let end = BEFORE + 2 * PACKET_PAYLOAD as u32;
    leave(&mut edge, data(BEFORE)).unwrap();
    leave(&mut edge, data(BEFORE + PACKET_PAYLOAD as u32)).unwrap();
    let acknowledges = Some(FIRST.wrapping_add(end));
    let ack = tcp(PEER, &Fields { acknowledges, ..Fields::default() });
    let received = arrive(&mut edge, EpnHeader::default(), NOT_ECT, &ack);
    assert_eq!(received, Some(ack), "the host gets the ACK");
    let (bits, ..) = leave(&mut edge, data(end)).unwrap();
    assert_eq!(seen(bits), (Dp::of_level(2), false));
}

#[test]
fn packets_before_and_after_the_flow_have_no_flow() {
    let mut edge = edge();
    for place in [BEFORE - 1, BEFORE + SIZE as u32] {
        assert_eq!(leave(&mut edge, data(place)).unwrap().0.vni, NO_FLOW, "{place}");
    }
    let pure_ack = tcp(HOST, &Fields { acknowledges: Some(1), ..Fields::default() });
    assert_eq!(leave(&mut edge, pure_ack).unwrap().0.vni, NO_FLOW);
}

#[test]
fn a_message_ends_at_the_edge_and_changes_the_tags() {
    let mut edge = edge();
    leave(&mut edge, data(BEFORE)).unwrap();
    let low = EpnHeader { tp: Tp::LOW, ..EpnHeader::default() };
    let mut demoted = |from| {
        assert_eq!(arrive_from(from, &mut edge, low, NOT_ECT, &data(BEFORE)), None);
        let (_, dscp, _) = leave(&mut edge, data(BEFORE + PACKET_PAYLOAD as u32)).unwrap();
        dscp == code_point(1, 2)
    };
    assert!(!demoted(Some(PEER)), "another host is no switch");
    assert!(demoted(None));
}

#[test]
fn a_host_gets_and_sends_nothing_under_another_address() {
    let mut edge = edge();
    let of_peer = tcp(PEER, &Fields { payload: 10, ..Fields::default() });
    let to_peer = tcp(HOST, &Fields { payload: 10, ..Fields::default() });
    assert_eq!(arrive(&mut edge, EpnHeader::default(), NOT_ECT, &to_peer), None);
    assert_eq!(leave(&mut edge, of_peer.clone()), None);
    assert_eq!(arrive(&mut edge, EpnHeader::default(), NOT_ECT, &of_peer), Some(of_peer));
}

/// RFC 6040, 4.2: a mark of the outer header reaches a host that understands marks.
#[test]
fn marks_are_copied_to_packets_that_can_have_them() {
    let mut edge = edge();
    for (inner, outer, expected) in [(ECT, CE, CE), (ECT, ECT, ECT), (NOT_ECT, CE, NOT_ECT)] {
        let frame = tcp(PEER, &Fields { ecn: inner, payload: 10, ..Fields::default() });
        let received = arrive(&mut edge, EpnHeader::default(), outer, &frame).unwrap();
        let packet = SlicedPacket::from_ethernet(&received).unwrap();
        let Some(NetSlice::Ipv4(ip)) = packet.net else { panic!("IPv4") };
        let header = ip.header().to_header();
        assert_eq!((header.ecn.value(), received.len()), (expected, frame.len()));
        assert_eq!(header.header_checksum, header.calc_header_checksum());
    }
}

#[test]
fn only_tcp_leaves() {
    let mut edge = edge();
    let mut udp = Vec::new();
    PacketBuilder::ethernet2(mac(HOST), mac(PEER))
        .ipv4(ipv4(HOST).octets(), ipv4(PEER).octets(), 64)
        .udp(1, 2)
        .write(&mut udp, &[0; 20])
        .unwrap();
    assert_eq!(leave(&mut edge, udp.clone()), None);
    edge.cable.sends.push_back(udp);
    assert!(leave(&mut edge, data(BEFORE)).is_some(), "the next frame is not held back");
}

proptest! {
    /// Whatever the network or the host sends, the edge does not panic. A host gets nothing but TCP that is addressed to
    /// it, and sends nothing but TCP from its own address.
    #[test]
    fn no_frame_does_harm(
        changes in prop::collection::vec((0..100usize, any::<u8>()), 0..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut edge = edge();
        let bits = Bits { vni: FLOW, reserved: 0 };
        let outer = Outer { from: Some(PEER), to: HOST, dscp: 0, ecn: CE, ttl: 60, bits };
        let inner = tcp(PEER, &Fields { ecn: ECT, payload: 40, ..Fields::default() });
        let mut bytes = vxlan::wrap(&outer, &inner);
        for (place, byte) in changes {
            bytes[place] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let is_its_own = |frame: Vec<u8>| Segment::read(&frame).is_some_and(|it| it.to.ip() == ipv4(HOST));
        prop_assert!(edge.arrive(bytes.clone()).is_none_or(is_its_own));
        let sent = bytes.split_off(AROUND.min(bytes.len()));
        let is_from_it = |frame: &[u8]| Segment::read(frame).is_some_and(|it| it.from.ip() == ipv4(HOST));
        prop_assert!(leave(&mut edge, sent).is_none_or(|(.., inner)| is_from_it(&inner)));
    }
}
