//! Reads what the switch needs of a frame, and writes the mark (CE) and the TTL.
//!
//! A library parses. The switch ignores frames that it refuses, and those for no host of the lab.

use std::net::IpAddr;

use etherparse::{
    InternetSlice, Ipv4Header, Ipv4HeaderSlice, LinkSlice, SlicedPacket, TransportSlice,
};
use flowsched_topology::HostId;

use crate::address::{host_with_ip, host_with_mac};

/// The queue of each code point: 0 is the highest priority.
pub type Levels = [u8; 64];

/// Bits of the traffic class that belong to ECN (RFC 3168, section 5).
const ECN: u8 = 0b11;

/// What all packets of a flow in one direction have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowKey {
    /// The source and the destination.
    pub addresses: (IpAddr, IpAddr),
    /// The protocol's number.
    pub protocol: u8,
    /// The source's and the destination's port; 0 where there is none, or in a fragment.
    pub ports: (u16, u16),
}

impl FlowKey {
    /// The key of the flow's packets in the other direction.
    #[must_use]
    pub fn reversed(self) -> FlowKey {
        let FlowKey { addresses: (from, to), protocol, ports: (source, destination) } = self;
        FlowKey { addresses: (to, from), protocol, ports: (destination, source) }
    }
}

/// The bytes of a TCP connection that a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The sequence number of the first byte.
    pub first: u32,
    /// The number of bytes.
    pub bytes: u32,
}

/// The fields of a frame that the switch needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The host that the frame goes to.
    pub to: HostId,
    /// The frame's flow.
    pub key: FlowKey,
    /// Bytes of the IP packet, which is what the simulator counts.
    pub wire: u16,
    /// The differentiated services code point.
    pub dscp: u8,
    /// Whether it may be marked: ECT(0), ECT(1) or CE.
    pub is_ect: bool,
    /// Whether it is marked.
    pub is_marked: bool,
    /// The hops that the packet may still make.
    pub ttl: u8,
    /// The bytes of its TCP connection that the packet carries, if any.
    pub segment: Option<Segment>,
    /// Where the IP header begins in the frame.
    ip: usize,
    is_v4: bool,
    /// Where the UDP header begins in the frame, if there is one.
    udp: Option<usize>,
}

/// Bytes of a UDP header. The last two are the checksum.
const UDP: usize = 8;

impl Headers {
    /// Reads a frame of `from`. Returns `None` if it is malformed, has another sender, or is not for
    /// one of `hosts` hosts.
    pub fn read(frame: &[u8], from: HostId, hosts: u32) -> Option<Headers> {
        let packet = SlicedPacket::from_ethernet(frame).ok()?;
        let Some(LinkSlice::Ethernet2(ethernet)) = &packet.link else { return None };
        let (ip, addresses, protocol, wire, class, ttl) = match packet.net.as_ref()? {
            InternetSlice::Ipv4(slice) => {
                let header = slice.header();
                let class = header.dcp().value() << 2 | header.ecn().value();
                let addresses = (header.source_addr().into(), header.destination_addr().into());
                (
                    header.slice(),
                    addresses,
                    header.protocol().0,
                    header.total_len(),
                    class,
                    header.ttl(),
                )
            }
            InternetSlice::Ipv6(slice) => {
                let header = slice.header();
                let addresses = (header.source_addr().into(), header.destination_addr().into());
                let wire = u16::try_from(header.slice().len())
                    .ok()?
                    .checked_add(header.payload_length())?;
                (
                    header.slice(),
                    addresses,
                    slice.payload().ip_number.0,
                    wire,
                    header.traffic_class(),
                    header.hop_limit(),
                )
            }
            InternetSlice::Arp(_) => return None,
        };
        let to = host_with_ip(addresses.1).filter(|to| to.0 < hosts && *to != from)?;
        let is_from = host_with_ip(addresses.0) == Some(from);
        if !is_from || host_with_mac(ethernet.destination()) != Some(to) {
            return None;
        }
        let ports = packet.transport.as_ref().map_or((0, 0), ports);
        Some(Headers {
            to,
            key: FlowKey { addresses, protocol, ports },
            wire,
            dscp: class >> 2,
            is_ect: class & ECN != 0,
            is_marked: class & ECN == ECN,
            ttl,
            segment: packet.transport.as_ref().and_then(segment),
            ip: ip.as_ptr() as usize - frame.as_ptr() as usize,
            is_v4: addresses.1.is_ipv4(),
            udp: packet.transport.as_ref().and_then(|transport| udp(transport, frame)),
        })
    }

