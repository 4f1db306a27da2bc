//! What to simulate: a network, its flows and a seed.

use flowsched_schemes::Scheme;
use flowsched_topology::{Network, Routing};
use flowsched_units::Time;
use flowsched_workload::Flow;

/// What to simulate.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The network.
    pub network: &'a Network,
    /// How packets choose among equal paths.
    pub routing: Routing,
    /// The flows, in the order of their starts; a flow's id is its place.
    pub flows: &'a [Flow],
    /// The seed of every random choice.
    pub seed: u64,
    /// The interval between samples of every port. With [`Time::ZERO`] there is only a sample at
    /// the end.
    pub sample_interval: Time,
    /// When to stop. With `None` the run ends when nothing is left to happen.
    pub until: Option<Time>,
}

impl Job<'_> {
    /// The job with the routing that the scheme brings with it, if it does.
    #[doc(hidden)]
    pub fn under(&self, scheme: &Scheme) -> Self {
        let routing = if scheme.ns2_routing { Routing::Spray } else { self.routing };
        Job { routing, ..*self }
    }
}
