//! Chooses among several ports, or several paths, for each packet.

mod path_sets;
mod remembered;

use flowsched_schemes::Packet;
use flowsched_schemes::packet::{Flags, Header};
use flowsched_topology::{Ecmp, HostId, Network, NodeId, PortId, Routing, Way};
use flowsched_workload::Flow;

use crate::job::Job;
use path_sets::PathSets;
pub(crate) use remembered::{Remembered, Row};

/// Makes the choices of all switches.
#[derive(Clone, Debug)]
pub(crate) struct Router<'a> {
    network: &'a Network,
    flows: &'a [Flow],
    choice: Choice,
}

#[derive(Clone, Debug)]
enum Choice {
    /// By a hash of the flow, its path, the direction and the switch, as if each flow, or each
    /// path of it, had its own TCP ports.
    Hash(Ecmp),
    /// By a hash for data, as `Hash` does. ACKs go back over the links that the data came by.
    SameWayBack(Ecmp),
    /// Along whole paths of the network, which hosts choose by the flow and the number of its path. ACKs
    /// go back the same way.
    Paths(Ecmp, PathSets),
    /// Round robin, as in the PIAS authors' simulator. Every node that chooses has a counter for each
    /// destination. These nodes have numbers from `first` on.
    RoundRobin { first: u32, counters: Vec<u16> },
}

impl<'a> Router<'a> {
    /// A router for packets with headers of type `H`. `same_way_back` tells whether ACKs must pass the
    /// switches that their data passed.
    pub(crate) fn new<H: Header>(job: &Job<'a>, same_way_back: bool) -> Router<'a> {
        let (network, ecmp) = (job.network, Ecmp::new(job.seed));
        let choice = match job.routing {
            Routing::Ecmp if !goes_shortest_ways::<H>(network) => {
                Choice::Paths(ecmp, PathSets::new(network, job.flows))
            }
            Routing::Ecmp if same_way_back => Choice::SameWayBack(ecmp),
            Routing::Ecmp => Choice::Hash(ecmp),
            Routing::Spray => {
                // Hosts choose only where they forward.
                let first = if network.hosts_forward() { 0 } else { network.host_count() };
                let nodes = (network.node_count() - first) as usize;
                let counters = vec![0; nodes * network.host_count() as usize];
                Choice::RoundRobin { first, counters }
            }
        };
        Router { network, flows: job.flows, choice }
    }

    /// The port through which `node` sends the packet on.
    #[inline]
    pub(crate) fn next<H: Header>(&mut self, node: NodeId, packet: &Packet<H>) -> PortId {
        let ports = self.network.routes().next(node, HostId(packet.to));
        let is_back = is_back(packet);
        let way = Way { flow: packet.flow, path: packet.header.path(), is_back };
        match &mut self.choice {
            Choice::Hash(ecmp) => ecmp.choose(node, way, ports),
            Choice::SameWayBack(ecmp) if is_back && ports.len() > 1 => {
                let ecmp = *ecmp;
                self.way_back(ecmp, node, way, ports)
            }
            Choice::SameWayBack(ecmp) => ecmp.choose(node, way, ports),
            Choice::Paths(ecmp, sets) => {
                let path = ecmp.choose_path(way, sets.paths_of(way.flow));
                along(self.network, path, node, is_back).unwrap_or(ports[0])
            }
            Choice::RoundRobin { first, counters } => {
                let row = (node.0 - *first) as usize * self.network.host_count() as usize;
                let counter = &mut counters[row + packet.to as usize];
                let port = ports[usize::from(*counter) % ports.len()];
                *counter = ((usize::from(*counter) + 1) % ports.len()) as u16;
                port
            }
        }
    }

    /// Whether all packets of one flow, path and direction take one way, which is a shortest one.
    fn goes_by_flow(&self) -> bool {
        matches!(self.choice, Choice::Hash(_) | Choice::SameWayBack(_))
    }

    /// Whether the way of a packet depends on the packets that came before it.
    fn takes_turns(&self) -> bool {
        matches!(self.choice, Choice::RoundRobin { .. })
    }

    /// The ports among which `node` chooses for the packet.
    #[inline]
    fn choices<H: Header>(&self, node: NodeId, packet: &Packet<H>) -> &'a [PortId] {
        self.network.routes().next(node, HostId(packet.to))
    }

    /// The port of `node` that leads back along the path of the flow's data. This follows the path from
    /// the sender each time: the work grows only with the number of hops, and remembering the path would
    /// cost memory for every flow.
    fn way_back(&self, ecmp: Ecmp, node: NodeId, way: Way, ports: &[PortId]) -> PortId {
        let flow = &self.flows[way.flow as usize];
        let there = Way { is_back: false, ..way };
        let mut path = ecmp.ports_of(self.network, there, flow.src, flow.dst);
        let came_by = path.find(|port| self.network.port(*port).peer == node);
        came_by.map_or(ports[0], |port| self.network.reverse(port))
    }
}

/// Whether packets with headers of type `H` take only shortest ways, as the network's routes do. Flows
/// that are spread take all parallel paths of the network, some of which may be longer.
pub(crate) fn goes_shortest_ways<H: Header>(network: &Network) -> bool {
    !H::IS_SPREAD || !network.has_parallel_paths()
}

/// Whether the packet goes to the sender of its flow.
#[inline]
fn is_back<H>(packet: &Packet<H>) -> bool {
    packet.flags.has(Flags::ACK.with(Flags::MESSAGE))
}

/// The port through which `node` sends on a packet that follows `path`, or follows it back.
fn along(network: &Network, path: &[PortId], node: NodeId, is_back: bool) -> Option<PortId> {
    let mut path = path.iter().copied();
    if is_back {
        path.find(|port| network.port(*port).peer == node).map(|port| network.reverse(port))
    } else {
        path.find(|port| network.port(*port).owner == node)
    }
}
