//! A host's edge: the scheme's own tagger between the host's card and the network.
//!
//! The edge puts each TCP packet that the host sends into VXLAN, and writes the tagger's header into VXLAN's
//! reserved bits. It removes VXLAN from each packet that the host receives. It hands messages of switches to the
//! tagger, and the host does not see them. EPN's priority mapper works in this way: it is a filter below the TCP of
//! a host (EPN 2018, V-A).
//!
//! What may not live here: what the fields of a header mean, and which flow a connection carries ([`Bursts`]).

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::sync::Arc;

use etherparse::{NetSlice, SlicedPacket, TcpSlice, TransportSlice};
use flowsched_schemes::Packet;
use flowsched_schemes::knowledge::Start;
use flowsched_schemes::on_linux::code_point;
use flowsched_schemes::packet::{Flags, Header, Tunnel};
use flowsched_schemes::tagger::{Departure, Tagging, Work};
use flowsched_topology::{HostId, Network};
use flowsched_units::{PACKET_PAYLOAD, Rate};

use crate::address::{SWITCH_IPV4, host_with_ip, ipv4};
use crate::bursts::{Burst, Bursts};
use crate::clock::Clock;
use crate::switch::headers::mark_v4;
use crate::switch::memory::LONGEST_FRAME;
use crate::tap::Cable;
use crate::vxlan::{self, AROUND, Bits, NO_FLOW, Outer};

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// The place of the outer IPv4 header's source.
const OUTER_SOURCE: usize = ETHERNET + 12;
/// The TTL of packets for which the tagger sets none, such as acknowledgements.
const TTL: u8 = 64;
/// The ECN field of a marked packet (RFC 3168, 5).
const CE: u8 = 3;

/// What the edges of all hosts share.
pub struct Shared<G, H> {
    /// The scheme's tagger.
    pub tagger: G,
    /// How headers are written into VXLAN.
    pub tunnel: Tunnel<H>,
    /// Which connection carries which flow.
    pub bursts: Arc<Bursts>,
    /// The number of priorities at ports.
    pub priorities: usize,
    /// The time.
    pub clock: Clock,
}

/// The edge of one host.
pub struct Edge<K, G: Tagging<H>, H: Header> {
    cable: K,
    host: HostId,
    /// The rate of the host's card.
    rate: Rate,
    shared: Rc<Shared<G, H>>,
    /// The sequence number of this host's first byte on each connection, by sender and receiver.
    firsts: HashMap<(SocketAddr, SocketAddr), u32>,
    /// The flows that this host sends, by number.
    flows: HashMap<u32, Sent<G::Flow>>,
}

/// A flow as its sender's edge sees it.
#[derive(Clone, Copy, Debug, Default)]
struct Sent<F> {
    /// What the tagger remembers of the flow.
    tagged: F,
    /// Bytes sent at least once.
    highest: u64,
    /// Bytes acknowledged.
    acknowledged: u64,
}

/// The fields of a TCP segment that an edge reads.
struct Segment<'f> {
    from: SocketAddr,
    to: SocketAddr,
    ecn: u8,
    tcp: TcpSlice<'f>,
}

/// The edges of all hosts of a network, each around the cable to its host.
pub fn edges<'c, K, G, H>(
    network: &Network,
    cables: Vec<K>,
    shared: Shared<G, H>,
) -> Vec<Box<dyn Cable + 'c>>
where
    K: Cable + 'c,
    G: Tagging<H> + 'c,
    H: Header + 'c,
{
    let shared = Rc::new(shared);
    let edge = |(host, cable): (HostId, K)| -> Box<dyn Cable + 'c> {
        let rate = network.port(network.nic(host)).rate;
        Box::new(Edge::new(cable, host, rate, shared.clone()))
    };
    (0..).map(HostId).zip(cables).map(edge).collect()
}

