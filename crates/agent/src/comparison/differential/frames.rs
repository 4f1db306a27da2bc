//! Random frames of many flows, with what a parser must find in each.

use etherparse::{
    EtherType, IpFragOffset, IpNumber, Ipv4Header, Ipv6FlowLabel, Ipv6Header, TcpHeader, UdpHeader,
};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

pub(super) const FIN: u8 = 1;
pub(super) const SYN: u8 = 2;
pub(super) const RST: u8 = 4;

/// A frame, and what a parser must find in it.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) bytes: Vec<u8>,
    pub(super) mark: u32,
    pub(super) gso_size: u32,
    /// `None` if the frame must be left alone, whatever the rule.
    pub(super) truth: Option<Truth>,
    /// The offset of the outer IP header.
    l3: usize,
}

/// The IP version, addresses, ports, protocol and VXLAN network, which identify a flow.
pub(super) type FlowName = (u8, usize, u16, u16, u8, u32);

/// What a parser must find in a packet.
#[derive(Clone, Debug)]
pub(super) struct Truth {
    pub(super) flow: FlowName,
    pub(super) destination: usize,
    pub(super) is_ipv6: bool,
    pub(super) payload: u32,
    pub(super) seq: u32,
    pub(super) flags: u8,
    pub(super) is_tcp: bool,
    pub(super) outer_dscp: u8,
}

impl Frame {
    /// The number of packets on the wire. The segments of a super-packet count one by one.
    pub(super) fn wire_packets(&self) -> u32 {
        let payload = self.truth.as_ref().map_or(0, |truth| truth.payload);
        if self.gso_size == 0 { 1 } else { payload.div_ceil(self.gso_size) }
    }

    /// The frame with this code point in its outer header. The checksum is correct, and the ECN
    /// bits are unchanged.
    pub(super) fn tagged(&self, code_point: Option<u8>) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        let Some(code_point) = code_point else { return bytes };
        let header = &mut bytes[self.l3..];
        if header[0] >> 4 == 4 {
            header[1] = code_point << 2 | (header[1] & 3);
            header[10..12].fill(0);
            let words = header[..usize::from(header[0] & 15) * 4].chunks(2);
            let sum: u32 = words.map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
            let folded = (sum & 0xffff) + (sum >> 16);
            let folded = !((folded & 0xffff) + (folded >> 16)) as u16;
            header[10..12].copy_from_slice(&folded.to_be_bytes());
        } else {
            let class = code_point << 2 | (header[1] >> 4 & 3);
            header[0] = 0x60 | class >> 4;
            header[1] = class << 4 | (header[1] & 15);
        }
        bytes
    }
}

/// The sending side of many flows.
pub(super) struct Frames {
    next_seq: Vec<u32>,
    /// For each flow, the last sequence number that was sent again, and the time of the last packet.
    again: Vec<u32>,
    last_sent: Vec<u64>,
}

/// A pause, in nanoseconds, that a sender's timer may have ended.
const SILENCE: u64 = 9_000_000;

const FLOWS: usize = 3000;
/// The number of flows that send most of the packets.
const BUSY: usize = 40;
const HOSTS: usize = 16;

struct Sending {
    index: usize,
    is_ipv6: bool,
    is_tcp: bool,
    from: usize,
    to: usize,
    ports: (u16, u16),
    network: Option<u32>,
}

impl Sending {
    fn numbered(index: usize) -> Sending {
        let ports = (1000 + (index % 61) as u16, if index.is_multiple_of(7) { 443 } else { 5001 });
        Sending {
            index,
            is_ipv6: index.is_multiple_of(3),
            is_tcp: !index.is_multiple_of(5),
            from: index / 16 % HOSTS,
            to: index % HOSTS,
            ports,
            network: (index % 4 == 1).then_some((index % 3) as u32),
        }
    }

    fn flow(&self) -> FlowName {
        (
            u8::from(self.is_ipv6),
            self.from * HOSTS + self.to,
            self.ports.0,
            self.ports.1,
            if self.is_tcp { 6 } else { 17 },
            self.network.unwrap_or(u32::MAX),
        )
    }
}

