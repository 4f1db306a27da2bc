//! Which of several equal ports a packet takes.

use flowsched_schemes::Packet;
use flowsched_schemes::packet::{Flags, Header};
use flowsched_topology::{HostId, Network, NodeId, PortId, Routing};

/// The choices of all switches.
#[derive(Clone, Debug)]
pub(crate) struct Router<'a> {
    network: &'a Network,
    choice: Choice,
}

#[derive(Clone, Debug)]
enum Choice {
    /// By a hash of the flow, its path, the direction and the switch, as if each flow, or each
    /// path of it, had its own TCP ports.
    Hash { seed: u64 },
    /// Round robin, with a counter for every node and destination, as the PIAS authors'
    /// simulator does.
    RoundRobin { counters: Vec<u16> },
}

impl<'a> Router<'a> {
    pub(crate) fn new(network: &'a Network, routing: Routing, seed: u64) -> Router<'a> {
        let choice = match routing {
            Routing::Ecmp => Choice::Hash { seed: mix(seed) },
            Routing::Spray => {
                let counters = (network.node_count() * network.host_count()) as usize;
                Choice::RoundRobin { counters: vec![0; counters] }
            }
        };
        Router { network, choice }
    }

    /// The port through which `node` sends the packet on.
    #[inline]
    pub(crate) fn next<H: Header>(&mut self, node: NodeId, packet: &Packet<H>) -> PortId {
        let ports = self.network.routes().next(node, HostId(packet.to));
        match &mut self.choice {
            Choice::Hash { seed } => {
                let is_back = packet.flags.has(Flags::ACK.with(Flags::MESSAGE));
                let key = (u64::from(packet.flow) << 1) | u64::from(is_back);
                let path = u64::from(packet.header.path()) << 33;
                let hash = mix(*seed ^ key ^ path ^ (u64::from(node.0) << 40));
                // The high bits, scaled to the number of ports: no division, and no branch where
                // there is one port only, which costs more than the hash.
                ports[(((hash >> 32) * ports.len() as u64) >> 32) as usize]
            }
            Choice::RoundRobin { counters } => {
                let [only] = ports else {
                    let index = node.0 * self.network.host_count() + packet.to;
                    let counter = &mut counters[index as usize];
                    let port = ports[usize::from(*counter) % ports.len()];
                    *counter = ((usize::from(*counter) + 1) % ports.len()) as u16;
                    return port;
                };
                *only
            }
        }
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
