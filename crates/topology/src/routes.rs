//! Which ports lead to a host: shortest paths, all of them.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use crate::error::NetworkError;
use crate::ids::{HostId, NodeId, PortId};
use crate::port::{Grouped, LinkEnd};

/// For every switch and destination, the equal-cost ports to choose from.
///
/// The table has one row per switch and one column per edge switch, so that it stays in the cache:
/// a few kilobytes for hundreds of hosts. A look-up neither hashes nor allocates. Where hosts
/// forward, hosts have rows too, and every host has a column.
#[derive(Clone, Debug)]
pub struct Routes {
    /// The node of the first row: the first switch, or the first host where hosts forward.
    first_node: u32,
    column_count: u32,
    /// The column of each host's edge switch, or the host's own column.
    column_of: Vec<u32>,
    /// Groups of `members`, row by row, one for each column.
    groups: Vec<Group>,
    /// For each host, the port of its edge switch that leads to it. Then the members of groups.
    members: Vec<PortId>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    first: u32,
    count: u32,
    /// 1 at the edge switch itself, where there is one port for each host; otherwise 0. It is a
    /// number, so that finding a group needs no branch: the processor cannot predict which way a
    /// packet goes.
    is_edge: u32,
}

/// The groups that a node has so far.
#[derive(Clone, Debug, Default)]
struct Known {
    groups: HashMap<Vec<PortId>, Group>,
    latest: Option<Group>,
}

impl Routes {
    /// The ports of `node` on the shortest paths to the host `to`, at least one, in the order of
    /// their numbers. `node` is another node than `to`.
    ///
    /// # Panics
    /// If `node` is a host, which has no choice, unless hosts forward.
    #[inline]
    pub fn next(&self, node: NodeId, to: HostId) -> &[PortId] {
        let column = self.column_of[to.index()] as usize;
        let row = (node.0 - self.first_node) as usize;
        let group = self.groups[row * self.column_count as usize + column];
        let first = (group.first + group.is_edge * to.0) as usize;
        &self.members[first..][..group.count as usize]
    }

    /// The first host of each column.
    pub(crate) fn one_host_an_edge(&self) -> Vec<HostId> {
        let mut first = vec![HostId(0); self.column_count as usize];
        for (host, column) in self.column_of.iter().enumerate().rev() {
            first[*column as usize] = HostId(host as u32);
        }
        first
    }

    /// The column of a host: the same for hosts of one edge switch.
    pub(crate) fn column_of(&self, host: HostId) -> usize {
        self.column_of[host.index()] as usize
    }

    /// Shortest paths by breadth-first search from every edge switch; `ports` are in the order
    /// that [`PortId`] promises.
    pub(crate) fn shortest(
        hosts: u32,
        nodes: u32,
        ports: &[LinkEnd],
    ) -> Result<Routes, NetworkError> {
        let edges = Edges::from_ports(hosts, ports);
        let core = Core::from_ports(hosts, nodes, ports);
        let edge_count = edges.rows.len();
        let mut routes = Routes {
            first_node: hosts,
            column_count: edge_count as u32,
            column_of: edges.column_of.clone(),
            groups: vec![Group::default(); core.switch_count() * edge_count],
            members: (hosts..2 * hosts).map(PortId).collect(),
        };
        let distances = core.distances(&edges)?;
        let mut closer = Vec::new();
        // Row by row, so that the groups known of one switch and the distances from its neighbours
        // stay in the cache.
        for (row, groups) in routes.groups.chunks_mut(edge_count.max(1)).enumerate() {
            let mut known = Known::default();
            for (column, group) in groups.iter_mut().enumerate() {
                core.list_closer(row, |row| distances[row * edge_count + column], &mut closer);
                *group = remember(&mut routes.members, &closer, &mut known);
            }
        }
        Ok(routes)
    }

    /// Shortest paths over hosts and switches alike, by breadth-first search from every host.
    pub(crate) fn forwarding(
        hosts: u32,
        ports: &[LinkEnd],
        by_owner: &Grouped,
        nodes: u32,
    ) -> Result<Routes, NetworkError> {
        let mut routes = Routes {
            first_node: 0,
            column_count: hosts,
            column_of: (0..hosts).collect(),
            groups: vec![Group::default(); nodes as usize * hosts as usize],
            members: (hosts..2 * hosts).map(PortId).collect(),
        };
        let mut known = vec![Known::default(); nodes as usize];
        for to in (0..hosts).map(HostId) {
            let distances = distances_to(to.node(), nodes, ports, by_owner);
            if let Some(from) = (0..hosts).find(|from| distances[*from as usize] == UNREACHED) {
                return Err(NetworkError::Unreachable { from: HostId(from), to });
            }
            for node in (0..nodes).map(NodeId) {
                let here = distances[node.index()];
                let is_closer = |port: &PortId| {
                    distances[ports[port.index()].peer.index()] < here && here != UNREACHED
                };
                let closer: Vec<PortId> =
                    by_owner.of_node(node).iter().copied().filter(is_closer).collect();
                let group = remember(&mut routes.members, &closer, &mut known[node.index()]);
                routes.groups[node.index() * hosts as usize + to.index()] = group;
            }
        }
        Ok(routes)
    }
}

