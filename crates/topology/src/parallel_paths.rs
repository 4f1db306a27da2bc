//! The parallel paths that a flow may be spread over. They may be longer than the shortest.
//!
//! Routes lead along shortest paths. Where a topology has other paths that are worth taking, they
//! are here as whole paths: BCube's disjoint ones and Jellyfish's next to shortest ones.

use std::collections::{BTreeSet, VecDeque};

use crate::ids::{HostId, NodeId, PortId};
use crate::network::Network;
use crate::parallel::Parallel;

impl Network {
    /// Whether [`Network::parallel_paths`] has other paths than the shortest ones that switches
    /// choose from.
    pub fn has_parallel_paths(&self) -> bool {
        self.parallel != Parallel::Shortest
    }

    /// The paths that a flow from `src` to another host may be spread over, each as its ports: the
    /// k+1 disjoint ones of a BCube, the k shortest of a Jellyfish (`paths`), elsewhere all
    /// shortest ones. Each call computes them again. The path back is that of [`Network::reverse`].
    pub fn parallel_paths(&self, src: HostId, dst: HostId) -> Vec<Vec<PortId>> {
        match self.parallel {
            Parallel::Shortest => self.paths(src, dst),
            Parallel::KShortest(count) => self.k_shortest(src, dst, count),
            Parallel::Bcube { n, k } => {
                (0..=k).rev().map(|level| self.bcube_path(src, dst, level, n, k)).collect()
            }
        }
    }

    /// One of the disjoint paths of BCube (SIGCOMM 2009, 3.2, BuildPathSet). Digits are corrected
    /// from that of `first` downwards and around. If this digit is right already, it is made wrong
    /// first and corrected last.
    fn bcube_path(&self, src: HostId, dst: HostId, first: u32, n: u32, k: u32) -> Vec<PortId> {
        let place = |level: u32| n.pow(level);
        let digit = |host: u32, level: u32| host / place(level) % n;
        let with_digit = |host: u32, level: u32, digit_there: u32| {
            host - digit(host, level) * place(level) + digit_there * place(level)
        };
        let mut path = Vec::new();
        let mut at = src.0;
        let mut go = |level: u32, to: u32| {
            if digit(at, level) != to {
                let next = with_digit(at, level, to);
                path.extend(self.over_switch(at, next, level));
                at = next;
            }
        };
        if digit(src.0, first) == digit(dst.0, first) {
            go(first, (digit(src.0, first) + 1) % n);
        } else {
            go(first, digit(dst.0, first));
        }
        for level in (0..first).rev().chain((first + 1..=k).rev()).chain([first]) {
            go(level, digit(dst.0, level));
        }
        path
    }

    /// The two ports from a host through its switch at `level` to another host there.
    fn over_switch(&self, from: u32, to: u32, level: u32) -> [PortId; 2] {
        let up = self.nics(HostId(from))[level as usize];
        let switch = self.port(up).peer;
        let mut down = self.ports_of(switch).iter();
        let down = down.find(|port| self.port(**port).peer == NodeId(to)).unwrap_or(&up);
        [up, *down]
    }

    /// The `count` shortest paths without a loop (Yen 1971), fewer if there are no more.
    fn k_shortest(&self, src: HostId, dst: HostId, count: usize) -> Vec<Vec<PortId>> {
        let (from, to) = (self.edge_of(src), self.edge_of(dst));
        let mut found: Vec<Vec<NodeId>> = Vec::new();
        let mut candidates = BTreeSet::new();
        candidates.extend(self.shortest_without(&[from], to, &BTreeSet::new()).map(by_length));
        while let Some((_, path)) = candidates.pop_first() {
            found.push(path);
            if found.len() == count {
                break;
            }
            let path = &found[found.len() - 1];
            for turn in 0..path.len() - 1 {
                let root = &path[..=turn];
                // Leaves out the paths that were found before and begin in the same way.
                let taken = found.iter().filter(|known| known.starts_with(root));
                let taken: BTreeSet<NodeId> = taken.map(|known| known[turn + 1]).collect();
                candidates.extend(self.shortest_without(root, to, &taken).map(by_length));
            }
        }
        found.iter().map(|nodes| self.ports_along(src, nodes, dst)).collect()
    }

    /// The shortest path between switches that begins with `root`, does not come back to it and
    /// goes on to none of `taken`. Of several such paths, the order of ports decides which.
    fn shortest_without(
        &self,
        root: &[NodeId],
        to: NodeId,
        taken: &BTreeSet<NodeId>,
    ) -> Option<Vec<NodeId>> {
        let turn = *root.last()?;
        if turn == to {
            return taken.is_empty().then(|| root.to_vec());
        }
        let mut before: Vec<Option<NodeId>> = vec![None; self.node_count() as usize];
        let mut queue = VecDeque::from([turn]);
        while let Some(node) = queue.pop_front() {
            for port in self.ports_of(node) {
                let next = self.port(*port).peer;
                let is_closed = self.host(next).is_some()
                    || root.contains(&next)
                    || before[next.index()].is_some()
                    || node == turn && taken.contains(&next);
                if !is_closed {
                    before[next.index()] = Some(node);
                    queue.push_back(next);
                }
            }
        }
        let mut back = vec![to];
        while let Some(node) = before[back[back.len() - 1].index()] {
            back.push(node);
        }
        let is_reached = back.last() == Some(&turn);
        is_reached
            .then(|| root[..root.len() - 1].iter().copied().chain(back.into_iter().rev()).collect())
    }

    fn ports_along(&self, src: HostId, switches: &[NodeId], dst: HostId) -> Vec<PortId> {
        let between = switches.windows(2).filter_map(|ends| {
            let mut ports = self.ports_of(ends[0]).iter().copied();
            ports.find(|port| self.port(*port).peer == ends[1])
        });
        std::iter::once(self.nic(src)).chain(between).chain([self.port_to(dst)]).collect()
    }
}

/// Ordered by length, then by the nodes.
fn by_length(path: Vec<NodeId>) -> (usize, Vec<NodeId>) {
    (path.len(), path)
}