impl Frames {
    pub(super) fn new() -> Frames {
        // Start close to the wrap-around of sequence numbers.
        let next_seq: Vec<u32> =
            (0..FLOWS).map(|index| (index as u32 * 7919).wrapping_neg()).collect();
        Frames { again: next_seq.clone(), next_seq, last_sent: vec![0; FLOWS] }
    }

    pub(super) fn next(&mut self, random: &mut ChaCha8Rng, now: u64) -> Frame {
        // A few flows send most of the packets, so that they pass all thresholds.
        let index = if random.random_bool(0.9) {
            random.random_range(0..BUSY)
        } else {
            random.random_range(0..FLOWS)
        };
        let sending = Sending::numbered(index);
        if random.random_range(0..200) == 0 {
            return odd(random);
        }
        let fragment = random.random_range(0..50) == 0;
        let payload = match random.random_range(0..10) {
            0 => 0,
            1 => random.random_range(0..100),
            _ => random.random_range(1000..2800),
        };
        let gso_size = if !fragment && payload > 1448 { 1448 } else { 0 };
        let (seq, flags) = self.tcp(random, &sending, payload, now);
        let transport = transport(&sending, seq, flags, payload, random);
        let mut inner = ip(&sending, &transport, fragment, random);
        let mut truth = Truth {
            flow: sending.flow(),
            destination: sending.to,
            is_ipv6: sending.is_ipv6,
            payload: payload as u32,
            seq,
            flags,
            is_tcp: sending.is_tcp && !fragment,
            outer_dscp: 0,
        };
        if fragment {
            truth.flow.2 = 0;
            truth.flow.3 = 0;
            truth.payload = transport.len() as u32;
        }
        let mut ethertype = if sending.is_ipv6 { 0x86dd } else { 0x0800 };
        if let Some(network) = sending.network {
            let tunnelled = ethernet(ethertype, &inner, random);
            (ethertype, inner) = vxlan(network, &tunnelled, random);
        }
        let mut bytes = ethernet(ethertype, &inner, random);
        let l3 = bytes.len() - inner.len();
        truth.outer_dscp = dscp_of(&bytes[l3..]);
        let mut frame = Frame {
            mark: if random.random_range(0..30) == 0 { random.random() } else { 0x35 },
            gso_size,
            truth: Some(truth),
            l3,
            bytes: Vec::new(),
        };
        if gso_size == 0 && random.random_range(0..100) == 0 {
            // Truncate the frame: it is shorter than its IP header says.
            bytes.truncate(random.random_range(shortest(&bytes)..bytes.len()));
            frame.truth = None;
        } else if gso_size == 0 && random.random_range(0..20) == 0 {
            // Pad the frame, as short Ethernet frames are padded.
            bytes.extend(vec![0xaa; random.random_range(0..40)]);
        }
        if frame.truth.is_some() {
            self.sent(sending.index, seq, payload as u32, flags, fragment);
        }
        frame.bytes = bytes;
        frame
    }

    /// A packet from the other end of a busy TCP flow, and the flow that it answers.
    pub(super) fn answer(random: &mut ChaCha8Rng) -> (Vec<u8>, FlowName) {
        let mut sending = Sending::numbered(random.random_range(0..BUSY));
        while !sending.is_tcp {
            sending = Sending::numbered(random.random_range(0..BUSY));
        }
        let flow = sending.flow();
        std::mem::swap(&mut sending.from, &mut sending.to);
        sending.ports = (sending.ports.1, sending.ports.0);
        let payload = if random.random_bool(0.5) { 0 } else { random.random_range(0..2000) };
        let transport = transport(&sending, random.random(), 0, payload, random);
        let mut packet = ip(&sending, &transport, false, random);
        let mut ethertype = if sending.is_ipv6 { 0x86dd } else { 0x0800 };
        if let Some(network) = sending.network {
            let tunnelled = ethernet(ethertype, &packet, random);
            (ethertype, packet) = vxlan(network, &tunnelled, random);
        }
        (ethernet(ethertype, &packet, random), flow)
    }

