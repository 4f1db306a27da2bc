//! The ports that flows pass, and those that subflows do.

use std::collections::BTreeMap;

use flowsched_topology::{Ecmp, HostId, Network, PortId, Way};
use flowsched_workload::Flow;

/// Which way data and acknowledgements take: that of the packet engine, with the same seed.
#[derive(Clone, Debug)]
pub(crate) struct Ways<'a> {
    network: &'a Network,
    ecmp: Ecmp,
    /// Whether flows are spread over the network's parallel paths, along whole ones; switches choose
    /// by a hash otherwise.
    are_spread: bool,
    /// Parallel paths, the shortest first, of pairs that have had flows.
    parallel: BTreeMap<(HostId, HostId), Vec<Vec<PortId>>>,
}

impl<'a> Ways<'a> {
    /// `has_subflows`: whether flows are spread over parallel paths, where there are some.
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

    /// Ports that what comes back for the flow's first path may pass, by a hash of its own.
    pub(crate) fn back(&self, flow: &Flow) -> impl Iterator<Item = PortId> + use<'a> {
        let way = Way { flow: flow.id, path: 0, is_back: true };
        self.ecmp.ports_of(self.network, way, flow.dst, flow.src)
    }
}
