//! The order in which windows go through a network's ports, and where packets wait for their turn.

use flowsched_topology::{HostId, LinkEnd, Network, NodeId, PortId};
use flowsched_units::{Bytes, PACKET_WIRE, Time};

use super::inbox::{Inbox, LONGEST_SPAN};

/// The ports of one node that have the same level ([`Network::levels`]), and the packets that are
/// about to reach them.
#[derive(Debug)]
pub(super) struct Bank<H> {
    pub(super) owner: NodeId,
    pub(super) level: usize,
    pub(super) ports: Vec<PortId>,
    pub(super) inbox: Inbox<H>,
    /// Whether packets have a choice among its ports.
    pub(super) has_choice: bool,
    /// Whether some of its ports lead to hosts.
    pub(super) leads_to_hosts: bool,
}

/// Which ports are together, and what leads where.
#[derive(Debug)]
pub(super) struct Layout {
    /// By port: its bank.
    pub(super) bank_of: Vec<u32>,
    /// By port: whether it leads to a host.
    pub(super) leads_to_host: Vec<bool>,
    /// By port: its place among all that lead to the same switch, or to any host.
    pub(super) rank_of: Vec<u32>,
    /// By node: how long any host's packet is on its way there, at least. Its ports may go on for so
    /// much longer than hosts before they need to know what these do next.
    pub(super) lead_of: Vec<Time>,
    /// The longest window: what hosts do in one reaches none of them before its end.
    pub(super) longest: Time,
    /// How far past its start a window may bring ports.
    pub(super) reach: Time,
    /// The shortest way from a switch to a host.
    pub(super) last_way: Time,
}

impl Layout {
    /// For a network whose ports have levels and whose hosts are at least a packet's time from each
    /// other; with its banks, those first that packets reach first.
    pub(super) fn divide<H: Copy>(network: &Network) -> Option<(Layout, Vec<Bank<H>>)> {
        let levels = network.levels()?;
        let lead_of = leads(network);
        let to_hosts = || network.hosts().map(|host| network.port(network.port_to(host)));
        let way = |port: &LinkEnd| lead_of[port.owner.index()] + port.delay;
        let round = to_hosts().map(way).min()?;
        // No packet gets to switches that no host is connected to.
        let is_reached = |lead: &Time| *lead < Time::MAX;
        let farthest = lead_of.iter().copied().filter(is_reached).max()?;
        let longest = round.min(LONGEST_SPAN);
        let reach = (round + farthest).min(LONGEST_SPAN);
        // In shorter windows most ports are visited for nothing: events are quicker.
        let packet = Bytes::new(PACKET_WIRE);
        let shortest = to_hosts().map(|port| port.rate.transmission_time(packet)).min()?;
        if longest.min(reach) < shortest {
            return None;
        }
        let (banks, bank_of) = group(network, &levels);
        let leads_to_host =
            network.ports().iter().map(|port| network.host(port.peer).is_some()).collect();
        let last_way = to_hosts().map(|port| port.delay).min()?.min(longest);
        let rank_of = ranks(network);
        let layout = Layout { bank_of, leads_to_host, rank_of, lead_of, longest, reach, last_way };
        Some((layout, banks))
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

/// The banks, and every port's.
fn group<H: Copy>(network: &Network, levels: &[u32]) -> (Vec<Bank<H>>, Vec<u32>) {
    let edges = network.one_host_an_edge();
    let mut order: Vec<PortId> = (0..levels.len() as u32).map(PortId).collect();
    let place = |port: &PortId| (levels[port.index()], network.port(*port).owner);
    order.sort_by_key(place);
    let mut bank_of = vec![0; levels.len()];
    let mut banks = Vec::new();
    for ports in order.chunk_by(|one, other| place(one) == place(other)) {
        for port in ports {
            bank_of[port.index()] = banks.len() as u32;
        }
        let owner = network.port(ports[0]).owner;
        let leads_to_host = |port: &PortId| network.host(network.port(*port).peer).is_some();
        banks.push(Bank {
            owner,
            level: levels[ports[0].index()] as usize,
            has_choice: has_choice(network, &edges, owner, ports),
            leads_to_hosts: ports.iter().any(leads_to_host),
            ports: ports.to_vec(),
            inbox: Inbox::default(),
        });
    }
    (banks, bank_of)
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

/// By port, its place among all that lead to the same switch, or to any host.
fn ranks(network: &Network) -> Vec<u32> {
    let mut so_far = vec![0; network.node_count() as usize];
    let ranks = network.ports().iter().map(|port| {
        let place = if network.host(port.peer).is_some() { 0 } else { port.peer.index() };
        so_far[place] += 1;
        so_far[place] - 1
    });
    ranks.collect()
}
