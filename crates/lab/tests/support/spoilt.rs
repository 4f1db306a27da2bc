//! Spoils frames: bytes change, are lost or are added, VLAN tags come in, and IPv4 becomes IPv6.

use etherparse::{
    IpHeaders, Ipv6Extensions, Ipv6Header, NetHeaders, PacketBuilder, PacketHeaders,
    TransportHeader,
};
use flowsched_lab::address::{ipv6, mac};
use flowsched_topology::HostId;
use flowsched_workload::stream;
use rand::Rng;

use crate::compared::Frames;
use crate::frames::ETHERNET;

/// The share of the frames that are spoilt.
const SPOILT: f64 = 0.7;
/// Bytes that may change: all headers and the beginning of the payload.
const CHANGED: usize = 110;
/// Bytes of the two addresses of an Ethernet header.
const ADDRESSES: usize = ETHERNET - 2;

/// Spoils some of the frames.
pub fn spoil(frames: &mut Frames, seed: u64) {
    let mut random = stream(seed, "spoilt", 0);
    for frame in frames.iter_mut().flatten() {
        if random.random_bool(SPOILT) {
            spoil_one(frame, &mut random);
        }
    }
}

fn spoil_one(frame: &mut Vec<u8>, random: &mut impl Rng) {
    if random.random_bool(0.2) {
        *frame = over_ipv6(frame);
    }
    if random.random_bool(0.3) {
        let tag = [0x81, 0, 0, 5];
        for _ in 0..random.random_range(1..3) {
            frame.splice(ADDRESSES..ADDRESSES, tag);
        }
    }
    for _ in 0..random.random_range(0..4) {
        let place = random.random_range(0..CHANGED.min(frame.len()));
        frame[place] = random.random();
    }
    if random.random_bool(0.1) {
        frame.truncate(random.random_range(1..frame.len()));
    }
    let added = random.random_range(0..8);
    frame.resize(frame.len() + added, 0);
}

/// The frame with IPv6 in place of IPv4, between the same hosts. All other headers and the payload stay.
fn over_ipv6(frame: &[u8]) -> Vec<u8> {
    let [to, from] = [5, ADDRESSES - 1].map(|place| HostId(u32::from(frame[place]) - 1));
    let packet = PacketHeaders::from_ethernet_slice(frame).unwrap();
    let Some(NetHeaders::Ipv4(v4, _)) = packet.net else { panic!("no IPv4") };
    let ip = Ipv6Header {
        traffic_class: v4.dscp.value() << 2 | v4.ecn.value(),
        hop_limit: v4.time_to_live,
        source: ipv6(from).octets(),
        destination: ipv6(to).octets(),
        ..Ipv6Header::default()
    };
    let outer = PacketBuilder::ethernet2(mac(from), mac(to))
        .ip(IpHeaders::Ipv6(ip, Ipv6Extensions::default()));
    let (mut bytes, payload) = (Vec::new(), packet.payload.slice());
    match packet.transport.unwrap() {
        TransportHeader::Tcp(tcp) => outer.tcp_header(tcp).write(&mut bytes, payload),
        TransportHeader::Udp(udp) => {
            outer.udp(udp.source_port, udp.destination_port).write(&mut bytes, payload)
        }
        other => panic!("{other:?}"),
    }
    .unwrap();
    bytes
}