impl<K: Cable, G: Tagging<H>, H: Header> Edge<K, G, H> {
    /// The edge of `host`, whose card at the other end of `cable` sends at `rate`.
    pub fn new(cable: K, host: HostId, rate: Rate, shared: Rc<Shared<G, H>>) -> Edge<K, G, H> {
        Edge { cable, host, rate, shared, firsts: HashMap::new(), flows: HashMap::new() }
    }

    /// The frame with VXLAN around it; `None` if it is not TCP over IPv4 from this host to a host.
    fn wrap(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        let segment = Segment::read(frame).filter(|segment| self.is_own(segment.from))?;
        let to = host_with_ip(segment.to.ip())?;
        if segment.tcp.syn() {
            let first = segment.tcp.sequence_number().wrapping_add(1);
            self.firsts.insert((segment.from, segment.to), first);
        }
        let wire = (frame.len() - ETHERNET) as u32 + H::WIRE_BYTES;
        let mut packet = Packet::data(0, to.0, 0, wire as u16, Flags::default());
        let vni = self.tag(&segment, &mut packet);
        let outer = Outer {
            from: Some(self.host),
            to,
            dscp: code_point(packet.priority.into(), self.shared.priorities),
            ecn: segment.ecn,
            ttl: match (self.shared.tunnel.ttl)(&packet.header) {
                0 => TTL,
                ttl => ttl,
            },
            bits: Bits { vni, reserved: (self.shared.tunnel.to_bits)(&packet.header) },
        };
        Some(vxlan::wrap(&outer, frame))
    }

    /// Tags the packet of a segment. Returns the number of its flow, or `NO_FLOW`.
    fn tag(&mut self, segment: &Segment<'_>, packet: &mut Packet<H>) -> u32 {
        let Shared { tagger, bursts, .. } = &*self.shared;
        packet.priority = tagger.ack_priority(0);
        if let Some(burst) = bursts.find(segment.to) {
            // The packet acknowledges data of a flow that the other host sends.
            return burst.flow;
        }
        let Some(burst) = bursts.find(segment.from) else { return NO_FLOW };
        let payload = segment.tcp.payload().len() as u32;
        let Some(offset) = self.offset(segment, &burst).filter(|_| payload > 0) else {
            return NO_FLOW;
        };
        self.tag_data(&burst, offset, payload, packet);
        burst.flow
    }

    /// Bytes of the flow before the segment's first byte; `None` if the segment belongs to an earlier flow.
    fn offset(&self, segment: &Segment<'_>, burst: &Burst) -> Option<u64> {
        let first = self.firsts.get(&(segment.from, segment.to))?;
        let in_connection = segment.tcp.sequence_number().wrapping_sub(*first);
        let offset = u64::from(in_connection.wrapping_sub(burst.before as u32));
        (offset < burst.size.get()).then_some(offset)
    }

    fn tag_data(&mut self, burst: &Burst, offset: u64, payload: u32, packet: &mut Packet<H>) {
        let Shared { tagger, clock, .. } = &*self.shared;
        let (now, Burst { flow, size, deadline, .. }, rate) = (clock.now(), *burst, self.rate);
        let sent = self.flows.entry(flow).or_insert_with(|| {
            let mut sent = Sent::default();
            let (application_rate, random) = (None, 0);
            let start = Start { flow, now, size, deadline, application_rate, rate, random };
            tagger.start_flow(&mut sent.tagged, &start);
            sent
        });
        let end = offset + u64::from(payload);
        packet.flow = flow;
        packet.flags = Flags::default().with_if(end <= sent.highest, Flags::RETRANSMISSION);
        let idle = sent.acknowledged == sent.highest;
        let departure = Departure { now, offset, payload, idle, timeouts_in_a_row: 0 };
        let left = size.get().saturating_sub(sent.acknowledged);
        let work = Work { size, remaining: left.div_ceil(PACKET_PAYLOAD) as u32 };
        tagger.tag(&mut sent.tagged, &departure, &work, packet);
        sent.highest = sent.highest.max(end);
    }

    /// Whether the address is this host's.
    fn is_own(&self, address: SocketAddr) -> bool {
        address.ip() == IpAddr::V4(ipv4(self.host))
    }

