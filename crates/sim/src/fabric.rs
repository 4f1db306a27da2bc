//! The links of a network and what crosses them.

use flowsched_schemes::Packet;
use flowsched_schemes::port::Port;
use flowsched_topology::{HostId, Network, NodeId, PortId, Routing};
use flowsched_units::{Rate, Time};

use crate::link::Link;
use crate::outcome::PortSample;
use crate::routing::Router;
use crate::tournament::Tournament;

/// All links, and which of them has the next arrival.
#[derive(Debug)]
pub(crate) struct Fabric<'a, P> {
    network: &'a Network,
    links: Vec<Link<P>>,
    /// When the first packet on each link arrives at its far end.
    arrivals: Tournament,
    router: Router<'a>,
    /// Whether ports draw on memory that their switch shares.
    shares_memory: bool,
}

/// Where a port is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// On a host's network card; otherwise in a switch.
    pub(crate) is_host: bool,
}

impl<'a, P: Port<Packet>> Fabric<'a, P> {
    pub(crate) fn new(
        network: &'a Network,
        routing: Routing,
        seed: u64,
        host_rate: f64,
        new_port: impl Fn(Site) -> P,
    ) -> Fabric<'a, P> {
        let links: Vec<Link<P>> = network
            .ports()
            .iter()
            .map(|port| {
                let site = Site { is_host: network.host(port.owner).is_some() };
                let share = if site.is_host { host_rate } else { 1.0 };
                let rate = Rate::from_bps((port.rate.as_bps() as f64 * share) as u64);
                Link::new(new_port(site), rate, port.delay, port.peer)
            })
            .collect();
        Fabric {
            network,
            arrivals: Tournament::new(links.len()),
            shares_memory: links.iter().any(Link::shares_memory),
            links,
            router: Router::new(network, routing, seed),
        }
    }

    /// When the next packet arrives anywhere.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Time {
        self.arrivals.first().map_or(Time::MAX, |(time, _)| time)
    }

    /// A host sends a packet.
    #[inline]
    pub(crate) fn send(&mut self, host: HostId, packet: Packet, now: Time) {
        self.offer(self.network.nic(host), packet, now);
    }

    /// The next packet arrives: at a host, to which it is handed, or at a switch, which sends it
    /// on.
    #[inline]
    pub(crate) fn deliver(&mut self) -> Option<(HostId, Packet)> {
        let (now, index) = self.arrivals.first()?;
        let link = &mut self.links[index];
        let packet = link.deliver()?;
        if link.is_empty() {
            // What waits is looked at only now: the packet that left next arrives later anyway.
            link.catch_up(now);
        }
        self.arrivals.replace_first(link.next_arrival(), now);
        let peer = link.peer;
        if let Some(host) = self.network.host(peer) {
            return Some((host, packet));
        }
        let port = self.router.next(peer, &packet);
        self.offer(port, packet, now);
        None
    }

    #[inline]
    fn offer(&mut self, port: PortId, packet: Packet, now: Time) {
        let elsewhere = if self.shares_memory { self.elsewhere(port, now) } else { 0 };
        let link = &mut self.links[port.index()];
        let was_empty = link.is_empty();
        link.catch_up(now);
        link.offer(now, packet, elsewhere);
        if was_empty && let Some(next) = link.next_arrival() {
            self.arrivals.add(port.index(), next, now);
        }
    }

    /// Bytes that wait in the other ports of the same node.
    fn elsewhere(&mut self, port: PortId, now: Time) -> u64 {
        let owner: NodeId = self.network.port(port).owner;
        let mut bytes = 0;
        for other in self.network.ports_of(owner) {
            if *other != port {
                let link = &mut self.links[other.index()];
                link.catch_up(now);
                bytes += link.waiting_bytes();
            }
        }
        bytes
    }

    /// Every port as it is at `now`.
    pub(crate) fn sample(&mut self, now: Time, samples: &mut Vec<PortSample>) {
        for (index, link) in self.links.iter_mut().enumerate() {
            link.catch_up(now);
            samples.push(link.sample(now, index as u32));
        }
    }

    /// Packets dropped by all ports.
    pub(crate) fn drops(&self) -> u64 {
        self.links.iter().map(Link::drops).sum()
    }

    /// Packets marked by all ports.
    pub(crate) fn marks(&self) -> u64 {
        self.links.iter().map(Link::marks).sum()
    }
}
