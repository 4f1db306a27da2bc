//! The outcomes of flows that are kept until all runs are compared, in few bytes per flow.

use flowsched_units::Time;

use super::steady_state::Course;
use super::{FlowRow, SizeClass};

/// The outcome of one measured flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outcome {
    pub flow: u64,
    pub class: SizeClass,
    pub fct: Option<Time>,
}

/// The outcomes of the measured flows of one run, sorted by flow number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcomes {
    pub flows: Vec<Outcome>,
    /// The course of slowdown. `None` unless start times are random and there are enough flows.
    pub course: Option<Course>,
}

impl Outcomes {
    /// The outcomes of a run's flows. `is_random`: whether their start times are random.
    pub(super) fn from_flows(flows: &[FlowRow], is_random: bool) -> Outcomes {
        let course = if is_random { Course::from_flows(flows) } else { None };
        let measured = flows.iter().filter(|flow| flow.measured);
        let outcome =
            |flow: &FlowRow| Outcome { flow: flow.flow, class: flow.class(), fct: flow.fct };
        let mut flows: Vec<Outcome> = measured.map(outcome).collect();
        flows.sort_by_key(|outcome| outcome.flow);
        Outcomes { flows, course }
    }
}
