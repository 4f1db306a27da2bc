//! Does the runs of an experiment in the lab, and simulates their twins.

use flowsched_lab::run::{Extras, Lab};
use flowsched_run::{Outcome, RunError, Simulation, Simulator};

use super::conduct::Conducts;
use super::twins::is_simulated;
use crate::captures::Wanted;

/// What does each run, and notes how late the lab was.
pub fn simulator(captures: Wanted, conducts: Conducts) -> Box<Simulator> {
    Box::new(move |run: Simulation<'_>| {
        if is_simulated(&run.scheme().name) {
            return captures.simulate(run);
        }
        run_in_lab(run, &captures, &conducts)
    })
}

fn run_in_lab(
    run: Simulation<'_>,
    captures: &Wanted,
    conducts: &Conducts,
) -> Result<Outcome, RunError> {
    let (key, memcached) = (run.key(), run.served_by_memcached());
    let (job, scheme, mut watch) = run.into_packets()?;
    let captures = captures.of_run(&key, job.network).map_err(|e| RunError::World(e.into()))?;
    let extras = Extras { captures, memcached };
    let ran = lab_here().run(&job, scheme, extras, &mut watch);
    let (outcome, conduct) = ran.map_err(|error| RunError::World(error.into()))?;
    conducts.note(key, &conduct).map_err(|error| RunError::World(error.into()))?;
    Ok(outcome)
}

/// The lab, with this program as its agent where that is built in.
fn lab_here() -> Lab {
    let lab = Lab::default();
    match std::env::current_exe() {
        Ok(program) if cfg!(feature = "agent") => lab.with_agent(program),
        _ => lab,
    }
}
