//! The parallel paths of all pairs of hosts that have flows.

use std::collections::BTreeMap;

use flowsched_topology::{Network, PortId};
use flowsched_workload::Flow;

/// The paths of each flow from its sender to its receiver. They are worked out once, as a host
/// would do when it first talks to another one.
#[derive(Clone, Debug)]
pub(super) struct PathSets {
    /// The index of each flow's pair in `paths`.
    pair_of: Vec<u32>,
    /// The paths of each pair, the shortest first.
    paths: Vec<Vec<Vec<PortId>>>,
}

impl PathSets {
    pub(super) fn new(network: &Network, flows: &[Flow]) -> PathSets {
        let mut pairs = BTreeMap::new();
        let mut paths = Vec::new();
        let mut place_of = |flow: &Flow| {
            *pairs.entry((flow.src, flow.dst)).or_insert_with(|| {
                let mut found = network.parallel_paths(flow.src, flow.dst);
                found.sort_by_key(Vec::len);
                paths.push(found);
                paths.len() as u32 - 1
            })
        };
        let pair_of = flows.iter().map(&mut place_of).collect();
        PathSets { pair_of, paths }
    }

    /// The paths of the flow, the shortest first.
    #[inline]
    pub(super) fn paths_of(&self, flow: u32) -> &[Vec<PortId>] {
        &self.paths[self.pair_of[flow as usize] as usize]
    }
}
