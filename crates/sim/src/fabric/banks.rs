//! The order in which windows go through a network's ports, and how long windows may be.

use std::ops::Range;

use flowsched_schemes::packet::Header;
use flowsched_topology::{LinkEnd, Network, NodeId, PortId};
use flowsched_units::{Bytes, PACKET_WIRE, Time};

use crate::division::Division;
use crate::routing::goes_shortest_ways;

/// The order of ports, and the times that bound windows.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// All ports, sorted by level ([`Network::levels`]) and by node within a level. The ports of other
    /// parts of the network come last.
    pub(super) order: Vec<PortId>,
    /// The places of the part's own ports, in stages. Parts exchange packets between two stages.
    pub(super) stages: Vec<Range<u32>>,
    /// The place of each port in `order`.
    pub(super) place_of: Vec<u32>,
    /// The level of each port.
    pub(super) level_of: Vec<u32>,
    /// For each port, the first port of its node that has its level.
    pub(super) first_of: Vec<PortId>,
    /// For each node, the least delay of a packet from any host. Its ports can be served for this much
    /// longer than hosts, since nothing that hosts do now reaches them earlier.
    pub(super) lead_of: Vec<Time>,
    /// The longest window: no packet sent in a window reaches a host before its end.
    pub(super) longest: Time,
    /// The shortest delay from a switch to a host.
    pub(super) last_way: Time,
    /// How long in advance the messages of controllers without a deadline are known.
    pub(super) foresight: Time,
}

impl Layout {
    /// The layout of a network for packets with headers of type `H`. There is none if ports have no levels
    /// on the ways of these packets, or if windows would be shorter than a packet's transmission.
    pub(crate) fn new<H: Header>(network: &Network) -> Option<Layout> {
        Layout::with_leads::<H>(network, leads(network))
    }

    /// The layout where controllers send messages, which are known `foresight` in advance. All ports are
    /// served up to the same time as hosts.
    pub(crate) fn in_step<H: Header>(network: &Network, foresight: Time) -> Option<Layout> {
        if foresight < shortest_window(network)? {
            return None;
        }
        let layout =
            Layout::with_leads::<H>(network, vec![Time::ZERO; network.node_count() as usize])?;
        Some(Layout { foresight, ..layout })
    }

    fn with_leads<H: Header>(network: &Network, lead_of: Vec<Time>) -> Option<Layout> {
        // Levels are those of shortest ways.
        if !goes_shortest_ways::<H>(network) {
            return None;
        }
        let level_of = network.levels()?;
        let to_hosts = || network.hosts().map(|host| network.port(network.port_to(host)));
        let way = |port: &LinkEnd| lead_of[port.owner.index()] + port.delay;
        let longest = to_hosts().map(way).min()?;
        if longest < shortest_window(network)? {
            return None;
        }
        let last_way = to_hosts().map(|port| port.delay).min()?.min(longest);
        let mut order: Vec<PortId> = (0..level_of.len() as u32).map(PortId).collect();
        let key = |port: &PortId| (level_of[port.index()], network.port(*port).owner);
        order.sort_by_key(key);
        let mut first_of = vec![PortId(0); order.len()];
        for ports in order.chunk_by(|one, other| key(one) == key(other)) {
            for port in ports {
                first_of[port.index()] = ports[0];
            }
        }
        let all = 0..order.len() as u32;
        let place_of = places(&order);
        let stages = vec![all];
        Some(Layout {
            order,
            stages,
            place_of,
            level_of,
            first_of,
            lead_of,
            longest,
            last_way,
            foresight: Time::MAX,
        })
    }

    /// The number of the part's own ports, which have the first places.
    pub(super) fn own(&self) -> u32 {
        self.stages.last().map_or(0, |stage| stage.end)
    }

    /// The layout for one part of the network.
    pub(crate) fn of_part(&self, network: &Network, division: &Division, part: usize) -> Layout {
        let mut order = self.order.clone();
        // A stable sort keeps the order within each part.
        order.sort_by_key(|port| division.of_port(*port) != part);
        let own = order.iter().filter(|port| division.of_port(**port) == part).count();
        let level_at = |place: usize| self.level_of[order[place].index()];
        let mut stages = Vec::new();
        let mut start = 0;
        for cut in self.cuts(network, division).into_iter().chain([u32::MAX]) {
            let end = (start..own).find(|place| level_at(*place) >= cut).unwrap_or(own);
            stages.push(start as u32..end as u32);
            start = end;
        }
        Layout { place_of: places(&order), order, stages, ..self.clone() }
    }

    /// The levels before which parts have to exchange packets, as few as possible: one between any two ports
    /// of different parts of which one passes packets to the other.
    fn cuts(&self, network: &Network, division: &Division) -> Vec<u32> {
        let level = |port: PortId| self.level_of[port.index()];
        let mut ways: Vec<(u32, u32)> = Vec::new();
        for (number, port) in network.ports().iter().enumerate() {
            let from = PortId(number as u32);
            let is_after = |next: &&PortId| level(**next) > level(from);
            let is_other = |next: &&PortId| division.of_port(**next) != division.of_port(from);
            let next = network.ports_of(port.peer).iter().filter(is_after).filter(is_other);
            ways.extend(next.map(|next| (level(*next), level(from))));
        }
        ways.sort_unstable();
        let mut cuts: Vec<u32> = Vec::new();
        for (to, from) in ways {
            if cuts.last().is_none_or(|cut| *cut <= from) {
                cuts.push(to);
            }
        }
        cuts
    }
}

/// The shortest window that is worth while: in a shorter one most ports have nothing to do, and single
/// events are faster.
fn shortest_window(network: &Network) -> Option<Time> {
    let packet = Bytes::new(PACKET_WIRE);
    let to_hosts = network.hosts().map(|host| network.port(network.port_to(host)));
    to_hosts.map(|port| port.rate.transmission_time(packet)).min()
}

/// The place of each port in this order.
fn places(order: &[PortId]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (place, port) in (0..).zip(order) {
        places[port.index()] = place;
    }
    places
}

/// For each node, the least delay of a packet from any host.
fn leads(network: &Network) -> Vec<Time> {
    let from =
        |node: u32| if network.host(NodeId(node)).is_some() { Time::ZERO } else { Time::MAX };
    let mut leads: Vec<Time> = (0..network.node_count()).map(from).collect();
    let mut is_settled = false;
    while !is_settled {
        is_settled = true;
        for port in network.ports() {
            let way = leads[port.owner.index()].saturating_add(port.delay);
            is_settled &= leads[port.peer.index()] <= way;
            leads[port.peer.index()] = leads[port.peer.index()].min(way);
        }
    }
    leads
}
