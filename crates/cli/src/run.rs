//! `flowsched run`: every run of an experiment, side by side, into a results folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use flowsched_experiment::results::{Ending, ResultsError, RunRecord, Summary, Writer};
use flowsched_experiment::{Experiment, Level, Mistake, Mistakes, Place, Run, Scene};
use flowsched_fluid::Watch;
use flowsched_sim::Progress;
use flowsched_topology::Network;
use flowsched_units::SettingError;
use flowsched_workload::Flow;
use rayon::ThreadPoolBuilder;
use rayon::iter::{ParallelBridge, ParallelIterator};

use crate::arguments;
use crate::cost::Meter;
use crate::failure::Failure;
use crate::folder;
use crate::output;
use crate::progress::{Display, say};
use crate::record::{Ran, record};

/// Runs the experiment and prints the comparison.
pub fn run(arguments: &arguments::Run) -> Result<(), Failure> {
    let experiment = output::read(&arguments.experiment)?;
    let dir = match &arguments.out {
        Some(dir) => dir.clone(),
        None => default_folder(&arguments.experiment.file),
    };
    let writer = folder::create(&dir, &experiment)?;
    let progress = Arc::new(Progress::default());
    stop_on_signals(&progress)?;
    let summary = all_runs(&experiment, writer, arguments, &progress)?;
    output::report(&dir, arguments.format)?;
    if !summary.complete {
        return Err(Failure::Interrupted { folder: dir.display().to_string() });
    }
    Ok(())
}

fn default_folder(file: &Path) -> PathBuf {
    Path::new("results").join(file.file_stem().unwrap_or(file.as_os_str()))
}

/// The first Ctrl-C ends the runs early, the second one the program.
fn stop_on_signals(progress: &Arc<Progress>) -> Result<(), Failure> {
    let progress = progress.clone();
    let handler = move || {
        if progress.stop.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
        say("stopping; once more to stop without results");
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::System {
        what: "listen to signals".into(),
        source: std::io::Error::other(error),
    })
}

/// What became of the runs, in their order whatever the order in which they finish.
struct Collector<'a> {
    writer: Writer,
    /// Finished runs whose predecessors have not.
    waiting: BTreeMap<usize, RunRecord>,
    next: usize,
    finished: usize,
    expected: usize,
    failure: Option<Failure>,
    display: &'a Display,
}

impl Collector<'_> {
    fn add(&mut self, index: usize, run: RunRecord) -> Result<(), ResultsError> {
        self.finished += 1;
        self.display.finished(self.finished, &run);
        self.waiting.insert(index, run);
        while let Some(run) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.writer.add(&run)?;
        }
        Ok(())
    }

    /// What is there of runs that were cut short, with gaps where some never began.
    fn end(mut self) -> Result<Summary, Failure> {
        for run in std::mem::take(&mut self.waiting).into_values() {
            if self.failure.is_none() {
                self.failure = self.writer.add(&run).err().map(Failure::from);
            }
        }
        let complete = self.failure.is_none() && self.finished == self.expected;
        let ending = if complete { Ending::Complete } else { Ending::Stopped };
        let summary = self.writer.finish(ending);
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(summary?),
        }
    }
}

fn all_runs(
    experiment: &Experiment,
    writer: Writer,
    arguments: &arguments::Run,
    progress: &Arc<Progress>,
) -> Result<Summary, Failure> {
    let runs = experiment.runs();
    let flows = runs.iter().map(|run| experiment.scenes[run.scene].workload.flow_count()).sum();
    let display = Display::new(runs.len(), flows, progress);
    let collector = Mutex::new(Collector {
        writer,
        waiting: BTreeMap::new(),
        next: 0,
        finished: 0,
        expected: runs.len(),
        failure: None,
        display: &display,
    });
    let pool = ThreadPoolBuilder::new()
        .num_threads(arguments.threads.map_or(0, usize::from))
        .build()
        .map_err(|error| Failure::System {
            what: "start threads".into(),
            source: std::io::Error::other(error),
        })?;
    pool.install(|| {
        // Bridged, so that runs begin in their order.
        runs.iter().enumerate().par_bridge().for_each(|(index, run)| {
            if progress.stop.load(Ordering::Relaxed) {
                return;
            }
            let record = one_run(&experiment.scenes[run.scene], run, progress);
            let mut collector = collector.lock().unwrap_or_else(PoisonError::into_inner);
            let added = record
                .map_err(|error| unforeseen(&arguments.experiment.file, &error))
                .and_then(|record| collector.add(index, record).map_err(Failure::from));
            if let Err(failure) = added {
                collector.failure.get_or_insert(failure);
                progress.stop.store(true, Ordering::Relaxed);
            }
        });
    });
    let collector = collector.into_inner().unwrap_or_else(PoisonError::into_inner);
    collector.end()
}

/// One run of an experiment.
pub(crate) fn one_run(
    scene: &Scene,
    run: &Run,
    progress: &Progress,
) -> Result<RunRecord, SettingError> {
    let meter = Meter::start();
    let network = scene.network()?;
    let workload = scene.workload(&network, run.seed)?;
    let scheme = &scene.schemes[run.scheme];
    let ran = simulate(scene, &scheme.level, &network, &workload.flows, run.seed, progress);
    let cost = meter.read();
    Ok(record(scene, &scheme.name, run.seed, &network, workload, ran, cost))
}

/// Runs the engine of the scheme's level.
fn simulate(
    scene: &Scene,
    level: &Level,
    network: &Network,
    flows: &[Flow],
    seed: u64,
    progress: &Progress,
) -> Ran {
    let (sample_interval, until) = (scene.sample_interval, scene.until);
    match level {
        Level::Packets(scheme) => {
            let routing = scene.topology.routing;
            let job = flowsched_sim::Job {
                network,
                routing,
                flows,
                scheme,
                seed,
                sample_interval,
                until,
            };
            flowsched_sim::run(&job, progress).into()
        }
        Level::Flows(scheme) => {
            let job = flowsched_fluid::Job { network, flows, scheme, seed, sample_interval, until };
            let Progress { finished_flows, stop } = progress;
            flowsched_fluid::run(&job, Watch { finished_flows, stop }).into()
        }
    }
}

/// What only drawing all flows of a seed could show.
pub(crate) fn unforeseen(file: &Path, error: &SettingError) -> Failure {
    let place = Place::Argument(file.display().to_string());
    Mistakes::from(Mistake::found(&place, &error.key, &error.found, &error.allowed)).into()
}
