//! The ports that flows and subflows pass.

use std::collections::BTreeMap;

use flowsched_topology::{Ecmp, HostId, Network, PortId, Way};
use flowsched_workload::Flow;

/// The paths of data and acknowledgements. They are those of the packet engine with the same seed.
#[derive(Clone, Debug)]
pub(crate) struct Ways<'a> {
    network: &'a Network,
    ecmp: Ecmp,
    /// Whether flows are spread over the network's parallel paths, which they take as a whole. Otherwise switches
    /// choose ports by a hash.
    are_spread: bool,
    /// The parallel paths of pairs that have had flows, the shortest first.
    parallel: BTreeMap<(HostId, HostId), Vec<Vec<PortId>>>,
}

impl<'a> Ways<'a> {
    /// Spreads flows over parallel paths, where there are some, if `has_subflows`.
    pub(crate) fn new(network: &'a Network, seed: u64, has_subflows: bool) -> Ways<'a> {
        let are_spread = has_subflows && network.has_parallel_paths();
        Ways { network, ecmp: Ecmp::new(seed), are_spread, parallel: BTreeMap::new() }
    }

    /// Replaces `ports` by those that the flow's data passes on its path of this number.
    pub(crate) fn there(&mut self, flow: &Flow, path: u32, ports: &mut Vec<PortId>) {
        let Ways { network, ecmp, are_spread, .. } = *self;
        let way = Way { flow: flow.id, path, is_back: false };
        ports.clear();
        if are_spread {
            let paths = self.parallel.entry((flow.src, flow.dst)).or_insert_with(|| {
                let mut paths = network.parallel_paths(flow.src, flow.dst);
                paths.sort_by_key(Vec::len);
                paths
            });
            ports.extend(ecmp.choose_path(way, paths));
        } else {
            ports.extend(ecmp.ports_of(network, way, flow.src, flow.dst));
        }
    }

    /// The ports that acknowledgements of the flow's first path may pass, chosen by a hash of their own.
    pub(crate) fn back(&self, flow: &Flow) -> impl Iterator<Item = PortId> + use<'a> {
        let way = Way { flow: flow.id, path: 0, is_back: true };
        self.ecmp.ports_of(self.network, way, flow.dst, flow.src)
    }
}
