//! What follows from paths alone: their ports, round-trip times, the flow completion time on an
//! idle network.
//!
//! Times are along the first of the equal-cost paths; in every topology here the others are the
//! same.

use flowsched_units::{Bytes, PACKET_HEADER, PACKET_PAYLOAD, PACKET_WIRE, Rate, Time};

use crate::ids::{HostId, NodeId, PortId};
use crate::network::Network;
use crate::port::LinkEnd;

impl Network {
    /// The ports of `node` on the shortest paths to `to`, at least one.
    fn next(&self, node: NodeId, to: HostId) -> &[PortId] {
        match self.host(node) {
            Some(host) if !self.hosts_forward => self.ports_of(host.node()),
            _ => self.routes.next(node, to),
        }
    }

    /// The ports that a packet from `src` to `dst` passes if it takes the first of the
    /// candidates everywhere.
    pub fn first_path(&self, src: HostId, dst: HostId) -> impl Iterator<Item = PortId> + '_ {
        let start = self.next(src.node(), dst)[0];
        std::iter::successors(Some(start), move |port| {
            let node = self.port(*port).peer;
            (node != dst.node()).then(|| self.routes.next(node, dst)[0])
        })
    }

    /// All shortest paths from `src` to `dst`, each as its ports, in the order of the candidates
    /// at the first switch, then the second, and so on.
    pub fn paths(&self, src: HostId, dst: HostId) -> Vec<Vec<PortId>> {
        let mut found = Vec::new();
        self.extend_path(&mut Vec::new(), src.node(), dst, &mut found);
        found
    }

    fn extend_path(
        &self,
        path: &mut Vec<PortId>,
        node: NodeId,
        to: HostId,
        found: &mut Vec<Vec<PortId>>,
    ) {
        for &port in self.next(node, to) {
            path.push(port);
            match self.port(port).peer {
                peer if peer == to.node() => found.push(path.clone()),
                peer => self.extend_path(path, peer, to, found),
            }
            path.pop();
        }
    }

    /// How many core links a packet from `src` to `dst` crosses.
    pub fn core_hops(&self, src: HostId, dst: HostId) -> u32 {
        self.first_path(src, dst).filter(|port| self.is_core(*port)).count() as u32
    }

    /// [`Network::core_hops`] from each of `sources` to `dst`, in their order. Common parts of
    /// paths are counted once, so this is far faster than one call for each source.
    pub fn core_hops_from(&self, sources: &[HostId], dst: HostId) -> Vec<u32> {
        const UNKNOWN: u32 = u32::MAX;
        let mut hops = vec![UNKNOWN; self.node_count() as usize];
        hops[dst.node().index()] = 0;
        let mut path = Vec::new();
        let of_source = |src: &HostId| {
            path.extend(self.first_path(*src, dst).take_while(|port| {
                // Up to a node from which the number of hops is known.
                hops[self.port(*port).owner.index()] == UNKNOWN
            }));
            while let Some(port) = path.pop() {
                let port_facts = self.port(port);
                let beyond = hops[port_facts.peer.index()];
                hops[port_facts.owner.index()] = beyond + u32::from(self.is_core(port));
            }
            hops[src.node().index()]
        };
        sources.iter().map(of_source).collect()
    }

    /// How many hosts send a packet from `src` to `dst`: one, unless others forward it.
    pub fn host_hops(&self, src: HostId, dst: HostId) -> u32 {
        if !self.hosts_forward {
            return 1;
        }
        let is_hosts = |port: &PortId| self.host(self.port(*port).owner).is_some();
        self.first_path(src, dst).filter(is_hosts).count() as u32
    }

    /// The lowest rate on the way from `src` to `dst`.
    pub fn bottleneck(&self, src: HostId, dst: HostId) -> Rate {
        let rates = self.first_path(src, dst).map(|port| self.port(port).rate);
        rates.min().unwrap_or_default()
    }

    /// The round-trip time on an idle network: a packet of `data` bytes on the wire is stored
    /// and forwarded over every link to `dst`, and one of `ack` bytes all the way back.
    pub fn base_rtt(&self, src: HostId, dst: HostId, data: Bytes, ack: Bytes) -> Time {
        round_trip(&self.links(self.first_path(src, dst)), data, ack)
    }

    /// [`Network::base_rtt`] over the links of `path`.
    pub fn base_rtt_along(&self, path: &[PortId], data: Bytes, ack: Bytes) -> Time {
        round_trip(&self.links(path.iter().copied()), data, ack)
    }

    /// The flow completion time on an idle network: from the first bit of `size` bytes, which are
    /// sent back to back, until the sender has the acknowledgement of the last.
    ///
    /// Every packet but the last carries 1460 B, each has a header of 40 B, each switch stores a
    /// packet and then forwards it, and the acknowledgement is 40 B. For whole packets this is the
    /// round-trip time of the first, plus the time of the others at the lowest rate on the path. No
    /// window and no handshake delays the flow, so nothing that keeps to one path is faster.
    pub fn ideal_fct(&self, src: HostId, dst: HostId, size: Bytes) -> Time {
        ideal_time(&self.links(self.first_path(src, dst)), size)
    }

    /// [`Network::ideal_fct`] over the links of `path`.
    pub fn ideal_fct_along(&self, path: &[PortId], size: Bytes) -> Time {
        ideal_time(&self.links(path.iter().copied()), size)
    }

    fn links(&self, path: impl Iterator<Item = PortId>) -> Vec<&LinkEnd> {
        path.map(|port| self.port(port)).collect()
    }
}

