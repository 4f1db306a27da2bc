//! Runs that are compared without a results folder.

use super::outcomes::Outcomes;
use super::runs_of_point::RunsOfPoint;
use super::{ClassComparison, PerClass, PortFigures, RunRecord, RunSummary};

/// A finished run: its figures, and what became of its flows.
#[derive(Clone, Debug)]
pub struct RunInMemory {
    /// The figures.
    pub summary: RunSummary,
    outcomes: Outcomes,
}

impl RunInMemory {
    /// Of what an engine hands over, without figures of ports.
    pub fn new(run: &RunRecord) -> RunInMemory {
        RunInMemory {
            summary: RunSummary::new(run, &PortFigures::default()),
            outcomes: Outcomes::from_flows(&run.flows, false),
        }
    }
}

/// Compares `scheme` with `against` at one point: the same flows under both, over the seeds that both have.
/// Runs that were cut short take no part.
pub fn compare_in_memory(
    runs: &[RunInMemory],
    against: &str,
    scheme: &str,
) -> PerClass<ClassComparison> {
    let runs = RunsOfPoint(runs.iter().map(|run| (&run.summary, &run.outcomes)).collect());
    PerClass::from_fn(|class| runs.compare(against, scheme, class))
}
