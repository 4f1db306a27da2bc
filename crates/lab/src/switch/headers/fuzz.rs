//! Malformed frames of every kind that a host could send. The switch must not panic, and no frame may
//! reach the wrong host.

use etherparse::{PacketBuilder, VlanId};
use proptest::prelude::*;

use super::*;
use crate::address::{ipv4, ipv6, mac};

const FROM: HostId = HostId(0);
const TO: HostId = HostId(2);
const HOSTS: u32 = 3;
/// The UDP port of VXLAN (RFC 7348).
const VXLAN: u16 = 4_789;

/// The parts of a frame before it is spoilt.
#[derive(Clone, Copy, Debug)]
struct Shape {
    is_v4: bool,
    vlan_tags: u8,
    /// Whether the payload is another frame, in VXLAN.
    is_tunnel: bool,
}

/// A frame of host 0 for host 2.
fn frame(shape: Shape) -> Vec<u8> {
    let inner = if shape.is_tunnel {
        let header = [8, 0, 0, 0, 0, 0, 7, 0];
        [&header[..], &frame(Shape { is_tunnel: false, ..shape })].concat()
    } else {
        vec![0; 100]
    };
    let ethernet = PacketBuilder::ethernet2(mac(FROM), mac(TO));
    let (v4, v6) = ([FROM, TO].map(|h| ipv4(h).octets()), [FROM, TO].map(|h| ipv6(h).octets()));
    let id = VlanId::try_new(5).unwrap();
    let ip = match (shape.vlan_tags, shape.is_v4) {
        (0, true) => ethernet.ipv4(v4[0], v4[1], 64),
        (0, false) => ethernet.ipv6(v6[0], v6[1], 64),
        (1, true) => ethernet.single_vlan(id).ipv4(v4[0], v4[1], 64),
        (1, false) => ethernet.single_vlan(id).ipv6(v6[0], v6[1], 64),
        (_, true) => ethernet.double_vlan(id, id).ipv4(v4[0], v4[1], 64),
        (_, false) => ethernet.double_vlan(id, id).ipv6(v6[0], v6[1], 64),
    };
    let mut bytes = Vec::new();
    if shape.is_tunnel {
        ip.udp(VXLAN, VXLAN).write(&mut bytes, &inner).unwrap();
    } else {
        ip.tcp(4_000, 5_000, 1, 1_000).ack(7).write(&mut bytes, &inner).unwrap();
    }
    bytes
}

fn shapes() -> impl Strategy<Value = Shape> {
    let any = (any::<bool>(), 0..3u8, any::<bool>());
    any.prop_map(|(is_v4, vlan_tags, is_tunnel)| Shape { is_v4, vlan_tags, is_tunnel })
}

/// The sender and the receiver that the frame's IP header names, read without the parser.
fn named(frame: &[u8], headers: &Headers) -> (Option<HostId>, Option<HostId>) {
    let ip = &frame[headers.ip..];
    let address = |at: usize| -> IpAddr {
        if headers.is_v4 {
            <[u8; 4]>::try_from(&ip[12 + 4 * at..][..4]).unwrap().into()
        } else {
            <[u8; 16]>::try_from(&ip[8 + 16 * at..][..16]).unwrap().into()
        }
    };
    (host_with_ip(address(0)), host_with_ip(address(1)))
}

#[test]
fn whole_frames_of_every_shape_arrive() {
    for (is_v4, vlan_tags, is_tunnel) in
        [(true, 0, false), (false, 0, true), (true, 1, true), (false, 2, false), (true, 2, true)]
    {
        let shape = Shape { is_v4, vlan_tags, is_tunnel };
        let bytes = frame(shape);
        let headers = Headers::read(&bytes, FROM, HOSTS).unwrap_or_else(|| panic!("{shape:?}"));
        assert_eq!((headers.to, headers.is_v4), (TO, is_v4), "the outer header counts: {shape:?}");
        let ports = if is_tunnel { (VXLAN, VXLAN) } else { (4_000, 5_000) };
        assert_eq!(headers.key.ports, ports, "{shape:?}");
        assert_eq!(headers.ip, 14 + 4 * usize::from(vlan_tags));
        let mut marked = bytes.clone();
        headers.mark(&mut marked);
        assert!(Headers::read(&marked, FROM, HOSTS).unwrap().is_marked, "{shape:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Bytes change, are lost, or are added. A frame that the switch takes is from its sender and for
    /// the host that both headers name, and a mark changes nothing but the traffic class and a checksum.
    #[test]
    fn no_spoilt_frame_goes_astray(
        shape in shapes(),
        changes in prop::collection::vec((0..80usize, any::<u8>()), 0..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
        added in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        let mut bytes = frame(shape);
        for (place, byte) in changes {
            if let Some(old) = bytes.get_mut(place) {
                *old = byte;
            }
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        bytes.extend(added);
        if let Some(headers) = Headers::read(&bytes, FROM, HOSTS) {
            prop_assert!(headers.to.0 < HOSTS && headers.to != FROM);
            prop_assert_eq!(named(&bytes, &headers), (Some(FROM), Some(headers.to)));
            let to = mac(headers.to);
            prop_assert_eq!(&bytes[..6], to.as_slice());
            prop_assert!(headers.ip + usize::from(headers.wire) <= bytes.len());
            let before = bytes.clone();
            headers.mark(&mut bytes);
            let differ = (0..bytes.len()).filter(|at| before[*at] != bytes[*at]);
            let allowed = [1, 10, 11].map(|at| headers.ip + at);
            prop_assert!(differ.clone().all(|at| allowed.contains(&at)), "{:?}", differ.collect::<Vec<_>>());
        }
    }
}
