//! Checks for a load of the hosts' links that the links between switches cannot carry.

use flowsched_topology::Network;

use crate::experiment::Scene;
use crate::workload::Traffic;

/// The largest excess over 1 that rounding may give a load of exactly 1.
const ROUNDING: f64 = 1e-9;

/// Warns if the load exceeds the capacity of the links between switches, on average.
pub(super) fn overloaded_core(scene: &Scene, network: &Network) -> Option<String> {
    if matches!(scene.workload.traffic, Traffic::Trace(_)) {
        return None;
    }
    let load = scene.workload.few().flows(network, 0).ok()?.load_asked?;
    let core = load.core_links.filter(|core| *core > 1.0 + ROUNDING)?;
    let hosts = load.host_links;
    Some(format!(
        "a load of {hosts:.3} of the host links asks for {core:.2} times what the links \
         between switches carry: their queues grow for as long as flows start. Lower the load below \
         {:.3}, or give it with load_of = \"core\".",
        hosts / core
    ))
}
