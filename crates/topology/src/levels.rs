//! Whether packets pass the ports of a network in one order, as through a pipeline.

use crate::ids::{HostId, PortId};
use crate::network::Network;

/// An engine that serves levels one after the other has no use for more levels than this.
const MOST_LEVELS: u32 = 32;

impl Network {
    /// The level of every port, by the port's number, with these properties:
    ///
    /// - Hosts' own ports have level 0.
    /// - A packet that has come through a port goes on through one of a higher level.
    /// - The ports that a packet may choose from have the same level.
    ///
    /// `None` if there is no such order: hosts forward, or shortest paths go round in circles, as
    /// in a random graph.
    pub fn levels(&self) -> Option<Vec<u32>> {
        if self.hosts_forward() {
            return None;
        }
        let mut levels: Vec<u32> =
            self.ports().iter().map(|port| u32::from(self.host(port.owner).is_none())).collect();
        let edges = self.one_host_an_edge();
        while edges.iter().fold(false, |changed, to| self.raise_towards(*to, &mut levels) | changed)
        {
            if levels.iter().any(|level| *level > MOST_LEVELS) {
                return None;
            }
        }
        for to in self.hosts() {
            let neighbour = edges[self.routes().column_of(to)];
            levels[self.port_to(to).index()] = levels[self.port_to(neighbour).index()];
        }
        Some(levels)
    }

    /// One host of every edge switch, in the order of the switches. Packets to other hosts of this
    /// switch take the same paths up to there. Where hosts forward, every host.
    pub fn one_host_an_edge(&self) -> Vec<HostId> {
        self.routes().one_host_an_edge()
    }

    /// Raises the levels of the ports on the paths to one host to what the ports before them
    /// demand. Returns whether any was too low.
    fn raise_towards(&self, to: HostId, levels: &mut [u32]) -> bool {
        let mut changed = false;
        for node in self.switches() {
            let ports = self.routes().next(node, to);
            changed |= raise(levels, ports, 1);
            let level = levels[ports[0].index()] + 1;
            for port in ports {
                let peer = self.port(*port).peer;
                if self.host(peer).is_none() {
                    changed |= raise(levels, self.routes().next(peer, to), level);
                }
            }
        }
        changed
    }
}

/// Raises `ports` to the highest level among them, at least `level`. Returns whether any was lower.
fn raise(levels: &mut [u32], ports: &[PortId], level: u32) -> bool {
    let level = ports.iter().map(|port| levels[port.index()]).fold(level, u32::max);
    let mut changed = false;
    for port in ports {
        changed |= levels[port.index()] < level;
        levels[port.index()] = level;
    }
    changed
}

#[cfg(test)]
mod tests {
    use flowsched_units::Settings;

    use super::*;

    fn network(kind: &str, changes: &[(&'static str, &str)]) -> Network {
        let kind = crate::kind(kind).unwrap();
        let mut settings = Settings::defaults(kind.parameters);
        for (key, text) in changes {
            let parameter = kind.parameters.iter().find(|one| one.name == *key).unwrap();
            settings.set(*key, parameter.kind.parse(text).unwrap());
        }
        crate::build(kind.name, &settings).unwrap()
    }

    #[test]
    fn a_packet_climbs_from_level_to_level_whichever_way_it_takes() {
        let networks = [
            network("leaf-spine", &[("leaves", "3"), ("spines", "2"), ("hosts_per_leaf", "2")]),
            network("fat-tree", &[("k", "4")]),
            network("single-rooted-tree", &[]),
            network("star", &[("hosts", "5")]),
            network("dumbbell", &[("hosts_per_side", "3")]),
        ];
        for network in networks {
            let levels = network.levels().unwrap();
            for to in network.hosts() {
                for (index, port) in network.ports().iter().enumerate() {
                    let number = PortId(index as u32);
                    if network.host(port.peer).is_some() {
                        continue;
                    }
                    let is_on_a_way = network.host(port.owner).is_some_and(|host| host != to)
                        || network.host(port.owner).is_none()
                            && network.routes().next(port.owner, to).contains(&number);
                    if !is_on_a_way {
                        continue;
                    }
                    let next = network.routes().next(port.peer, to);
                    for after in next {
                        assert!(levels[after.index()] > levels[index]);
                        assert_eq!(levels[after.index()], levels[next[0].index()]);
                    }
                }
            }
        }
    }

    #[test]
    fn levels_are_as_many_as_the_longest_way_has_links() {
        let deepest = |network: Network| network.levels().unwrap().into_iter().max().unwrap();
        assert_eq!(deepest(network("star", &[("hosts", "5")])), 1);
        assert_eq!(deepest(network("leaf-spine", &[])), 3);
        assert_eq!(deepest(network("fat-tree", &[("k", "4")])), 5);
    }

    #[test]
    fn where_ways_go_round_there_are_none() {
        assert!(network("jellyfish", &[]).levels().is_none());
        assert!(network("bcube", &[]).levels().is_none());
    }
}