    /// The UDP payload of the frame that these headers were read from.
    pub(super) fn payload<'f>(&self, frame: &'f [u8]) -> Option<&'f [u8]> {
        frame.get(self.udp? + UDP..)
    }

    /// The UDP payload, to be changed. From now on the frame has no UDP checksum (RFC 768).
    pub(super) fn payload_mut<'f>(&self, frame: &'f mut [u8]) -> Option<&'f mut [u8]> {
        let (header, payload) = frame.get_mut(self.udp?..)?.split_at_mut_checked(UDP)?;
        header[UDP - 2..].fill(0);
        Some(payload)
    }

    /// Writes another TTL into the frame that these headers were read from, if it is IPv4.
    pub(super) fn set_ttl(&self, frame: &mut [u8], ttl: u8) {
        let header = frame.get_mut(self.ip..).filter(|_| self.is_v4);
        if let Some(header) = header.and_then(|rest| rest.get_mut(..Ipv4Header::MIN_LEN)) {
            header[8] = ttl;
            mend_v4(header);
        }
    }

    /// Marks the frame that these headers were read from as congestion experienced (CE).
    pub fn mark(&self, frame: &mut [u8]) {
        let Some(header) = frame.get_mut(self.ip..) else { return };
        if self.is_v4 {
            mark_v4(header);
        } else if let Some(second) = header.get_mut(1) {
            // The traffic class is bits 4 to 11.
            *second |= ECN << 4;
        }
    }
}

