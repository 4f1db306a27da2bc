//! From settings, or from a trace, to the flows of a run.

use flowsched_topology::Network;
use flowsched_units::{SettingError, Settings};

use crate::compose::{Part, PartError, compose};
use crate::flow::Flow;
use crate::load;
use crate::parameters::FLOWS;
use crate::parts::FlowParts;
use crate::sizes::SizeDistribution;
use crate::workload::{Workload, leave_out};

/// Draws a workload: flows with these sizes between hosts of the pattern. Their starts are at fixed times, or are a
/// Poisson process at the requested load. The same arguments always give the same flows.
///
/// # Errors
/// [`SettingError`] with the key that does not fit the network or the others: `pattern` and its
/// own keys, `load`, `load_of`, `every`, `sizes`, `deadlines`, `warm_up_flows`, `size_parts`.
///
/// # Panics
/// If the settings were not checked against [`crate::PARAMETERS`].
pub fn generate(
    settings: &Settings,
    network: &Network,
    sizes: &SizeDistribution,
    seed: u64,
) -> Result<Workload, SettingError> {
    let flows = Some(settings.count(&FLOWS));
    let (settings, sizes) = (settings.clone(), sizes.clone());
    let only = Part { name: String::new(), settings, sizes, flows };
    compose(&only.settings, network, std::slice::from_ref(&only), &[], seed)
        .map_err(|PartError { error, .. }| error)
}

/// A workload of the flows of a trace.
///
/// # Errors
/// [`SettingError`] if warm-up and cool-down leave no flow to measure, or if `size_parts` makes no sense.
///
/// # Panics
/// If the settings were not checked against [`crate::PARAMETERS`].
pub fn replay(
    settings: &Settings,
    network: &Network,
    mut flows: Vec<Flow>,
) -> Result<Workload, SettingError> {
    leave_out(settings, &mut flows)?;
    let load_measured = load::measured(&flows, network, None);
    Ok(Workload {
        parts: FlowParts::default().by_size(settings, &flows)?,
        flows,
        load_asked: None,
        load_measured,
        only_receiver: None,
    })
}