    /// The sequence number and flags of the flow's next packet.
    fn tcp(
        &mut self,
        random: &mut ChaCha8Rng,
        sending: &Sending,
        payload: usize,
        now: u64,
    ) -> (u32, u8) {
        if !sending.is_tcp {
            return (0, 0);
        }
        let next = self.next_seq[sending.index];
        let silence = now - self.last_sent[sending.index];
        self.last_sent[sending.index] = now;
        let is_timer = silence >= SILENCE && random.random_bool(0.5);
        let seq = match random.random_range(0..100) {
            // The same sequence number as last time, with or without new data in between, or
            // another one.
            0..50 if is_timer => self.again[sending.index],
            _ if is_timer => next.wrapping_sub(1448),
            0..6 => next.wrapping_sub(random.random_range(0..20_000)),
            6..10 => next.wrapping_sub(1448),
            10 => next.wrapping_add(random.random_range(0..5000)),
            _ => next,
        };
        if (next.wrapping_sub(seq) as i32) > 0 {
            self.again[sending.index] = seq;
        }
        let flags = match random.random_range(0..3000) {
            0..3 => SYN,
            3 => RST,
            4..8 => FIN,
            _ => 0,
        };
        (seq, if payload > 0 { flags & !SYN } else { flags })
    }

    fn sent(&mut self, index: usize, seq: u32, payload: u32, flags: u8, fragment: bool) {
        let end = seq.wrapping_add(payload);
        if !fragment && flags & RST == 0 && (end.wrapping_sub(self.next_seq[index]) as i32) > 0 {
            self.next_seq[index] = end;
        }
    }
}

/// The shortest frame that test runs accept: one with a whole IP header, unless VLAN headers hide
/// the header.
fn shortest(bytes: &[u8]) -> usize {
    match bytes[12..14] {
        [0x08, 0x00] => 34,
        [0x86, 0xdd] => 54,
        _ => 18,
    }
}

fn dscp_of(header: &[u8]) -> u8 {
    if header[0] >> 4 == 4 { header[1] >> 2 } else { (header[0] & 15) << 2 | header[1] >> 6 }
}

fn transport(
    sending: &Sending,
    seq: u32,
    flags: u8,
    payload: usize,
    random: &mut ChaCha8Rng,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    if sending.is_tcp {
        let mut tcp = TcpHeader::new(sending.ports.0, sending.ports.1, seq, 8192);
        tcp.ack = true;
        (tcp.fin, tcp.syn, tcp.rst) = (flags & FIN != 0, flags & SYN != 0, flags & RST != 0);
        if random.random_bool(0.5) {
            let stamp = etherparse::TcpOptionElement::Timestamp(random.random(), 1);
            tcp.set_options(&[stamp]).unwrap();
        }
        tcp.write(&mut bytes).unwrap();
    } else {
        let udp = UdpHeader {
            source_port: sending.ports.0,
            destination_port: sending.ports.1,
            length: (8 + payload) as u16,
            checksum: random.random(),
        };
        udp.write(&mut bytes).unwrap();
    }
    bytes.resize(bytes.len() + payload, 0x5a);
    bytes
}

fn ip(sending: &Sending, transport: &[u8], fragment: bool, random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = Vec::new();
    let protocol = if sending.is_tcp { IpNumber::TCP } else { IpNumber::UDP };
    let class: u8 = if random.random_bool(0.5) { random.random() } else { 0 };
    if sending.is_ipv6 {
        let extensions = extensions(protocol.0, fragment, random);
        let header = Ipv6Header {
            traffic_class: class,
            flow_label: Ipv6FlowLabel::try_new(random.random_range(0..0x000f_ffff)).unwrap(),
            payload_length: (extensions.1.len() + transport.len()) as u16,
            next_header: IpNumber(extensions.0),
            hop_limit: 64,
            source: address6(sending.from),
            destination: address6(sending.to),
        };
        header.write(&mut bytes).unwrap();
        bytes.extend(extensions.1);
    } else {
        let mut header = Ipv4Header::new(
            transport.len() as u16,
            64,
            protocol,
            [10, 0, 0, sending.from as u8],
            [10, 0, 0, sending.to as u8],
        )
        .unwrap();
        (header.dscp, header.ecn) =
            ((class >> 2).try_into().unwrap(), (class & 3).try_into().unwrap());
        header.identification = random.random();
        if fragment {
            header.dont_fragment = false;
            header.more_fragments = random.random_bool(0.5);
            let offset = if header.more_fragments { 0 } else { 185 };
            header.fragment_offset = IpFragOffset::try_new(offset).unwrap();
        }
        if random.random_range(0..20) == 0 {
            header.options = [1u8; 8].into();
            header.total_len += 8;
        }
        header.header_checksum = header.calc_header_checksum();
        header.write_raw(&mut bytes).unwrap();
    }
    bytes.extend(transport);
    bytes
}

