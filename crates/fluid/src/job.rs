//! What to simulate: a network, its flows, a scheme at flow level and a seed.

use flowsched_schemes::flow_level::FlowLevel;
use flowsched_topology::Network;
use flowsched_units::Time;
use flowsched_workload::Flow;

/// What to simulate.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The network. Each flow takes one of its shortest paths, that of [`flowsched_topology::Ecmp`].
    pub network: &'a Network,
    /// The flows, in the order of their starts; a flow's id is its place.
    pub flows: &'a [Flow],
    /// What the scheme comes down to.
    pub scheme: &'a FlowLevel,
    /// The seed of every random choice.
    pub seed: u64,
    /// The interval of samples of every port's counters. [`Time::ZERO`]: one sample, at the end.
    pub sample_interval: Time,
    /// When to stop. `None`: when nothing is left to happen.
    pub until: Option<Time>,
}

impl<'a> Job<'a> {
    /// The rate of every port, bit/s.
    pub(crate) fn capacities(&self) -> impl Iterator<Item = f64> + use<'a> {
        self.network.ports().iter().map(|port| port.rate.as_bps() as f64)
    }
}
