//! Frames of packets as hosts send them, and what the other end sees of a frame.

use etherparse::{
    IpDscp, IpEcn, IpHeaders, IpNumber, Ipv4Extensions, Ipv4Header, NetSlice, PacketBuilder,
    PacketBuilderStep, SlicedPacket,
};
use flowsched_lab::address::{ipv4, mac};
use flowsched_lab::switch::form::Form;
use flowsched_schemes::Packet;
use flowsched_schemes::on_linux::code_point;
use flowsched_schemes::packet::{Codec, Flags, Header};
use flowsched_schemes::wire;
use flowsched_topology::HostId;

/// Bytes of an Ethernet header, and of an IPv4 header.
pub const ETHERNET: usize = 14;
const IP: usize = 20;
const UDP: usize = 8;
const TCP: usize = 20;
const VXLAN: usize = 8;
/// The UDP port of VXLAN (RFC 7348).
const VXLAN_PORT: u16 = 4_789;
/// The UDP port of the simulator's hosts.
const OWN_PORT: u16 = 41_001;
/// The TTL of packets for which the tagger sets none, such as acknowledgements.
const TTL: u8 = 64;
/// The last byte of the Ethernet address of switches.
const SWITCH: u8 = 0xff;

/// The frame of a packet that `from` sends in this form to ports with this many priorities. The frame
/// holds the packet's number.
pub fn frame<H: Header>(
    form: &Form<H>,
    from: HostId,
    packet: &Packet<H>,
    number: u32,
    priorities: usize,
) -> Vec<u8> {
    let to = HostId(packet.to);
    let outer = |ttl| around((from, to), packet, priorities, ttl);
    let tunnel = match form {
        Form::Tcp => {
            let payload = usize::from(packet.wire).saturating_sub(IP + TCP);
            return tcp(outer(TTL), packet, number, payload);
        }
        Form::Datagrams(codec) => {
            return udp(outer(TTL), OWN_PORT, &datagram(codec, packet, number));
        }
        Form::Tunnel(tunnel) => tunnel,
    };
    let outer = outer((tunnel.ttl)(&packet.header));
    let payload = usize::from(packet.wire).saturating_sub(IP + UDP + VXLAN + ETHERNET + IP + TCP);
    let inner = tcp(around((from, to), packet, priorities, TTL), packet, number, payload);
    let [a, b, c, last] = (tunnel.to_bits)(&packet.header).to_be_bytes();
    let [_, d, e, f] = packet.flow.to_be_bytes();
    udp(outer, VXLAN_PORT, &[&[8, a, b, c, d, e, f, last][..], &inner].concat())
}

/// The packet as it enters the network. A packet in a tunnel then has a TTL.
pub fn as_sent<H: Header>(form: &Form<H>, mut packet: Packet<H>) -> Packet<H> {
    if let Form::Tunnel(tunnel) = form
        && (tunnel.ttl)(&packet.header) == 0
    {
        packet.header = (tunnel.from_bits)((tunnel.to_bits)(&packet.header), TTL);
    }
    packet
}

/// The Ethernet and IPv4 headers of a packet's frame.
fn around<H>(
    (from, to): (HostId, HostId),
    packet: &Packet<H>,
    priorities: usize,
    ttl: u8,
) -> PacketBuilderStep<IpHeaders> {
    let ip = Ipv4Header {
        dscp: IpDscp::try_new(code_point(packet.priority.into(), priorities)).unwrap(),
        ecn: match (packet.flags.has(Flags::CE), packet.flags.has(Flags::ECT)) {
            (true, _) => IpEcn::CongestionExperienced,
            (false, true) => IpEcn::Ect0,
            (false, false) => IpEcn::NotEct,
        },
        source: ipv4(from).octets(),
        destination: ipv4(to).octets(),
        time_to_live: ttl,
        ..Ipv4Header::default()
    };
    PacketBuilder::ethernet2(mac(from), mac(to)).ip(IpHeaders::Ipv4(ip, Ipv4Extensions::default()))
}

fn udp(outer: PacketBuilderStep<IpHeaders>, port: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    outer.udp(port, port).write(&mut bytes, payload).unwrap();
    bytes
}

/// A TCP segment whose ports name its flow. An ACK has the two ports exchanged.
fn tcp<H>(
    outer: PacketBuilderStep<IpHeaders>,
    packet: &Packet<H>,
    number: u32,
    payload: usize,
) -> Vec<u8> {
    let ports = (10_000 + packet.flow as u16, 5_000);
    let (source, destination) =
        if packet.flags.has(Flags::ACK) { (ports.1, ports.0) } else { ports };
    let mut bytes = Vec::new();
    let segment = outer.tcp(source, destination, number, 1_000);
    segment.write(&mut bytes, &vec![0; payload]).unwrap();
    bytes
}

