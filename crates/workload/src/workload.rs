//! The flows of a run, and which of them are measured.

use flowsched_topology::HostId;
use flowsched_units::{SettingError, Settings};

use crate::flow::Flow;
use crate::load::Load;
use crate::parameters::{COOL_DOWN_FLOWS, WARM_UP_FLOWS};
use crate::parts::FlowParts;

/// The flows of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Sorted by start, then number; a flow's number is its index.
    pub flows: Vec<Flow>,
    /// Which part each flow belongs to.
    pub parts: FlowParts,
    /// The requested load. `None` if flows are from a trace or listed, or if their starts are
    /// fixed.
    pub load_asked: Option<Load>,
    /// The load of these flows, from the first start to the last. `None` if all start at once. For
    /// a trace, host links are all hosts' links.
    pub load_measured: Option<Load>,
    /// The host that every part sends to, if there is one. The load of host links is then that of
    /// its links. `None` for a trace, and where flows are listed.
    pub only_receiver: Option<HostId>,
}

/// Marks warm-up and cool-down flows.
pub(crate) fn leave_out(settings: &Settings, flows: &mut [Flow]) -> Result<(), SettingError> {
    let [first, last] =
        [&WARM_UP_FLOWS, &COOL_DOWN_FLOWS].map(|parameter| settings.count(parameter) as usize);
    let count = flows.len();
    if first.saturating_add(last) >= count {
        let problem = format!(
            "{first} warm-up and {last} cool-down flows leave none of {count} flows to measure. Raise \
             `flows` or leave out fewer."
        );
        return Err(SettingError::sentence(&WARM_UP_FLOWS, problem));
    }
    for (index, flow) in flows.iter_mut().enumerate() {
        flow.measured = (first..count - last).contains(&index);
    }
    Ok(())
}
