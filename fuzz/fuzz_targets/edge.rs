//! The edge of a host under EPN takes any frame from the network and from its host. It hands the host nothing but TCP
//! for it, and lets nothing out but VXLAN from the host.
//!
//! `cargo +nightly fuzz run edge`

#![no_main]

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use etherparse::{NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
use flowsched_lab::address::{MOST_HOSTS, ipv4, mac};
use flowsched_lab::bursts::{Burst, Bursts};
use flowsched_lab::clock::Clock;
use flowsched_lab::edge::{Edge, Shared};
use flowsched_lab::switch::headers::Headers;
use flowsched_lab::switch::memory::LONGEST_FRAME;
use flowsched_lab::tap::Cable;
use flowsched_schemes::controller::epn::header::EpnHeader;
use flowsched_schemes::packet::Header;
use flowsched_schemes::tagger::TaggerPart;
use flowsched_schemes::tagger::priority_mapper::PriorityMapper;
use flowsched_topology::HostId;
use flowsched_units::{Bytes, Rate, Settings};
use libfuzzer_sys::fuzz_target;

const HOST: HostId = HostId(0);
const PEER: HostId = HostId(1);
/// The host's flow, and the port of each end of its connection.
const FLOW: u32 = 3;
const PORT: u16 = 1_000;
/// The UDP port of VXLAN (RFC 7348).
const VXLAN: u16 = 4_789;

/// A cable to a host that has sent these frames.
struct Host {
    sent: VecDeque<Vec<u8>>,
    file: File,
}

impl Cable for Host {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(frame) = self.sent.pop_front() else { return Ok(None) };
        let length = frame.len().min(buffer.len());
        buffer[..length].copy_from_slice(&frame[..length]);
        Ok(Some(length))
    }

    fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// A frame as the network or the host would send it, before these bytes of it change and these are added.
type Spoilt = (bool, Vec<(u8, u8)>, Vec<u8>);

fuzz_target!(|frames: Vec<Spoilt>| {
    let (of_network, of_host): (Vec<_>, Vec<_>) =
        frames.iter().map(spoilt).partition(|(is_of_network, _)| *is_of_network);
    let sent = of_host.into_iter().map(|(_, frame)| frame).collect();
    let host = Host { sent, file: File::open("/dev/null").unwrap() };
    let mut edge = Edge::new(host, HOST, Rate::from_gbps(1), Rc::new(shared()));
    let mut of_network = of_network.into_iter();
    let mut buffer = [0; LONGEST_FRAME];
    while let Some(length) = edge.receive(&mut buffer).unwrap() {
        check_sent(&buffer[..length]);
        if let Some((_, frame)) = of_network.next() {
            check_got(edge.arrive(frame));
        }
    }
    for (_, frame) in of_network {
        check_got(edge.arrive(frame));
    }
});

fn spoilt((is_of_network, changes, added): &Spoilt) -> (bool, Vec<u8>) {
    let mut frame = if *is_of_network { wrapped() } else { segment(HOST, PEER) };
    for (place, byte) in changes {
        if let Some(old) = frame.get_mut(usize::from(*place)) {
            *old = *byte;
        }
    }
    frame.extend(added);
    (*is_of_network, frame)
}

fn segment(from: HostId, to: HostId) -> Vec<u8> {
    let mut bytes = Vec::new();
    PacketBuilder::ethernet2(mac(from), mac(to))
        .ipv4(ipv4(from).octets(), ipv4(to).octets(), 64)
        .tcp(PORT, PORT, 1, 1_000)
        .write(&mut bytes, &[0; 40])
        .unwrap();
    bytes
}

/// A segment for the host in VXLAN.
fn wrapped() -> Vec<u8> {
    let inner = segment(PEER, HOST);
    let mut bytes = Vec::new();
    PacketBuilder::ethernet2(mac(PEER), mac(HOST))
        .ipv4(ipv4(PEER).octets(), ipv4(HOST).octets(), 64)
        .udp(VXLAN, VXLAN)
        .write(&mut bytes, &[&[8, 0, 0, 0, 0, 0, FLOW as u8, 0][..], &inner].concat())
        .unwrap();
    bytes
}

fn check_sent(frame: &[u8]) {
    let is_vxlan = |headers: Headers| headers.key.ports.1 == VXLAN;
    // The switch refuses what a host sends to itself.
    let is_to_itself = frame[..6] == mac(HOST);
    assert!(is_to_itself || Headers::read(frame, HOST, MOST_HOSTS).is_some_and(is_vxlan));
}

/// A connection of the host carries its flow.
fn shared() -> Shared<PriorityMapper, EpnHeader> {
    let bursts = Arc::new(Bursts::default());
    let burst = Burst { flow: FLOW, before: 0, size: Bytes::new(100_000), deadline: None };
    bursts.begin((ipv4(HOST), PORT).into(), burst);
    let parameters = PriorityMapper::PART.parameters.iter().flat_map(|some| some.iter());
    let tagger = PriorityMapper::from_settings(&Settings::defaults(parameters));
    let tunnel = EpnHeader::TUNNEL.expect("EPN's header has a place in VXLAN");
    let clock = Clock::starting_in(Duration::ZERO);
    Shared { tagger, tunnel, bursts, priorities: 2, clock }
}

/// Asserts that the host gets nothing but TCP that is addressed to it.
fn check_got(frame: Option<Vec<u8>>) {
    let Some(frame) = frame else { return };
    let packet = SlicedPacket::from_ethernet(&frame).unwrap();
    let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Tcp(_))) = (packet.net, packet.transport)
    else {
        panic!("not TCP over IPv4");
    };
    assert_eq!(ip.header().destination_addr(), ipv4(HOST));
}
