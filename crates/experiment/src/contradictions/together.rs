//! Finds the flows of a scene that start together because the settings say so.
//!
//! Flows with random arrivals may also start at about the same time. That is chance and contradicts
//! nothing. Of these, only the flows of one arrival start together.

use std::borrow::Cow;

use flowsched_topology::Network;
use flowsched_units::{Settings, Value};
use flowsched_workload::parameters::{COOL_DOWN_FLOWS, DEGREE, FLOWS, PATTERN, WARM_UP_FLOWS};
use flowsched_workload::sizes::SizeDistribution;
use flowsched_workload::{Flow, Part};

use crate::parts::WorkloadParts;
use crate::relevance::{Starts, starts_of};
use crate::workload::{Traffic, WorkloadOfScene};

/// At most this many flows are drawn to represent all.
const MOST_FLOWS: u64 = 20_000;

/// Flows that start together, or may do so.
pub(super) struct Together<'a> {
    /// Flows with known start times, sorted by start.
    pub known: Cow<'a, [Flow]>,
    /// For flows with random start times: the number of flows that one arrival brings towards one
    /// host, and their sizes.
    pub arrivals: Vec<(u64, &'a SizeDistribution)>,
}

impl<'a> Together<'a> {
    /// The flows of a workload. `seed` is the experiment's first seed.
    pub(super) fn new(workload: &'a WorkloadOfScene, network: &Network, seed: u64) -> Together<'a> {
        let whole = &workload.settings;
        let mut together = Together { known: Cow::Borrowed(&[]), arrivals: Vec::new() };
        match &workload.traffic {
            Traffic::Trace(flows) => together.known = Cow::Borrowed(flows),
            Traffic::Drawn(sizes) if is_random(whole) => {
                together.arrivals.push((at_once(whole, whole.count(&FLOWS)), sizes));
            }
            Traffic::Drawn(_) => together.known = draw(workload, network, seed),
            Traffic::Parts(parts) => {
                let random = parts.parts.iter().filter(|part| is_random(&part.settings));
                together.arrivals.extend(random.map(|part| {
                    let flows = part.flows.unwrap_or(whole.count(&FLOWS));
                    (at_once(&part.settings, flows), &part.sizes)
                }));
                let is_known = |part: &&Part| !is_random(&part.settings);
                let known = WorkloadParts {
                    parts: parts.parts.iter().filter(is_known).cloned().collect(),
                    ..parts.clone()
                };
                let known = WorkloadOfScene { traffic: Traffic::Parts(known), ..workload.clone() };
                together.known = draw(&known, network, seed);
            }
        }
        together
    }
}

fn is_random(settings: &Settings) -> bool {
    starts_of(settings) == Starts::Poisson
}

/// The number of flows that one arrival brings.
fn at_once(settings: &Settings, flows: u64) -> u64 {
    if settings.is(&PATTERN, "incast") { settings.count(&DEGREE).min(flows) } else { 1 }
}

/// Draws a small number of flows of the workload. Empty if they cannot be drawn, which is reported
/// elsewhere.
fn draw(workload: &WorkloadOfScene, network: &Network, seed: u64) -> Cow<'static, [Flow]> {
    let mut few = workload.first(MOST_FLOWS);
    for parameter in [&WARM_UP_FLOWS, &COOL_DOWN_FLOWS] {
        few.settings.set(parameter, Value::Count(0));
    }
    few.flows(network, seed).map(|workload| workload.flows).unwrap_or_default().into()
}
