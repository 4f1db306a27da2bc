//! The results of experiments that were run to measure claims: each in a folder of its own, whose name
//! tells the experiment with all its values from any other, and this program from others.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use flowsched_experiment::Experiment;
use flowsched_experiment::results::{Program, Summary};
use flowsched_run::Progress;

use crate::failure::Failure;
use crate::program::program;
use crate::run;

/// The experiment's summary: what there is of its runs is kept, the others are run.
pub fn run(
    store: &Path,
    name: &str,
    experiment: Experiment,
    progress: &Arc<Progress>,
    threads: usize,
) -> Result<Summary, Failure> {
    let program = program();
    let dir = store.join(format!("{name}-{:016x}", key(&experiment, &program)));
    if let Some(summary) = run::finished(&dir, &experiment) {
        return Ok(summary);
    }
    progress.finished_flows.store(0, Ordering::SeqCst);
    let summary = run::complete(Path::new(name), experiment, &dir, progress, threads)?;
    match progress.stop.load(Ordering::SeqCst) {
        true => Err(Failure::ReproductionInterrupted),
        false => Ok(summary),
    }
}

/// Of the resolved experiment, its inputs and the program's version (FNV-1a).
fn key(experiment: &Experiment, program: &Program) -> u64 {
    let inputs = experiment.inputs.iter().map(|input| input.source.text.as_str());
    let texts = [experiment.resolved(), &program.version, &program.commit];
    texts.into_iter().chain(inputs).fold(0xcbf2_9ce4_8422_2325, |hash, text| {
        let bytes = text.bytes().chain([0xff]);
        bytes.fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    })
}
