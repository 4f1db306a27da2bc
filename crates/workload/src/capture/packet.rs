//! One captured packet: who sent how much payload to whom.

use std::net::IpAddr;

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use pcap_parser::Linktype;

/// One direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Connection {
    pub src: IpAddr,
    pub dst: IpAddr,
    ports: (u16, u16),
    is_tcp: bool,
}

/// A packet that carries payload, or begins a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    pub connection: Connection,
    /// In bytes, whether captured or not.
    pub payload: u32,
    pub protocol: Protocol,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Tcp { syn: bool, sequence: u32 },
    Udp,
}

const COOKED_2: Linktype = Linktype(276);

/// More than any packet carries, and little enough for TCP's sequence numbers to tell what comes
/// first.
const LONGEST: u32 = 1 << 24;

/// The packet in `data`, of which `length` bytes were on the wire. The outer `None` stands for a
/// link type that is not known, the inner one for a packet that does not count.
pub(super) fn parse(link: Linktype, data: &[u8], length: u32) -> Option<Option<Packet>> {
    // Parses what follows a cooked header. Its type is at `type_at`, and the header ends at
    // `start`.
    let cooked = |type_at: usize, start: usize| {
        let ether_type = data.get(type_at..type_at + 2)?;
        let ether_type = u16::from_be_bytes([ether_type[0], ether_type[1]]);
        Some(LaxSlicedPacket::from_ether_type(EtherType(ether_type), data.get(start..)?))
    };
    let sliced = match link {
        Linktype::ETHERNET => LaxSlicedPacket::from_ethernet(data).ok(),
        Linktype::RAW | Linktype(12) => LaxSlicedPacket::from_ip(data).ok(),
        Linktype::LINUX_SLL => cooked(14, 16),
        COOKED_2 => cooked(0, 20),
        _ => return None,
    };
    Some(sliced.and_then(|sliced| packet(&sliced, data, length)))
}

fn packet(sliced: &LaxSlicedPacket<'_>, data: &[u8], length: u32) -> Option<Packet> {
    let place = |slice: &[u8]| (slice.as_ptr() as usize).checked_sub(data.as_ptr() as usize);
    // Where the IP header begins, and how long the IP packet says that it is.
    let (src, dst, begin, declared): (IpAddr, IpAddr, usize, usize) = match sliced.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let begin = place(header.slice())?;
            let declared = usize::from(header.total_len());
            (header.source_addr().into(), header.destination_addr().into(), begin, declared)
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let begin = place(header.slice())?;
            let payload = usize::from(header.payload_length());
            let declared = if payload == 0 { 0 } else { 40 + payload };
            (header.source_addr().into(), header.destination_addr().into(), begin, declared)
        }
        LaxNetSlice::Arp(_) => return None,
    };
    if src == dst {
        return None;
    }
    // A card that segments packets itself gets some that are too long for the length field, which
    // is then 0.
    let declared = if declared == 0 { (length as usize).checked_sub(begin)? } else { declared };
    let end = begin + declared;
    let (ports, headers, protocol) = match sliced.transport.as_ref()? {
        TransportSlice::Tcp(tcp) => {
            let ports = (tcp.source_port(), tcp.destination_port());
            let protocol = Protocol::Tcp { syn: tcp.syn(), sequence: tcp.sequence_number() };
            (ports, place(tcp.slice())? + tcp.header_slice().len(), protocol)
        }
        TransportSlice::Udp(udp) => {
            let ports = (udp.source_port(), udp.destination_port());
            (ports, place(udp.slice())? + udp.header_slice().len(), Protocol::Udp)
        }
        _ => return None,
    };
    let payload = u32::try_from(end.saturating_sub(headers)).ok();
    let payload = payload.filter(|payload| *payload <= LONGEST)?;
    let is_tcp = matches!(protocol, Protocol::Tcp { .. });
    Some(Packet { connection: Connection { src, dst, ports, is_tcp }, payload, protocol })
}
