//! Frames in VXLAN (RFC 7348): the headers that the end of a tunnel puts before a frame and takes away again.
//!
//! A scheme's header is in the reserved bits. The VNI is the number of the packet's flow in the experiment, or
//! [`NO_FLOW`]. What may not live here: what the reserved bits mean.

use std::net::Ipv4Addr;

use etherparse::{EtherType, Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header, UdpHeader};
use flowsched_topology::HostId;

use crate::address::{SWITCH_IPV4, SWITCH_MAC, ipv4, mac};

/// The UDP port of VXLAN.
pub(crate) const PORT: u16 = 4_789;
/// The VNI of packets that belong to no flow.
pub(crate) const NO_FLOW: u32 = (1 << 24) - 1;
/// Bytes before the inner frame.
pub(crate) const AROUND: usize = 14 + 20 + 8 + BYTES;
/// Bytes of the VXLAN header.
const BYTES: usize = 8;
/// The flag of a header with a VNI.
const HAS_VNI: u8 = 8;

/// The fields of the headers before a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outer {
    /// The host at which the tunnel begins; none if it is a switch.
    pub(crate) from: Option<HostId>,
    /// The host at which the tunnel ends.
    pub(crate) to: HostId,
    pub(crate) dscp: u8,
    pub(crate) ecn: u8,
    pub(crate) ttl: u8,
    pub(crate) bits: Bits,
}

/// The VXLAN header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    pub(crate) vni: u32,
    /// The 24 bits after the flags, and the last 8.
    pub(crate) reserved: u32,
}

/// Puts a frame into VXLAN. The UDP source port depends on the VNI alone, so that all packets of a flow have the
/// same one and take the same path (RFC 7348, 5).
pub(crate) fn wrap(outer: &Outer, inner: &[u8]) -> Vec<u8> {
    let Outer { from, to, dscp, ecn, ttl, bits } = *outer;
    let (source_mac, source): ([u8; 6], Ipv4Addr) =
        from.map_or((SWITCH_MAC, SWITCH_IPV4), |host| (mac(host), ipv4(host)));
    let length = (AROUND - Ethernet2Header::LEN + inner.len()) as u16;
    let mut ip = Ipv4Header {
        dscp: IpDscp::try_new(dscp & 63).unwrap_or_default(),
        ecn: IpEcn::try_new(ecn & 3).unwrap_or_default(),
        total_len: length,
        dont_fragment: true,
        time_to_live: ttl,
        protocol: IpNumber::UDP,
        source: source.octets(),
        destination: ipv4(to).octets(),
        ..Ipv4Header::default()
    };
    ip.header_checksum = ip.calc_header_checksum();
    let udp = UdpHeader {
        source_port: 0xc000 | bits.vni as u16 & 0x3fff,
        destination_port: PORT,
        length: length - Ipv4Header::MIN_LEN_U16,
        checksum: 0,
    };
    let ethernet =
        Ethernet2Header { source: source_mac, destination: mac(to), ether_type: EtherType::IPV4 };
    let mut frame = Vec::with_capacity(AROUND + inner.len());
    frame.extend_from_slice(&ethernet.to_bytes());
    frame.extend_from_slice(&ip.to_bytes());
    frame.extend_from_slice(&udp.to_bytes());
    frame.extend_from_slice(&bits.to_bytes());
    frame.extend_from_slice(inner);
    frame
}

/// The inner frame in a UDP payload with a VXLAN header.
pub(crate) fn inner(payload: &[u8]) -> Option<&[u8]> {
    payload.get(BYTES..)
}

impl Bits {
    fn to_bytes(self) -> [u8; BYTES] {
        let [a, b, c, last] = self.reserved.to_be_bytes();
        let [_, d, e, f] = self.vni.to_be_bytes();
        [HAS_VNI, a, b, c, d, e, f, last]
    }

    /// Reads the header at the beginning of a UDP payload; `None` if there is no VXLAN header.
    pub(crate) fn read(payload: &[u8]) -> Option<Bits> {
        let [flags, a, b, c, d, e, f, last] = *payload.first_chunk()?;
        let vni = u32::from_be_bytes([0, d, e, f]);
        (flags == HAS_VNI).then_some(Bits { vni, reserved: u32::from_be_bytes([a, b, c, last]) })
    }

    /// Writes the header at the beginning of a UDP payload.
    pub(crate) fn write(self, payload: &mut [u8]) {
        if let Some(place) = payload.get_mut(..BYTES) {
            place.copy_from_slice(&self.to_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use etherparse::{NetSlice, SlicedPacket};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_wrapped_frame_is_udp_with_a_right_checksum() {
        let bits = Bits { vni: 7, reserved: 0x8123_4567 };
        let (from, to) = (Some(HostId(1)), HostId(2));
        let outer = Outer { from, to, dscp: 8, ecn: 2, ttl: 64, bits };
        let frame = wrap(&outer, &[1, 2, 3]);
        let packet = SlicedPacket::from_ethernet(&frame).unwrap();
        let Some(NetSlice::Ipv4(ip)) = packet.net else { panic!("IPv4") };
        let header = ip.header().to_header();
        assert_eq!(header.header_checksum, header.calc_header_checksum());
        assert_eq!((header.dscp.value(), header.ecn.value(), header.time_to_live), (8, 2, 64));
        assert_eq!(&frame[AROUND..], [1, 2, 3]);
        assert_eq!(Bits::read(&frame[AROUND - BYTES..]), Some(bits));
        assert_eq!(frame[AROUND - BYTES..AROUND], [8, 0x81, 0x23, 0x45, 0, 0, 7, 0x67]);
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            if let Some(bits) = Bits::read(&bytes) {
                let mut again = bytes.clone();
                bits.write(&mut again);
                prop_assert_eq!(again, bytes);
            }
        }
    }
}
