//! The environment of a scheme that sends packets.

use flowsched_topology::Network;

use super::path::LongestPath;
use super::together::Together;
use crate::experiment::Scene;

/// The environment of a scheme that sends packets.
pub(super) struct Surroundings<'a> {
    pub(super) network: &'a Network,
    pub(super) path: LongestPath,
    pub(super) together: Together<'a>,
}

impl<'a> Surroundings<'a> {
    /// The surroundings in a scene; `None` if there is only one host.
    pub(super) fn new(
        scene: &'a Scene,
        network: &'a Network,
        seed: u64,
    ) -> Option<Surroundings<'a>> {
        let path = LongestPath::find(network)?;
        let together = Together::new(&scene.workload, network, seed);
        Some(Surroundings { network, path, together })
    }
}