fn round_trip(path: &[&LinkEnd], data: Bytes, ack: Bytes) -> Time {
    let there = path.iter().map(|port| port.rate.transmission_time(data));
    sum(there).saturating_add(way_back(path, ack))
}

fn ideal_time(path: &[&LinkEnd], size: Bytes) -> Time {
    let rates: Vec<Rate> = path.iter().map(|port| port.rate).collect();
    store_and_forward(&rates, size).saturating_add(way_back(path, Bytes::new(PACKET_HEADER)))
}

/// The delays in both directions, and the transmission times of an acknowledgement. A link is the
/// same in both directions.
fn way_back(path: &[&LinkEnd], ack: Bytes) -> Time {
    sum(path.iter().map(|port| {
        let delays = port.delay.saturating_mul(2);
        delays.saturating_add(port.rate.transmission_time(ack))
    }))
}

/// The time that `size` bytes take over links of these rates, without delays, until the last packet
/// has passed the last link.
///
/// A packet leaves a link once it has arrived there and the packet before it has left. The last
/// one's time is therefore the longest of all sums along which packets and links advance one at
/// a time. Full packets are alike, so that the longest such sum takes the first packet up to
/// some link, lets the others follow at the slowest link so far, and takes the last packet
/// onwards from there.
fn store_and_forward(rates: &[Rate], size: Bytes) -> Time {
    let packets = size.get().div_ceil(PACKET_PAYLOAD).max(1);
    let full = Bytes::new(PACKET_WIRE);
    let last_payload = size.get() - (packets - 1) * PACKET_PAYLOAD;
    let last = Bytes::new(last_payload + PACKET_HEADER);
    let last_from =
        |link: usize| sum(rates[link..].iter().map(|rate| rate.transmission_time(last)));
    if packets == 1 {
        return last_from(0);
    }
    let mut first_until = Time::ZERO;
    let mut slowest = Time::ZERO;
    let mut longest = Time::ZERO;
    for (link, rate) in rates.iter().enumerate() {
        let transmission = rate.transmission_time(full);
        first_until = first_until.saturating_add(transmission);
        slowest = slowest.max(transmission);
        let others = slowest.saturating_mul(packets - 2);
        let total = first_until.saturating_add(others).saturating_add(last_from(link));
        longest = longest.max(total);
    }
    longest
}

fn sum(times: impl Iterator<Item = Time>) -> Time {
    times.fold(Time::ZERO, Time::saturating_add)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// [`store_and_forward`], computed packet by packet and link by link.
    fn packet_by_packet(rates: &[Rate], size: Bytes) -> Time {
        let mut left_to_send = size.get();
        let mut free_at = vec![Time::ZERO; rates.len()];
        let mut arrived = Time::ZERO;
        while left_to_send > 0 {
            let payload = left_to_send.min(PACKET_PAYLOAD);
            left_to_send -= payload;
            arrived = Time::ZERO;
            for (rate, free) in rates.iter().zip(&mut free_at) {
                arrived = arrived.max(*free)
                    + rate.transmission_time(Bytes::new(payload + PACKET_HEADER));
                *free = arrived;
            }
        }
        arrived
    }

    proptest! {
        #[test]
        fn the_closed_form_is_what_packets_do(
            gbps in prop::collection::vec(1u64..50, 1..7),
            size in 1u64..60_000,
        ) {
            let rates: Vec<Rate> = gbps.into_iter().map(Rate::from_gbps).collect();
            let size = Bytes::new(size);
            prop_assert_eq!(store_and_forward(&rates, size), packet_by_packet(&rates, size));
        }
    }
}
