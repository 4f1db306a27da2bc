//! The order in which windows go through a network's ports, and how far they may go.

use std::ops::Range;

use flowsched_schemes::packet::Header;
use flowsched_topology::{LinkEnd, Network, NodeId, PortId};
use flowsched_units::{Bytes, PACKET_WIRE, Time};

use crate::division::Division;
use crate::routing::goes_shortest_ways;

/// Which ports come after which, and what leads where.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// All ports: those of other parts of the network last, those first that packets reach first, by level
    /// ([`Network::levels`]), and by node within a level.
    pub(super) order: Vec<PortId>,
    /// The places of the part's own ports, in stages: ports get packets from other parts only when they have
    /// gone through earlier stages.
    pub(super) stages: Vec<Range<u32>>,
    /// By port: its place in this order.
    pub(super) place_of: Vec<u32>,
    /// By port: its level.
    pub(super) level_of: Vec<u32>,
    /// By port: the first port of its node that has its level.
    pub(super) first_of: Vec<PortId>,
    /// By node: how long any host's packet is on its way there, at least. Its ports may go on for so
    /// much longer than hosts before they need to know what these do next.
    pub(super) lead_of: Vec<Time>,
    /// The longest window: what hosts do in one reaches none of them before its end.
    pub(super) longest: Time,
    /// The shortest way from a switch to a host.
    pub(super) last_way: Time,
    /// How long before they are sent the messages of controllers without a deadline are known.
    pub(super) foresight: Time,
}

impl Layout {
    /// For a network whose ports have levels on the ways of packets with headers of type `H`, and whose hosts
    /// are at least a packet's time from each other.
    pub(crate) fn new<H: Header>(network: &Network) -> Option<Layout> {
        Layout::with_leads::<H>(network, leads(network))
    }

    /// The same where controllers' messages are known for so long before they are sent. No port goes on for
    /// longer than hosts.
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

    /// How many ports are the part's own: theirs are the first places.
    pub(super) fn own(&self) -> u32 {
        self.stages.last().map_or(0, |stage| stage.end)
    }

    /// The same for one part of the network.
    pub(crate) fn of_part(&self, network: &Network, division: &Division, part: usize) -> Layout {
        let mut order = self.order.clone();
        // Stable: the order within the part and within others stays.
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

    /// The levels before which parts have to exchange packets, as few as may be: between any two ports of
    /// different parts of which one may hand a packet to the other.
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

/// In shorter windows than this most ports are visited for nothing: events are quicker.
fn shortest_window(network: &Network) -> Option<Time> {
    let packet = Bytes::new(PACKET_WIRE);
    let to_hosts = network.hosts().map(|host| network.port(network.port_to(host)));
    to_hosts.map(|port| port.rate.transmission_time(packet)).min()
}

/// By port: its place in this order.
fn places(order: &[PortId]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (place, port) in (0..).zip(order) {
        places[port.index()] = place;
    }
    places
}

/// By node, the shortest time that a packet of any host is on links before it arrives.
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