/// The UDP payload of a packet of the simulator's hosts. The number comes after the header.
fn datagram<H: Header>(codec: &Codec<H>, packet: &Packet<H>, number: u32) -> Vec<u8> {
    let head = head(codec);
    let length = usize::from(packet.wire).saturating_sub(IP + UDP).max(head + 4);
    let mut bytes = vec![0; length];
    assert!(wire::write(packet, codec, &mut bytes));
    bytes[head..head + 4].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// Bytes of such a packet without its payload.
fn head<H>(codec: &Codec<H>) -> usize {
    wire::PACKET_BYTES + codec.bytes
}

/// A scheme's header as bytes; none if it has no place in frames.
pub fn header_bytes<H: Header>(form: &Form<H>, header: &H) -> Vec<u8> {
    match form {
        Form::Tcp => Vec::new(),
        Form::Datagrams(codec) => {
            let mut bytes = vec![0; codec.bytes];
            (codec.write)(header, &mut bytes);
            bytes
        }
        Form::Tunnel(tunnel) => {
            let bits = (tunnel.to_bits)(header).to_be_bytes();
            [&bits[..], &[(tunnel.ttl)(header)]].concat()
        }
    }
}

/// What can be seen of a frame.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    /// The frame without what the network may change. Of a switch's message, only the receiver's address.
    kept: Vec<u8>,
    is_marked: bool,
    /// The part that a host's protocol reads: the packet with its header, or the bits of VXLAN and the
    /// TTL.
    head: Vec<u8>,
}

/// Looks at a frame of this form, whose checksum must be right. In a tunnel, a frame without UDP is one that left it.
pub fn look<H: Header>(form: &Form<H>, frame: &[u8]) -> Seen {
    let parsed = SlicedPacket::from_ethernet(frame).unwrap();
    let Some(NetSlice::Ipv4(ip)) = parsed.net else { panic!("no IPv4") };
    let header = ip.header().to_header();
    assert_eq!(header.header_checksum, header.calc_header_checksum());
    let is_marked = header.ecn == IpEcn::CongestionExperienced;
    let mut kept = frame.to_vec();
    kept[ETHERNET + 1] &= !3;
    kept[ETHERNET + 10..ETHERNET + 12].fill(0);
    let is_udp = header.protocol == IpNumber::UDP;
    let head = if is_udp { take_head(form, &mut kept) } else { Vec::new() };
    if is_of_switch(frame) {
        kept.truncate(6);
    }
    Seen { kept, is_marked, head }
}

/// Cuts out of a UDP frame what switches may write: the scheme's header, its TTL and the checksum of UDP.
fn take_head<H: Header>(form: &Form<H>, frame: &mut [u8]) -> Vec<u8> {
    let udp = ETHERNET + IP;
    frame[udp + 6..udp + UDP].fill(0);
    let length = match form {
        Form::Tcp => return Vec::new(),
        Form::Tunnel(_) => VXLAN,
        Form::Datagrams(codec) => head(codec),
    };
    let place = &mut frame[udp + UDP..udp + UDP + length];
    let mut head = place.to_vec();
    place.fill(0);
    if matches!(form, Form::Tunnel(_)) {
        head.push(frame[ETHERNET + 8]);
        frame[ETHERNET + 8] = 0;
    }
    head
}

/// Whether a switch made the frame.
pub fn is_of_switch(frame: &[u8]) -> bool {
    frame[ETHERNET - 3] == SWITCH
}

/// What is seen of the frame `sent` when its packet arrives with the network's changes.
pub fn arrived<H: Header>(form: &Form<H>, sent: &[u8], packet: &Packet<H>) -> Seen {
    let Seen { kept, head, .. } = look(form, sent);
    let is_marked = packet.flags.has(Flags::CE);
    let head = match form {
        Form::Datagrams(codec) => {
            let mut packet = *packet;
            packet.seq = wire::read(codec, &head).unwrap().seq;
            let mut bytes = vec![0; head.len()];
            wire::write(&packet, codec, &mut bytes);
            bytes
        }
        Form::Tunnel(_) if !head.is_empty() => {
            let vni = u32::from_be_bytes([0, head[4], head[5], head[6]]);
            vxlan(form, vni, packet)
        }
        // The kernel's TCP, seen without a tunnel.
        Form::Tunnel(_) | Form::Tcp => head,
    };
    Seen { kept, is_marked, head }
}

/// What is seen of a message of a switch.
pub fn message<H: Header>(form: &Form<H>, packet: &Packet<H>) -> Seen {
    let kept = mac(HostId(packet.to)).to_vec();
    Seen { kept, is_marked: packet.flags.has(Flags::CE), head: vxlan(form, packet.flow, packet) }
}

/// The VXLAN header of a packet, and the TTL of the header around it.
fn vxlan<H: Header>(form: &Form<H>, vni: u32, packet: &Packet<H>) -> Vec<u8> {
    let bytes = header_bytes(form, &packet.header);
    let [_, d, e, f] = vni.to_be_bytes();
    vec![8, bytes[0], bytes[1], bytes[2], d, e, f, bytes[3], bytes[4]]
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Seen { kept, is_marked, head } = self;
        let kept = &kept[..kept.len().min(70)];
        write!(f, "marked {is_marked}, head {head:?}, {kept:?}")
    }
}