fn address6(host: usize) -> [u8; 16] {
    let mut address = [0; 16];
    (address[0], address[15]) = (0xfd, host as u8);
    address
}

/// A chain of extension headers before `protocol`. Returns the number of the first header, and the
/// bytes.
fn extensions(protocol: u8, fragment: bool, random: &mut ChaCha8Rng) -> (u8, Vec<u8>) {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const AUTHENTICATION: u8 = 51;
    const DESTINATION: u8 = 60;
    let mut chain = Vec::new();
    if random.random_range(0..4) == 0 {
        let kinds = [HOP_BY_HOP, ROUTING, AUTHENTICATION, DESTINATION, FRAGMENT];
        for _ in 0..random.random_range(0..5) {
            chain.push(kinds[random.random_range(0..kinds.len())]);
        }
    }
    if fragment {
        chain.push(FRAGMENT);
    }
    let last = chain.len().wrapping_sub(1);
    let mut bytes = Vec::new();
    for (place, kind) in chain.iter().enumerate() {
        let next = chain.get(place + 1).copied().unwrap_or(protocol);
        match *kind {
            // A complete packet, unless this header is the one that makes it a fragment.
            FRAGMENT if fragment && place == last => bytes.extend([next, 0, 0, 1, 0, 0, 0, 7]),
            FRAGMENT => bytes.extend([next, 0, 0, 0, 0, 0, 0, 7]),
            AUTHENTICATION => {
                bytes.extend([next, 4]);
                bytes.extend([0; 22]);
            }
            _ => {
                let length = random.random_range(0..3u8);
                bytes.extend([next, length]);
                bytes.extend(vec![0; 6 + usize::from(length) * 8]);
            }
        }
    }
    (chain.first().copied().unwrap_or(protocol), bytes)
}

fn ethernet(ethertype: u16, payload: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = vec![2; 12];
    for _ in 0..[0, 0, 0, 1, 2][random.random_range(0..5)] {
        bytes.extend(EtherType::VLAN_TAGGED_FRAME.0.to_be_bytes());
        bytes.extend([0, 5]);
    }
    bytes.extend(ethertype.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Puts `frame` into a VXLAN packet. Returns the ethertype and the bytes of the outer IP packet.
fn vxlan(network: u32, frame: &[u8], random: &mut ChaCha8Rng) -> (u16, Vec<u8>) {
    let mut udp = Vec::new();
    let length = (16 + frame.len()) as u16;
    let header =
        UdpHeader { source_port: random.random(), destination_port: 4789, length, checksum: 0 };
    header.write(&mut udp).unwrap();
    udp.extend([8, 0, 0, 0]);
    udp.extend((network << 8).to_be_bytes());
    udp.extend(frame);
    let is_ipv6 = random.random_bool(0.3);
    let outer =
        Sending { index: 0, is_ipv6, is_tcp: false, from: 1, to: 2, ports: (0, 0), network: None };
    (if is_ipv6 { 0x86dd } else { 0x0800 }, ip(&outer, &udp, false, random))
}

/// A frame that must be left alone, because it has another protocol or a malformed header.
fn odd(random: &mut ChaCha8Rng) -> Frame {
    let sending = Sending::numbered(random.random_range(0..FLOWS) / 3 * 3 + 1);
    let mut packet = ip(&sending, &transport(&sending, 1, 0, 100, random), false, random);
    let mut ethertype = 0x0800;
    match random.random_range(0..5) {
        0 => ethertype = 0x0806,
        1 => packet[9] = 1,
        2 => packet[0] = 0x65,
        3 => packet[0] = 0x44,
        _ => packet[9] = 132,
    }
    let bytes = ethernet(ethertype, &packet, random);
    Frame { l3: bytes.len() - packet.len(), bytes, mark: 0, gso_size: 0, truth: None }
}
