//! From settings, or from a trace, to the flows of a run.

use flowsched_topology::Network;
use flowsched_units::{SettingError, Settings};
use rand::Rng;

use crate::arrivals::Arrivals;
use crate::deadlines::Deadlines;
use crate::flow::{Flow, LARGEST_FLOW, LATEST};
use crate::load::{self, Load};
use crate::pattern::Pattern;
use crate::random::stream;
use crate::sizes::SizeDistribution;

/// The flows of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Sorted by start, then number; a flow's number is its index.
    pub flows: Vec<Flow>,
    /// The load that was asked for; none for a trace.
    pub load_asked: Option<Load>,
    /// The load of these very flows, from the first start to the last; none if all start at
    /// once. For a trace, host links are all hosts' links.
    pub load_measured: Option<Load>,
}

/// Draws a workload: Poisson arrivals of flows with these sizes, between hosts as the pattern
/// says, at the load that is asked for. The same arguments always give the same flows.
///
/// # Errors
/// [`SettingError`] with the key that does not fit the network or the others: `pattern`,
/// `degree`, `receiver`, `load`, `load_of`, `sizes`, `deadlines`, `warm_up_flows`.
///
/// # Panics
/// If the settings were not checked against [`crate::PARAMETERS`].
pub fn generate(
    settings: &Settings,
    network: &Network,
    sizes: &SizeDistribution,
    seed: u64,
) -> Result<Workload, SettingError> {
    let mut pattern = Pattern::from_settings(settings, network, seed)?;
    let (bytes_per_second, load_asked) = load::asked(settings, network, &pattern)?;
    let bytes_per_arrival = sizes.mean_wire_bytes() * f64::from(pattern.flows_at_once());
    let mean_gap_ps = bytes_per_arrival / bytes_per_second * 1e12;
    let mut deadlines = Deadlines::from_settings(settings, seed, 0)?;

    let count = settings.count("flows") as usize;
    let mut flows = Vec::with_capacity(count);
    let mut size_stream = stream(seed, "sizes", 0);
    for start in Arrivals::new(mean_gap_ps, seed) {
        for (src, dst) in pattern.draw().into_iter().take(count - flows.len()) {
            let size = sizes.sample(size_stream.random());
            if size > LARGEST_FLOW {
                let found = format!("sizes that give a flow of {size}");
                let allowed = format!("flows of at most {LARGEST_FLOW}");
                return Err(SettingError::new("sizes", found, allowed));
            }
            let id = flows.len() as u32;
            let mut flow = Flow { id, src, dst, size, start, deadline: None, measured: true };
            deadlines.give(&mut flow);
            flows.push(flow);
        }
        if flows.len() == count {
            break;
        }
    }
    if flows.len() < count {
        let (load, late) = (settings.number("load"), flows.len());
        let found = format!("{load}, at which flow {late} starts later than {LATEST}");
        let allowed = "a higher load, or fewer flows";
        return Err(SettingError::new("load", found, allowed));
    }
    leave_out(settings, &mut flows)?;
    let load_measured = load::measured(&flows, network, pattern.only_receiver());
    Ok(Workload { flows, load_asked: Some(load_asked), load_measured })
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
    Ok(Workload { flows, load_asked: None, load_measured })
}

/// Marks warm-up and cool-down flows.
fn leave_out(settings: &Settings, flows: &mut [Flow]) -> Result<(), SettingError> {
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
