//! Mean FCTs from the packet simulator. The flows of a seed are the same under all thresholds.

use std::error::Error;

use flowsched_experiment::results::{PortFigures, RunSummary};
use flowsched_experiment::{Arguments, Experiment, Run};
use flowsched_run::{Prepared, Progress, Simulation};
use flowsched_units::Bytes;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::traffic::{Laws, Traffic};

pub const HOSTS: u64 = 8;
pub const FLOWS: u64 = 2000;
pub const SEEDS: u64 = 8;

/// Mean FCTs in microseconds, one for each seed.
#[derive(Clone)]
pub struct Fcts {
    pub all: Vec<f64>,
    /// The mean FCTs of flows up to 100 KB.
    pub small: Vec<f64>,
}

/// The simulator, and its results so far.
pub struct Simulator<'a> {
    laws: &'a Laws,
    known: Vec<(Traffic, Vec<Bytes>, Fcts)>,
}

impl<'a> Simulator<'a> {
    pub fn new(laws: &'a Laws) -> Simulator<'a> {
        Simulator { laws, known: Vec::new() }
    }

    /// The mean FCTs of this traffic under these thresholds.
    pub fn run(&mut self, traffic: &Traffic, thresholds: &[Bytes]) -> Result<Fcts, Box<dyn Error>> {
        let is_known =
            |known: &&(Traffic, Vec<Bytes>, Fcts)| known.0 == *traffic && known.1 == thresholds;
        if let Some((_, _, fcts)) = self.known.iter().find(is_known) {
            return Ok(fcts.clone());
        }
        let fcts = simulate(self.laws, traffic, thresholds)?;
        self.known.push((*traffic, thresholds.to_owned(), fcts.clone()));
        Ok(fcts)
    }
}

fn simulate(laws: &Laws, traffic: &Traffic, thresholds: &[Bytes]) -> Result<Fcts, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("sizes.cdf"), traffic.file(laws))?;
    let list: Vec<String> = thresholds.iter().map(|bytes| format!("{}B", bytes.get())).collect();
    let text = format!(
        "name = \"drift\"\nseeds = {SEEDS}\n[topology]\nkind = \"star\"\nhosts = {HOSTS}\n\
         [workload]\nsizes = \"sizes.cdf\"\nload = {}\nflows = {FLOWS}\n\
         [[scheme]]\npreset = \"pias\"\nqueues = {}\nthresholds = \"{}\"\n",
        traffic.load,
        thresholds.len() + 1,
        list.join(" ")
    );
    let file = folder.path().join("drift.toml");
    std::fs::write(&file, text)?;
    let experiment = Experiment::read(&file, &Arguments::default()).map_err(|e| e.to_string())?;
    let runs = experiment.runs();
    let found: Vec<(f64, f64)> =
        runs.into_par_iter().map(|run| one(&experiment, run)).collect::<Result<_, _>>()?;
    let (all, small) = found.into_iter().unzip();
    Ok(Fcts { all, small })
}

/// The mean FCT of all flows and of the small ones.
fn one(experiment: &Experiment, run: Run) -> Result<(f64, f64), String> {
    let prepared = Prepared::new(&experiment.scenes[run.scene], run).map_err(|e| e.to_string())?;
    let simulator = |run: Simulation<'_>| Ok(run.run()?);
    let record = prepared.simulate(&simulator, &Progress::default()).map_err(|e| e.to_string())?;
    let summary = RunSummary::new(&record, &PortFigures::default());
    match (summary.fct_us.all.mean, summary.fct_us.small.mean) {
        (Some(all), Some(small)) if summary.finished == summary.flows => Ok((all, small)),
        _ => Err(format!("{} of {} flows have finished", summary.finished, summary.flows)),
    }
}
