//! The content of a captured frame.
#![allow(dead_code, reason = "each of the test programs that share this uses a part of it")]

use etherparse::{NetSlice, SlicedPacket, TransportSlice};

/// One packet.
#[derive(Clone, Debug)]
pub struct Seen {
    pub from: u16,
    pub to: u16,
    pub dscp: u8,
    pub ecn: u8,
    pub seq: u32,
    pub payload: usize,
    pub syn: bool,
    pub fin: bool,
    pub rst: bool,
    pub ece: bool,
    pub checksums_right: bool,
    pub from_first_host: bool,
}

impl Seen {
    /// Parses TCP and UDP packets; `None` for others.
    pub fn parse(frame: &[u8]) -> Option<Seen> {
        let packet = SlicedPacket::from_ethernet(frame).ok()?;
        let (class, ip_right, from_first_host) = match packet.net.as_ref()? {
            NetSlice::Ipv4(ip) => {
                let header = ip.header().to_header();
                let right = header.header_checksum == header.calc_header_checksum();
                (header.dscp.value() << 2 | header.ecn.value(), right, header.source[3] == 1)
            }
            NetSlice::Ipv6(ip) => {
                let header = ip.header().to_header();
                (header.traffic_class, true, header.source[15] == 1)
            }
            _ => return None,
        };
        let mut seen = Seen {
            from: 0,
            to: 0,
            dscp: class >> 2,
            ecn: class & 3,
            seq: 0,
            payload: 0,
            syn: false,
            fin: false,
            rst: false,
            ece: false,
            checksums_right: ip_right,
            from_first_host,
        };
        match packet.transport.as_ref()? {
            TransportSlice::Tcp(tcp) => {
                (seen.from, seen.to) = (tcp.source_port(), tcp.destination_port());
                (seen.seq, seen.payload) = (tcp.sequence_number(), tcp.payload().len());
                (seen.syn, seen.ece) = (tcp.syn(), tcp.ece());
                (seen.fin, seen.rst) = (tcp.fin(), tcp.rst());
                let sum = match packet.net.as_ref()? {
                    NetSlice::Ipv4(ip) => {
                        tcp.calc_checksum_ipv4(ip.header().source(), ip.header().destination())
                    }
                    NetSlice::Ipv6(ip) => {
                        tcp.calc_checksum_ipv6(ip.header().source(), ip.header().destination())
                    }
                    _ => return None,
                };
                // Linux sends the negative one of the two zeros of one's complement.
                let positive = if tcp.checksum() == 0xffff { 0 } else { tcp.checksum() };
                seen.checksums_right &= sum == Ok(positive);
            }
            TransportSlice::Udp(udp) => {
                (seen.from, seen.to) = (udp.source_port(), udp.destination_port());
                seen.payload = udp.payload().len();
            }
            _ => return None,
        }
        Some(seen)
    }
}