/// The group of these ports: one of the node's `known` ones, or a new one among `members`. Without
/// ports, the node is the edge switch, or the host, itself.
fn remember(members: &mut Vec<PortId>, ports: &[PortId], known: &mut Known) -> Group {
    if ports.is_empty() {
        return Group { first: 0, count: 1, is_edge: 1 };
    }
    let ports_of = |group: &Group| &members[group.first as usize..][..group.count as usize];
    // Neighbouring edge switches tend to share a group: the latest is the likeliest.
    if let Some(latest) = known.latest.filter(|group| ports_of(group) == ports) {
        return latest;
    }
    if let Some(group) = known.groups.get(ports) {
        known.latest = Some(*group);
        return *group;
    }
    let group = Group { first: members.len() as u32, count: ports.len() as u32, is_edge: 0 };
    members.extend(ports);
    known.groups.insert(ports.to_vec(), group);
    known.latest = Some(group);
    group
}

/// The number of links from each node to `to`.
fn distances_to(to: NodeId, nodes: u32, ports: &[LinkEnd], by_owner: &Grouped) -> Vec<u32> {
    let mut distances = vec![UNREACHED; nodes as usize];
    distances[to.index()] = 0;
    let mut queue = VecDeque::from([to]);
    while let Some(node) = queue.pop_front() {
        let distance = distances[node.index()] + 1;
        // Links have two directions: where a port leads to, one leads back.
        for port in by_owner.of_node(node) {
            let peer = ports[port.index()].peer;
            if distances[peer.index()] == UNREACHED {
                distances[peer.index()] = distance;
                queue.push_back(peer);
            }
        }
    }
    distances
}

/// The switches that have hosts.
struct Edges {
    /// The row of each column's edge switch.
    rows: Vec<usize>,
    /// The column of each host's edge switch.
    column_of: Vec<u32>,
}

impl Edges {
    fn from_ports(hosts: u32, ports: &[LinkEnd]) -> Edges {
        let row_of = |host: u32| (ports[host as usize].peer.0 - hosts) as usize;
        let mut rows: Vec<usize> = (0..hosts).map(row_of).collect();
        rows.sort_unstable();
        rows.dedup();
        let column_of =
            (0..hosts).map(|host| rows.partition_point(|row| *row < row_of(host)) as u32).collect();
        Edges { rows, column_of }
    }

    fn first_host(&self, column: usize) -> HostId {
        let found = self.column_of.iter().position(|other| *other as usize == column);
        HostId(found.unwrap_or_default() as u32)
    }
}

const UNREACHED: u32 = u32::MAX;

/// The links between switches, packed for searching: a switch's ports are next to each other.
struct Core {
    first_port: u32,
    /// Where the ports of each row's switch start in `peers`, and one more at the end.
    starts: Vec<usize>,
    /// The row of the switch at the far end of each core port.
    peers: Vec<u32>,
}

impl Core {
    fn from_ports(hosts: u32, nodes: u32, ports: &[LinkEnd]) -> Core {
        let core = &ports[2 * hosts as usize..];
        let starts = (hosts..=nodes)
            .map(|node| core.partition_point(|port| port.owner < NodeId(node)))
            .collect();
        let peers = core.iter().map(|port| port.peer.0 - hosts).collect();
        Core { first_port: 2 * hosts, starts, peers }
    }

    fn switch_count(&self) -> usize {
        self.starts.len() - 1
    }

    fn ports_of(&self, row: usize) -> Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    /// The number of links from each switch to each edge switch, row by row.
    ///
    /// # Errors
    /// [`NetworkError::Unreachable`] if an edge switch cannot be reached from another one.
    fn distances(&self, edges: &Edges) -> Result<Vec<u32>, NetworkError> {
        let edge_count = edges.rows.len();
        let mut all = vec![UNREACHED; self.switch_count() * edge_count];
        for (column, edge) in edges.rows.iter().enumerate() {
            let distances = self.distances_to(*edge);
            if let Some(cut_off) = edges.rows.iter().position(|row| distances[*row] == UNREACHED) {
                let (from, to) = (edges.first_host(cut_off), edges.first_host(column));
                return Err(NetworkError::Unreachable { from, to });
            }
            for (row, distance) in distances.into_iter().enumerate() {
                all[row * edge_count + column] = distance;
            }
        }
        Ok(all)
    }

    /// The number of links from each row's switch to the switch of row `edge`.
    fn distances_to(&self, edge: usize) -> Vec<u32> {
        let mut distances = vec![UNREACHED; self.switch_count()];
        distances[edge] = 0;
        let mut queue = VecDeque::from([edge]);
        while let Some(row) = queue.pop_front() {
            let distance = distances[row] + 1;
            for peer in &self.peers[self.ports_of(row)] {
                let known = &mut distances[*peer as usize];
                if *known == UNREACHED {
                    *known = distance;
                    queue.push_back(*peer as usize);
                }
            }
        }
        distances
    }

    /// Lists the ports of the switch in `row` whose far ends are one link closer. `distance` gives
    /// the distance of a row.
    fn list_closer(&self, row: usize, distance: impl Fn(usize) -> u32, closer: &mut Vec<PortId>) {
        let here = distance(row);
        closer.clear();
        // An unreached switch has unreached neighbours only.
        closer.extend(
            self.ports_of(row)
                .filter(|port| distance(self.peers[*port] as usize) < here)
                .map(|port| PortId(self.first_port + port as u32)),
        );
    }
}
