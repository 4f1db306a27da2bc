//! Which of several equal ports a packet takes.

use flowsched_schemes::Packet;
use flowsched_schemes::packet::{Flags, Header};
use flowsched_topology::{HostId, Network, NodeId, PortId, Routing};
use flowsched_workload::Flow;

use crate::Job;

/// The choices of all switches.
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
    Hash { seed: u64 },
    /// The same for data; ACKs go back over the links that the data came by.
    SameWayBack { seed: u64 },
    /// Round robin, with a counter for every node that chooses, from number `first` on, and
    /// destination, as the PIAS authors' simulator does.
    RoundRobin { first: u32, counters: Vec<u16> },
}

impl<'a> Router<'a> {
    /// `same_way_back`: whether ACKs must pass the switches that their data passed.
    pub(crate) fn new(job: &Job<'a>, same_way_back: bool) -> Router<'a> {
        let (network, seed) = (job.network, mix(job.seed));
        let choice = match job.routing() {
            Routing::Ecmp if same_way_back => Choice::SameWayBack { seed },
            Routing::Ecmp => Choice::Hash { seed },
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
        let is_back = packet.flags.has(Flags::ACK.with(Flags::MESSAGE));
        let path = Path { flow: packet.flow, path: packet.header.path(), is_back };
        match &mut self.choice {
            Choice::Hash { seed } => path.at(*seed, node, ports),
            Choice::SameWayBack { seed } if is_back && ports.len() > 1 => {
                let seed = *seed;
                self.way_back(seed, node, path)
            }
            Choice::SameWayBack { seed } => path.at(*seed, node, ports),
            Choice::RoundRobin { first, counters } => {
                let row = (node.0 - *first) as usize * self.network.host_count() as usize;
                let counter = &mut counters[row + packet.to as usize];
                let port = ports[usize::from(*counter) % ports.len()];
                *counter = ((usize::from(*counter) + 1) % ports.len()) as u16;
                port
            }
        }
    }

    /// The port of `switch` that leads back along the path of the flow's data. The path is
    /// walked from the sender: it is as long as the way is far, and remembering it would cost
    /// every flow memory.
    fn way_back(&self, seed: u64, switch: NodeId, path: Path) -> PortId {
        let flow = &self.flows[path.flow as usize];
        let there = Path { is_back: false, ..path };
        let mut port = self.network.nic(flow.src);
        while self.network.port(port).peer != switch {
            let node = self.network.port(port).peer;
            let ports = self.network.routes().next(node, flow.dst);
            port = there.at(seed, node, ports);
        }
        self.network.reverse(port)
    }
}

/// What decides the way of a packet where paths are chosen by flow.
#[derive(Clone, Copy)]
struct Path {
    flow: u32,
    path: u32,
    is_back: bool,
}

impl Path {
    /// Which of `ports` the packet takes at `switch`.
    #[inline]
    fn at(self, seed: u64, switch: NodeId, ports: &[PortId]) -> PortId {
        let key = (u64::from(self.flow) << 1) | u64::from(self.is_back);
        let path = u64::from(self.path) << 33;
        let hash = mix(seed ^ key ^ path ^ (u64::from(switch.0) << 40));
        // The high bits, scaled to the number of ports: no division, and no branch where there is
        // one port only, which costs more than the hash.
        ports[(((hash >> 32) * ports.len() as u64) >> 32) as usize]
    }
}

/// A fixed mixing of 64 bits (the finaliser of SplitMix64).
#[inline]
pub(crate) fn mix(key: u64) -> u64 {
    let key = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}