/// Gives an IPv4 header without options its checksum.
pub(crate) fn mend_v4(header: &mut [u8]) {
    if let Ok(read) = Ipv4HeaderSlice::from_slice(header) {
        let checksum = read.to_header().calc_header_checksum();
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// Marks an IPv4 header and mends its checksum (RFC 1624, equation 3).
pub(crate) fn mark_v4(header: &mut [u8]) {
    let [version, class, .., high, low] = header.get_mut(..12).map_or([0; 12], |all| {
        let mut copy = [0; 12];
        copy.copy_from_slice(all);
        copy
    });
    let word = u16::from_be_bytes([version, class]);
    let marked = word | u16::from(ECN);
    let checksum = u16::from_be_bytes([high, low]);
    let sum = u32::from(!checksum) + u32::from(!word) + u32::from(marked);
    let folded = (sum & 0xffff) + (sum >> 16);
    let mended = !((folded & 0xffff) + (folded >> 16)) as u16;
    if let Some(all) = header.get_mut(..12) {
        all[..2].copy_from_slice(&marked.to_be_bytes());
        all[10..].copy_from_slice(&mended.to_be_bytes());
    }
}

fn segment(transport: &TransportSlice<'_>) -> Option<Segment> {
    let TransportSlice::Tcp(tcp) = transport else { return None };
    let bytes = tcp.payload().len() as u32;
    (bytes > 0).then(|| Segment { first: tcp.sequence_number(), bytes })
}

fn udp(transport: &TransportSlice<'_>, frame: &[u8]) -> Option<usize> {
    let TransportSlice::Udp(udp) = transport else { return None };
    Some(udp.slice().as_ptr() as usize - frame.as_ptr() as usize)
}

fn ports(transport: &TransportSlice<'_>) -> (u16, u16) {
    match transport {
        TransportSlice::Tcp(tcp) => (tcp.source_port(), tcp.destination_port()),
        TransportSlice::Udp(udp) => (udp.source_port(), udp.destination_port()),
        _ => (0, 0),
    }
}

#[cfg(test)]
mod fuzz;

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;
    use proptest::prelude::*;

    use super::*;
    use crate::address::{ipv4, ipv6, mac};

    const FROM: HostId = HostId(0);
    const TO: HostId = HostId(2);

    /// A TCP segment of host 0 for host 2, of 100 bytes.
    fn frame(is_v4: bool, class: u8) -> Vec<u8> {
        let ethernet = PacketBuilder::ethernet2(mac(FROM), mac(TO));
        let mut bytes = Vec::new();
        let payload = [0; 100];
        if is_v4 {
            let ip = ethernet.ipv4(ipv4(FROM).octets(), ipv4(TO).octets(), 64);
            ip.tcp(4_000, 5_000, 1, 1_000).ack(7).write(&mut bytes, &payload).unwrap();
            bytes[15] = class;
            let mut header = etherparse::Ipv4Header::from_slice(&bytes[14..]).unwrap().0;
            header.header_checksum = header.calc_header_checksum();
            bytes[14..34].copy_from_slice(&header.to_bytes());
        } else {
            let ip = ethernet.ipv6(ipv6(FROM).octets(), ipv6(TO).octets(), 64);
            ip.tcp(4_000, 5_000, 1, 1_000).ack(7).write(&mut bytes, &payload).unwrap();
            bytes[14] = 0x60 | class >> 4;
            bytes[15] = class << 4;
        }
        bytes
    }

    #[test]
    fn a_mark_changes_two_bits_and_leaves_a_right_checksum() {
        for (is_v4, wire) in [(true, 140), (false, 160)] {
            for class in [0b10, 0b01, 0b1011_1010] {
                let mut bytes = frame(is_v4, class);
                let headers = Headers::read(&bytes, FROM, 3).unwrap();
                assert_eq!((headers.to, headers.wire, headers.dscp), (TO, wire, class >> 2));
                assert_eq!(headers.key.ports, (4_000, 5_000));
                assert_eq!(headers.segment, Some(Segment { first: 1, bytes: 100 }));
                assert!(headers.is_ect && !headers.is_marked);
                headers.mark(&mut bytes);
                let marked = Headers::read(&bytes, FROM, 3).unwrap();
                assert!(marked.is_marked && marked.dscp == class >> 2);
                if is_v4 {
                    let header = Ipv4HeaderSlice::from_slice(&bytes[14..]).unwrap().to_header();
                    assert_eq!(header.header_checksum, header.calc_header_checksum());
                }
            }
        }
    }

    #[test]
    fn what_is_not_from_a_host_to_another_is_no_packet() {
        let bytes = frame(true, 0);
        assert!(Headers::read(&bytes, FROM, 3).is_some());
        assert_eq!(Headers::read(&bytes, HostId(1), 3), None, "another's address");
        assert_eq!(Headers::read(&bytes, FROM, 2), None, "there is no host 2");
        let mut other = bytes.clone();
        other[5] = 2;
        assert_eq!(Headers::read(&other, FROM, 3), None, "the two addresses disagree");
        for length in 0..bytes.len() {
            assert_eq!(Headers::read(&bytes[..length], FROM, 3), None, "cut to {length} bytes");
        }
    }

    proptest! {
        /// Whatever comes, reading does not panic or name a host that does not exist, and marking
        /// writes nothing outside the headers.
        #[test]
        fn no_frame_does_harm(
            is_v4 in any::<bool>(),
            class in any::<u8>(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
            length in any::<prop::sample::Index>(),
            cut in any::<bool>(),
        ) {
            let mut bytes = frame(is_v4, class);
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            if cut {
                bytes.truncate(length.index(bytes.len()));
            }
            if let Some(headers) = Headers::read(&bytes, FROM, 3) {
                prop_assert!(headers.to.0 < 3 && headers.to != FROM);
                prop_assert!(usize::from(headers.wire) <= bytes.len());
                let before = bytes.clone();
                headers.mark(&mut bytes);
                let differ = before.iter().zip(&bytes).filter(|(one, other)| one != other).count();
                prop_assert!(differ <= 3, "the class, and two bytes of a checksum");
            }
        }

        #[test]
        fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(Headers::read(&bytes, FROM, 64), None);
        }
    }
}
