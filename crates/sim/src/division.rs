//! Which part of a network each thread of a run simulates.
//!
//! A part has neighbouring hosts and the ports near them, and about as much traffic as any other part. A switch
//! whose hosts are all in one part belongs to that part, and so does every port that leads down to the switch.
//! Few packets therefore change parts.

use flowsched_topology::{HostId, LinkEnd, Network, NodeId, PortId};
use flowsched_workload::Flow;

/// The parts of a network.
#[derive(Clone, Debug)]
pub(crate) struct Division {
    /// The number of parts.
    pub(crate) parts: usize,
    of_host: Vec<u32>,
    of_port: Vec<u32>,
}

impl Division {
    /// Divides the network into up to `parts` parts with at least one host each.
    pub(crate) fn new(network: &Network, flows: &[Flow], parts: usize) -> Division {
        let parts = parts.clamp(1, network.host_count() as usize);
        let of_host = divide_hosts(network, flows, parts);
        let homes = homes(network, &of_host);
        let ports = network.ports().iter().enumerate();
        let of_port = ports.map(|(number, port)| {
            let home = |node: NodeId| homes[node.index()];
            let is_to_host = network.host(port.peer).is_some();
            let first = if is_to_host { home(port.peer) } else { home(port.owner) };
            first.or(home(port.peer)).unwrap_or((number % parts) as u32)
        });
        Division { parts, of_port: of_port.collect(), of_host }
    }

    /// The part that a host is in.
    #[inline]
    pub(crate) fn of_host(&self, host: HostId) -> usize {
        self.of_host[host.index()] as usize
    }

    /// The part that a port is in.
    #[inline]
    pub(crate) fn of_port(&self, port: PortId) -> usize {
        self.of_port[port.index()] as usize
    }
}

/// The part of each host. Hosts of one switch are next to each other, and all parts have about the same
/// traffic.
fn divide_hosts(network: &Network, flows: &[Flow], parts: usize) -> Vec<u32> {
    let mut traffic = vec![1; network.host_count() as usize];
    for flow in flows {
        for host in [flow.src, flow.dst] {
            traffic[host.index()] += flow.size.get();
        }
    }
    let total: u64 = traffic.iter().sum();
    let mut hosts: Vec<HostId> = network.hosts().collect();
    hosts.sort_by_key(|host| network.port(network.nic(*host)).peer);
    let mut of_host = vec![0; hosts.len()];
    let mut before = 0;
    for host in hosts {
        let middle = u128::from(before + traffic[host.index()] / 2);
        of_host[host.index()] = (middle * parts as u128 / u128::from(total)) as u32;
        before += traffic[host.index()];
    }
    of_host
}

/// The part of each node's nearest hosts; `None` if these are in several parts.
fn homes(network: &Network, of_host: &[u32]) -> Vec<Option<u32>> {
    let mut homes: Vec<Option<u32>> = vec![None; network.node_count() as usize];
    let mut distances = vec![u32::MAX; network.node_count() as usize];
    for host in network.hosts() {
        homes[host.node().index()] = Some(of_host[host.index()]);
        distances[host.node().index()] = 0;
    }
    for distance in 1.. {
        let is_reached = |port: &&LinkEnd| distances[port.peer.index()] == distance - 1;
        let is_new = |node: &NodeId| distances[node.index()] == u32::MAX;
        let new: Vec<(NodeId, Option<u32>)> = network
            .switches()
            .filter(is_new)
            .filter_map(|node| {
                let ports = network.ports_of(node).iter().map(|port| network.port(*port));
                let mut nearer = ports.filter(is_reached).map(|port| homes[port.peer.index()]);
                let first = nearer.next()?;
                Some((node, first.filter(|_| nearer.all(|home| home == first))))
            })
            .collect();
        if new.is_empty() {
            break;
        }
        for (node, home) in new {
            homes[node.index()] = home;
            distances[node.index()] = distance;
        }
    }
    homes
}

#[cfg(test)]
mod tests {
    use flowsched_topology::{LOSS, TopologyKind};
    use flowsched_units::{Bytes, Settings, Time};

    use super::*;

    fn network(kind: &str, changes: &[(&str, &str)]) -> Network {
        let kind: &TopologyKind = flowsched_topology::kind(kind).unwrap();
        let mut settings = Settings::defaults(kind.parameters.iter().chain(LOSS));
        for (name, text) in changes {
            let parameter = kind.parameters.iter().find(|one| one.name == *name).unwrap();
            settings.set(*name, parameter.kind.parse(text).unwrap());
        }
        flowsched_topology::build(kind.name, &settings).unwrap()
    }

    #[test]
    fn ports_are_where_their_hosts_are() {
        let fabrics = [("leaf-spine", vec![("leaves", "4")]), ("fat-tree", vec![("k", "4")])];
        for (kind, changes) in fabrics {
            let network = network(kind, &changes);
            let division = Division::new(&network, &[], 2);
            for host in network.hosts() {
                let part = usize::from(host.0 >= network.host_count() / 2);
                assert_eq!(division.of_host(host), part);
                assert_eq!(division.of_port(network.nic(host)), part);
                assert_eq!(division.of_port(network.port_to(host)), part);
            }
            for to in network.hosts() {
                for switch in network.switches() {
                    // Where only one way leads to a host, it leads down.
                    if let [down] = network.routes().next(switch, to) {
                        assert_eq!(division.of_port(*down), division.of_host(to), "{kind}");
                    }
                }
            }
        }
    }

    #[test]
    fn parts_have_the_same_traffic_where_hosts_do_not() {
        let network = network("star", &[("hosts", "8")]);
        let flow = |id: u32, src, dst, size| {
            Flow::new(id, HostId(src), HostId(dst), Bytes::new(size), Time::ZERO)
        };
        let division = Division::new(&network, &[flow(0, 0, 1, 1 << 20), flow(1, 2, 7, 100)], 2);
        let parts: Vec<usize> = network.hosts().map(|host| division.of_host(host)).collect();
        assert_eq!(parts, [0, 1, 1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn there_are_no_more_parts_than_hosts() {
        let network = network("star", &[("hosts", "3")]);
        assert_eq!(Division::new(&network, &[], 7).parts, 3);
    }
}
