//! The order in which windows go through a network's ports, and where packets wait for their turn.

use flowsched_schemes::Packet;
use flowsched_topology::{HostId, LinkEnd, Network, NodeId, PortId};
use flowsched_units::{Bytes, PACKET_HEADER, PACKET_WIRE, Time};

use super::sorter::Sorter;
use crate::link::OnTheWay;

/// The ports of one node that have the same level ([`Network::levels`]), and the packets that are
/// about to reach them.
#[derive(Debug)]
pub(super) struct Bank<H> {
    pub(super) owner: NodeId,
    pub(super) ports: Vec<PortId>,
    pub(super) inbox: Inbox<H>,
    /// Whether packets have a choice among its ports.
    pub(super) has_choice: bool,
    /// Whether some of its ports lead to hosts.
    pub(super) leads_to_hosts: bool,
    /// Whether nothing waits in its ports or is on its way from them.
    pub(super) is_idle: bool,
}

/// Where packets go that have come through a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// To the host at its far end.
    Host,
    /// To one bank, all of them.
    Bank(u32),
    /// To one of several banks, by their destinations.
    Banks,
}

/// Which ports are together, and what leads where.
#[derive(Debug)]
pub(super) struct Layout {
    /// By port: its bank.
    pub(super) bank_of: Vec<u32>,
    /// By port.
    pub(super) behind: Vec<Behind>,
    /// By port: its place among all that lead to the same switch, or to any host.
    pub(super) rank_of: Vec<u32>,
    /// By node: how long any host's packet is on its way there, at least. Its ports may go on for so
    /// much longer than hosts before they need to know what these do next.
    pub(super) lead_of: Vec<Time>,
    /// The longest window: what hosts do in one reaches none of them before its end.
    pub(super) longest: Time,
    /// How far past its start a window may bring ports. [`Keys`] of later arrivals would not fit
    /// in 64 bits.
    pub(super) reach: Time,
    /// The shortest way from a switch to a host.
    pub(super) last_way: Time,
}

impl Layout {
    /// For a network whose ports have levels and whose hosts are at least a packet's time from each
    /// other; with its banks, those first that packets reach first, and what takes arrivals at
    /// hosts.
    pub(super) fn divide<H: Copy>(network: &Network) -> Option<(Layout, Vec<Bank<H>>, Inbox<H>)> {
        let levels = network.levels()?;
        let lead_of = leads(network);
        let to_hosts = || network.hosts().map(|host| network.port(network.port_to(host)));
        let way = |port: &LinkEnd| lead_of[port.owner.index()] + port.delay;
        let round = to_hosts().map(way).min()?;
        // No packet gets to switches that no host is connected to.
        let is_reached = |lead: &Time| *lead < Time::MAX;
        let farthest = lead_of.iter().copied().filter(is_reached).max()?;
        let longest = Keys::longest_span(to_hosts(), round);
        let reach = (network.switches())
            .map(|node| Keys::longest_span(incoming(network, node), round + farthest))
            .fold(round + farthest, Time::min);
        // In shorter windows most ports are visited for nothing: events are quicker.
        let packet = Bytes::new(PACKET_WIRE);
        let shortest = to_hosts().map(|port| port.rate.transmission_time(packet)).min()?;
        if longest.min(reach) < shortest {
            return None;
        }
        let (banks, bank_of) = group(network, &levels, reach);
        let behind = behind(network, &bank_of);
        let arrivals = Inbox::new(Keys::for_links(to_hosts(), longest));
        let last_way = to_hosts().map(|port| port.delay).min()?.min(longest);
        let rank_of = ranks(network);
        let layout = Layout { bank_of, behind, rank_of, lead_of, longest, reach, last_way };
        Some((layout, banks, arrivals))
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
fn group<H: Copy>(network: &Network, levels: &[u32], span: Time) -> (Vec<Bank<H>>, Vec<u32>) {
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
            has_choice: has_choice(network, &edges, owner, ports),
            leads_to_hosts: ports.iter().any(leads_to_host),
            ports: ports.to_vec(),
            inbox: Inbox::new(Keys::for_links(incoming(network, owner), span)),
            is_idle: true,
        });
    }
    (banks, bank_of)
}

