//! The order in which windows go through a network's ports, and how far they may go.

use flowsched_topology::{HostId, LinkEnd, Network, NodeId, PortId};
use flowsched_units::{Bytes, PACKET_WIRE, Time};

/// Which ports come after which, and what leads where.
#[derive(Debug)]
pub(super) struct Layout {
    /// All ports, those first that packets reach first: by level ([`Network::levels`]), and by node
    /// within a level.
    pub(super) order: Vec<PortId>,
    /// By port: its place in this order.
    pub(super) place_of: Vec<u32>,
    /// By port: its level.
    pub(super) level_of: Vec<u32>,
    /// By port: the first port of its node that has its level.
    pub(super) first_of: Vec<PortId>,
    /// By port that is the first of its node and level: whether packets have a choice among these.
    pub(super) has_choice: Vec<bool>,
    /// By node: how long any host's packet is on its way there, at least. Its ports may go on for so
    /// much longer than hosts before they need to know what these do next.
    pub(super) lead_of: Vec<Time>,
    /// The longest window: what hosts do in one reaches none of them before its end.
    pub(super) longest: Time,
    /// The shortest way from a switch to a host.
    pub(super) last_way: Time,
}

impl Layout {
    /// For a network whose ports have levels and whose hosts are at least a packet's time from each
    /// other.
    pub(super) fn divide(network: &Network) -> Option<Layout> {
        let level_of = network.levels()?;
        let lead_of = leads(network);
        let to_hosts = || network.hosts().map(|host| network.port(network.port_to(host)));
        let way = |port: &LinkEnd| lead_of[port.owner.index()] + port.delay;
        let longest = to_hosts().map(way).min()?;
        // In shorter windows most ports are visited for nothing: events are quicker.
        let packet = Bytes::new(PACKET_WIRE);
        let shortest = to_hosts().map(|port| port.rate.transmission_time(packet)).min()?;
        if longest < shortest {
            return None;
        }
        let last_way = to_hosts().map(|port| port.delay).min()?.min(longest);
        let mut order: Vec<PortId> = (0..level_of.len() as u32).map(PortId).collect();
        let key = |port: &PortId| (level_of[port.index()], network.port(*port).owner);
        order.sort_by_key(key);
        let edges = network.one_host_an_edge();
        let mut layout = Layout {
            place_of: vec![0; order.len()],
            first_of: vec![PortId(0); order.len()],
            has_choice: vec![false; order.len()],
            order: Vec::new(),
            level_of: Vec::new(),
            lead_of,
            longest,
            last_way,
        };
        let mut place = 0;
        for ports in order.chunk_by(|one, other| key(one) == key(other)) {
            let owner = network.port(ports[0]).owner;
            layout.has_choice[ports[0].index()] = has_choice(network, &edges, owner, ports);
            for port in ports {
                layout.first_of[port.index()] = ports[0];
                layout.place_of[port.index()] = place;
                place += 1;
            }
        }
        Some(Layout { order, level_of, ..layout })
    }
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

/// Whether there is a host to which several of these ports of one node lead; `edges` has one host
/// of every edge switch.
fn has_choice(network: &Network, edges: &[HostId], owner: NodeId, ports: &[PortId]) -> bool {
    network.host(owner).is_none()
        && edges.iter().any(|to| {
            let ways = network.routes().next(owner, *to);
            ways.len() > 1 && ports.contains(&ways[0])
        })
}
