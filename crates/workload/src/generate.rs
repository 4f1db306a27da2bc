//! From settings, or from a trace, to the flows of a run.

use flowsched_topology::{HostId, Network};
use flowsched_units::{SettingError, Settings};

use crate::compose::{Part, PartError, compose};
use crate::flow::Flow;
use crate::load::{self, Load};
use crate::parts::Parts;
use crate::sizes::SizeDistribution;

/// The flows of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Sorted by start, then number; a flow's number is its index.
    pub flows: Vec<Flow>,
    /// Which part each flow belongs to.
    pub parts: Parts,
    /// The load that was asked for; none where flows are of a trace, listed, or have their starts
    /// laid down.
    pub load_asked: Option<Load>,
    /// The load of these very flows, from the first start to the last; none if all start at
    /// once. For a trace, host links are all hosts' links.
    pub load_measured: Option<Load>,
    /// The one host that every part sends to: the load of host links is then that of its links.
    /// None for a trace, and where flows are listed.
    pub only_receiver: Option<HostId>,
}

/// Draws a workload: flows with these sizes between hosts as the pattern says, whose starts are
/// laid down or a Poisson process at the load that is asked for. The same arguments always give
/// the same flows.
///
/// # Errors
/// [`SettingError`] with the key that does not fit the network or the others: `pattern` and its
/// own keys, `load`, `load_of`, `every`, `sizes`, `deadlines`, `warm_up_flows`.
///
/// # Panics
/// If the settings were not checked against [`crate::PARAMETERS`].
pub fn generate(
    settings: &Settings,
    network: &Network,
    sizes: &SizeDistribution,
    seed: u64,
) -> Result<Workload, SettingError> {
    let flows = Some(settings.count("flows"));
    let (settings, sizes) = (settings.clone(), sizes.clone());
    let only = Part { name: String::new(), settings, sizes, flows };
    compose(&only.settings, network, std::slice::from_ref(&only), &[], seed)
        .map_err(|PartError { error, .. }| error)
}

/// A workload of the flows of a trace.
///
/// # Errors
/// [`SettingError`] if more flows are to be left out than there are.
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
        flows,
        parts: Parts::default(),
        load_asked: None,
        load_measured,
        only_receiver: None,
    })
}

/// Marks warm-up and cool-down flows.
pub(crate) fn leave_out(settings: &Settings, flows: &mut [Flow]) -> Result<(), SettingError> {
    let [first, last] =
        ["warm_up_flows", "cool_down_flows"].map(|key| settings.count(key) as usize);
    let count = flows.len();
    if first.saturating_add(last) >= count {
        let found = format!("{first}, and {last} cool-down flows, of {count} flows");
        let allowed = "fewer than all flows, so that some are measured";
        return Err(SettingError::new("warm_up_flows", found, allowed));
    }
    for (index, flow) in flows.iter_mut().enumerate() {
        flow.measured = (first..count - last).contains(&index);
    }
    Ok(())
}