/// The ports at the far ends of the node's links.
fn incoming(network: &Network, node: NodeId) -> impl Iterator<Item = &LinkEnd> + Clone {
    network.ports_of(node).iter().map(|port| network.port(network.reverse(*port)))
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

/// By port, where packets go that have come through it.
fn behind(network: &Network, bank_of: &[u32]) -> Vec<Behind> {
    let mut behind = vec![Behind::Host; bank_of.len()];
    let mut note = |port: PortId, next: PortId| {
        let bank = Behind::Bank(bank_of[next.index()]);
        let known = &mut behind[port.index()];
        *known = match *known {
            Behind::Host => bank,
            same if same == bank => bank,
            _ => Behind::Banks,
        };
    };
    let (routes, edges) = (network.routes(), network.one_host_an_edge());
    for to in &edges {
        for from in &edges {
            note(network.nic(*from), routes.next(network.edge_of(*from), *to)[0]);
        }
        for node in network.switches() {
            for port in routes.next(node, *to) {
                let peer = network.port(*port).peer;
                if network.host(peer).is_none() {
                    note(*port, routes.next(peer, *to)[0]);
                }
            }
        }
    }
    // Neighbours send to the same switch.
    let mut behind_nics = vec![Behind::Host; network.node_count() as usize];
    for host in edges {
        behind_nics[network.edge_of(host).index()] = behind[network.nic(host).index()];
    }
    for host in network.hosts() {
        behind[network.nic(host).index()] = behind_nics[network.edge_of(host).index()];
    }
    behind
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

/// How a number tells which of the packets that arrive in one window comes first: by the time of
/// its arrival since the window began, then by the rank of its link, then by its place among those
/// that were noted. That is the order in which they are taken one event after the other.
#[derive(Clone, Copy, Debug)]
struct Keys {
    rank_bits: u32,
    place_bits: u32,
    /// All bits of a key that may be set.
    bits: u32,
}

impl Keys {
    /// For the packets that arrive over some ports' links within a span of time.
    fn for_links<'a>(ports: impl Iterator<Item = &'a LinkEnd>, span: Time) -> Keys {
        let (mut links, mut packets) = (0, 0);
        for port in ports {
            links += 1;
            packets += port.rate.bytes_in(span).get() / PACKET_HEADER + 2;
        }
        let (rank_bits, place_bits) = (bits(links), bits(packets));
        Keys { rank_bits, place_bits, bits: bits(span.as_ps()) + rank_bits + place_bits }
    }

    /// The longest span, `most` or what halving it gives, for which keys fit in 64 bits.
    fn longest_span<'a>(ports: impl Iterator<Item = &'a LinkEnd> + Clone, most: Time) -> Time {
        let mut span = most;
        while Keys::for_links(ports.clone(), span).bits > u64::BITS {
            span = span / 2;
        }
        span
    }
}

fn bits(most: u64) -> u32 {
    u64::BITS - most.leading_zeros()
}

/// Packets that arrive within one window, from several links.
#[derive(Clone, Debug)]
pub(super) struct Inbox<H> {
    keys: Keys,
    order: Vec<u64>,
    packets: Vec<Packet<H>>,
    sorter: Sorter,
}

impl<H: Copy> Inbox<H> {
    fn new(keys: Keys) -> Inbox<H> {
        Inbox { keys, order: Vec::new(), packets: Vec::new(), sorter: Sorter::default() }
    }

    /// Takes in packets of one link, which arrive in this order; the window began at `start`.
    #[inline]
    pub(super) fn extend(&mut self, start: Time, rank: u32, packets: &[OnTheWay<H>]) {
        let Keys { rank_bits, place_bits, .. } = self.keys;
        let first = self.packets.len() as u64;
        debug_assert!((first + packets.len() as u64) >> place_bits == 0);
        let keys = packets.iter().zip(first..).map(|(one, place)| {
            let time_and_rank = ((one.arrival - start).as_ps() << rank_bits) | u64::from(rank);
            (time_and_rank << place_bits) | place
        });
        self.order.extend(keys);
        self.packets.extend(packets.iter().map(|one| one.packet));
    }

    pub(super) fn sort(&mut self) {
        self.sorter.sort(&mut self.order, self.keys.bits);
    }

    /// When the packet at this place of the order arrives, since the window's start.
    #[inline]
    pub(super) fn since_start(&self, place: usize) -> Option<Time> {
        self.order.get(place).map(|key| self.time_of(*key))
    }

    /// The packet at this place of the order.
    #[inline]
    pub(super) fn packet(&self, place: usize) -> Packet<H> {
        self.packet_of(self.order[place])
    }

    /// All in order, and when they arrive since the window's start.
    #[inline]
    pub(super) fn in_order(&self) -> impl Iterator<Item = (Time, Packet<H>)> {
        self.order.iter().map(|key| (self.time_of(*key), self.packet_of(*key)))
    }

    #[inline]
    fn time_of(&self, key: u64) -> Time {
        Time::from_ps(key >> (self.keys.rank_bits + self.keys.place_bits))
    }

    #[inline]
    fn packet_of(&self, key: u64) -> Packet<H> {
        self.packets[(key & ((1 << self.keys.place_bits) - 1)) as usize]
    }

    pub(super) fn clear(&mut self) {
        self.order.clear();
        self.packets.clear();
    }
}

#[cfg(test)]
mod tests {
    use flowsched_schemes::packet::Flags;

    use super::*;

    #[test]
    fn packets_are_in_order_of_their_arrivals_then_of_their_links() {
        let network = {
            let kind = flowsched_topology::kind("leaf-spine").unwrap();
            let settings = flowsched_units::Settings::defaults(kind.parameters);
            flowsched_topology::build(kind.name, &settings).unwrap()
        };
        let mut inbox: Inbox<()> =
            Inbox::new(Keys::for_links(network.ports().iter(), Time::from_us(20)));
        let start = Time::from_ms(7);
        let one = |ns: u64, flow: u32| OnTheWay {
            arrival: start + Time::from_ns(ns),
            packet: Packet::data(flow, 0, 0, 1500, Flags::default()),
        };
        inbox.extend(start, 3, &[one(0, 1), one(5, 4), one(9, 6)]);
        inbox.extend(start, 2, &[one(5, 3), one(9, 5), one(19_999, 8)]);
        inbox.extend(start, 8, &[one(0, 2), one(12, 7)]);
        inbox.sort();
        let flows: Vec<u32> = inbox.in_order().map(|(_, packet)| packet.flow).collect();
        assert_eq!(flows, [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