    /// Hands the tagger a message of a switch about a flow that this host sends.
    fn heed(&mut self, bits: Bits, ttl: u8) {
        let Some(sent) = self.flows.get_mut(&bits.vni) else { return };
        let Shared { tagger, tunnel, .. } = &*self.shared;
        let header = (tunnel.from_bits)(bits.reserved, ttl);
        let mut message = Packet::data(bits.vni, self.host.0, 0, 0, Flags::MESSAGE);
        message.header = header;
        tagger.on_message(&mut sent.tagged, &message);
    }

    /// Notes how many bytes a segment acknowledges of the flow that this host sends on its connection.
    fn note_ack(&mut self, segment: &Segment<'_>) {
        let Some(burst) = self.shared.bursts.find(segment.to).filter(|_| segment.tcp.ack()) else {
            return;
        };
        let Some(first) = self.firsts.get(&(segment.to, segment.from)) else { return };
        let Some(sent) = self.flows.get_mut(&burst.flow) else { return };
        let in_connection = segment.tcp.acknowledgment_number().wrapping_sub(*first);
        let acknowledged = u64::from(in_connection.wrapping_sub(burst.before as u32));
        if acknowledged <= sent.highest {
            sent.acknowledged = sent.acknowledged.max(acknowledged);
        }
    }
}

impl<K: Cable, G: Tagging<H>, H: Header> Cable for Edge<K, G, H> {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let mut inner = [0; LONGEST_FRAME];
        // Frames without TCP over IPv4 do not leave the host. The loop skips them.
        while let Some(length) = self.cable.receive(&mut inner)? {
            let wrapped = self.wrap(inner.get(..length).unwrap_or_default());
            let Some(wrapped) = wrapped else { continue };
            let Some(place) = buffer.get_mut(..wrapped.len()) else { continue };
            place.copy_from_slice(&wrapped);
            return Ok(Some(wrapped.len()));
        }
        Ok(None)
    }

    fn arrive(&mut self, frame: Vec<u8>) -> Option<Vec<u8>> {
        let (around, inner) = frame.split_at_checked(AROUND)?;
        let bits = Bits::read(&around[AROUND - 8..])?;
        let segment = Segment::read(inner)?;
        let is_of_switch = around[OUTER_SOURCE..OUTER_SOURCE + 4] == SWITCH_IPV4.octets();
        match (is_of_switch, self.is_own(segment.from), self.is_own(segment.to)) {
            (true, true, _) => self.heed(bits, around[ETHERNET + 8]),
            (false, _, true) => {
                let inner = self.unwrap(&segment, around, inner);
                return self.cable.arrive(inner);
            }
            _ => {}
        }
        None
    }

    fn file(&self) -> BorrowedFd<'_> {
        self.cable.file()
    }
}

impl<K: Cable, G: Tagging<H>, H: Header> Edge<K, G, H> {
    /// A segment for the host, without what was `around` it.
    fn unwrap(&mut self, segment: &Segment<'_>, around: &[u8], inner: &[u8]) -> Vec<u8> {
        self.note_ack(segment);
        let mut inner = inner.to_vec();
        if around[ETHERNET + 1] & CE == CE && segment.ecn != 0 {
            mark_v4(&mut inner[ETHERNET..]);
        }
        inner
    }
}

impl<'f> Segment<'f> {
    /// Reads a frame, whose payload may be missing; `None` if it is not TCP over IPv4.
    fn read(frame: &'f [u8]) -> Option<Segment<'f>> {
        let packet = SlicedPacket::from_ethernet(frame).ok()?;
        let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Tcp(tcp))) =
            (packet.net, packet.transport)
        else {
            return None;
        };
        let header = ip.header();
        let from = SocketAddr::new(header.source_addr().into(), tcp.source_port());
        let to = SocketAddr::new(header.destination_addr().into(), tcp.destination_port());
        Some(Segment { from, to, ecn: header.ecn().value(), tcp })
    }
}

#[cfg(test)]
mod tests;
