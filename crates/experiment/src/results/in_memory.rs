//! Compares runs without a results folder.

use super::outcomes::Outcomes;
use super::runs_of_point::RunsOfPoint;
use super::{ClassComparison, PerClass, PortFigures, RunRecord, RunSummary};

/// A finished run: its figures, and the outcomes of its flows.
#[derive(Clone, Debug)]
pub struct RunInMemory {
    /// The figures.
    pub summary: RunSummary,
    outcomes: Outcomes,
}

impl RunInMemory {
    /// Takes the record of a run, without figures of ports.
    pub fn new(run: &RunRecord) -> RunInMemory {
        RunInMemory {
            summary: RunSummary::new(run, &PortFigures::default()),
            outcomes: Outcomes::from_flows(&run.flows, false),
        }
    }
}

/// Compares `scheme` with `against` at one point. Pairs the same flows under both schemes, over the seeds
/// that both have. Ignores runs that were cut short.
pub fn compare_in_memory(
    runs: &[RunInMemory],
    against: &str,
    scheme: &str,
) -> PerClass<ClassComparison> {
    let runs = RunsOfPoint(runs.iter().map(|run| (&run.summary, &run.outcomes)).collect());
    PerClass::from_fn(|class| runs.compare(against, scheme, class))
}
