//! `flowsched advise`: what PIAS would gain on a fleet, and what it risks, by simulation of the
//! fleet's sizes on the fleet's network.

mod scenario;
mod schemes;
mod text;

use flowsched_experiment::Run;
use flowsched_experiment::results::RunInMemory;
use flowsched_run::{Prepared, Progress, RunError, Simulation};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::arguments::Advise;
use crate::failure::Failure;
use crate::output::print;
use crate::run::failed;

/// Simulates, and prints advice.
pub fn advise(wanted: &Advise) -> Result<(), Failure> {
    let experiment = scenario::experiment(wanted)?;
    let progress = Progress::default();
    let simulate = |run: Run| {
        let prepared = Prepared::new(&experiment.scenes[run.scene], run)?;
        let simulator = |run: Simulation<'_>| Ok(run.run()?);
        Ok(RunInMemory::new(&prepared.simulate(&simulator, &progress)?))
    };
    let runs: Result<Vec<RunInMemory>, RunError> =
        experiment.runs().into_par_iter().map(simulate).collect();
    let runs = runs.map_err(|error| failed(&wanted.topology, error))?;
    print(&text::advice(wanted, &experiment, &runs))
}
