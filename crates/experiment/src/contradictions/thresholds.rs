//! Checks for demotion thresholds that no flow reaches.

use flowsched_schemes::tagger::THRESHOLDS;
use flowsched_schemes::tagger::mlfq::MESSAGE_START;
use flowsched_units::{Bytes, Settings, Value};

use crate::experiment::Scene;
use crate::workload::Traffic;

/// Warns if the last threshold is above the largest flow, because queues then stay empty. There is no
/// warning if it equals the largest flow's size: computed thresholds end there if that is the optimum.
pub(super) fn out_of_reach(settings: &Settings, scene: &Scene) -> Option<String> {
    let Some(Value::Sizes(thresholds)) = settings.get(&THRESHOLDS) else { return None };
    // A message may consist of several flows.
    if matches!(settings.get(&MESSAGE_START), Some(Value::Text(start)) if start != "flow") {
        return None;
    }
    let largest = largest_flow(&scene.workload.traffic)?;
    let last = thresholds.last().filter(|last| **last > largest)?;
    let queues = thresholds.len() + 1;
    let empty = thresholds.iter().filter(|threshold| **threshold >= largest).count();
    let empty = if empty == 1 { "one".to_owned() } else { empty.to_string() };
    Some(format!(
        "the last threshold, {last}, is above the largest flow, {largest}: of {queues} queues, no \
         flow reaches the last {empty}. Lower the thresholds or use fewer queues."
    ))
}

/// The largest size of a flow; `None` if sizes have no limit.
fn largest_flow(traffic: &Traffic) -> Option<Bytes> {
    let drawn = |largest: f64| largest.is_finite().then(|| Bytes::new(largest.ceil() as u64));
    match traffic {
        Traffic::Drawn(sizes) => drawn(sizes.max()),
        Traffic::Trace(flows) => flows.iter().map(|flow| flow.size).max(),
        Traffic::Parts(parts) => {
            let of_parts = parts.parts.iter().map(|part| drawn(part.sizes.max()));
            let listed = parts.listed.iter().map(|listed| Some(listed.flow.size));
            let sizes: Option<Vec<Bytes>> = of_parts.chain(listed).collect();
            sizes?.into_iter().max()
        }
    }
}
