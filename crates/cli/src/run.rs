//! `flowsched run`: does every run of an experiment, side by side, into a results folder.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use flowsched_experiment::results::{Earlier, Program, Summary, World, Writer, runs_left};
use flowsched_experiment::{Experiment, Run};
use flowsched_run::{
    Outcome, Progress, RunError, Simulation, Simulator, Size, Work, finished, folder,
};

use crate::arguments::{self, ExperimentFile};
use crate::captures;
use crate::failure::{Failure, unforeseen};
use crate::output;
use crate::program::program;
use crate::progress::{Display, say};
use crate::signals::Interrupts;

/// The world that moves the packets, unless the lab does.
const SIMULATOR: World = World::Simulator;

/// Simulates the experiment and prints the comparison.
pub fn run(arguments: &arguments::Run) -> Result<(), Failure> {
    let experiment = output::read(&arguments.experiment)?;
    size(&arguments.experiment, &experiment, threads(arguments.threads))?;
    let show = |dir: &Path| output::report(dir, arguments.format);
    if arguments.pcap.is_empty() {
        return run_by(arguments, experiment, SIMULATOR, Box::new(simulate), &show);
    }
    let results = arguments.out.clone().unwrap_or_else(|| folder_of(&arguments.experiment.file));
    let captured = captures::wanted(arguments, &results, &experiment)?;
    let simulator = move |run: Simulation<'_>| captured.simulate(run);
    run_by(arguments, experiment, SIMULATOR, Box::new(simulator), &show)
}

/// Simulates a run as the experiment file says.
fn simulate(run: Simulation<'_>) -> Result<Outcome, RunError> {
    Ok(run.run()?)
}

/// Has `simulator` do each run of the experiment, in `world`, and `show` print the results folder.
pub fn run_by(
    arguments: &arguments::Run,
    experiment: Experiment,
    world: World,
    simulator: Box<Simulator>,
    show: &dyn Fn(&Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let experiment = Arc::new(experiment);
    let dir = arguments.out.clone().unwrap_or_else(|| folder_of(&arguments.experiment.file));
    let program = program().in_world(world);
    if arguments.resume && finished(&dir, &experiment, &program).is_some() {
        say("every run is there already");
        return show(&dir);
    }
    let progress = Arc::new(Progress::default());
    let remedy = match world {
        World::Lab => "`flowsched lab run --resume`",
        World::Simulator | World::Machines => "`flowsched run --resume`",
    };
    let interrupts = Interrupts::listen(&progress, remedy)?;
    let writer = create(&dir, &experiment, program, arguments.resume)?;
    let work = Arc::new(Work::new(experiment, writer, progress.clone(), simulator)?);
    let done = do_all(&work, &progress, threads(arguments.threads));
    interrupts.simulations_ended();
    let summary = work.finish(done).map_err(|error| failed(&arguments.experiment.file, error))?;
    show(&dir)?;
    let folder = dir.display().to_string();
    match summary.complete {
        true => Ok(()),
        false if progress.stop.load(Ordering::SeqCst) => Err(Failure::Interrupted { folder }),
        false => Err(Failure::TooLong { folder }),
    }
}

/// The folder for the results of an experiment if the user names none.
pub fn folder_of(file: &Path) -> PathBuf {
    Path::new("results").join(file.file_stem().unwrap_or(file.as_os_str()))
}

/// Does the runs of the experiment in `file` that are not in `dir` yet. Returns early once `progress`
/// says to stop.
pub fn complete(
    file: &Path,
    experiment: Experiment,
    dir: &Path,
    progress: &Arc<Progress>,
    threads: usize,
) -> Result<Summary, Failure> {
    let dir = (dir, SIMULATOR);
    complete_by(file, experiment, dir, progress, threads, Box::new(simulate))
}

/// Does the runs that are not in `dir` yet with `simulator`, which runs them in `world`.
pub fn complete_by(
    file: &Path,
    experiment: Experiment,
    (dir, world): (&Path, World),
    progress: &Arc<Progress>,
    threads: usize,
    simulator: Box<Simulator>,
) -> Result<Summary, Failure> {
    let experiment = Arc::new(experiment);
    let writer = create(dir, &experiment, program().in_world(world), true)?;
    let work = Arc::new(Work::new(experiment, writer, progress.clone(), simulator)?);
    let done = do_all(&work, progress, threads);
    work.finish(done).map_err(|error| failed(file, error))
}

fn create(
    dir: &Path,
    experiment: &Experiment,
    program: Program,
    resume: bool,
) -> Result<Writer, Failure> {
    let left = runs_left(dir);
    let earlier = if resume { Earlier::Kept } else { Earlier::Discarded };
    let writer = folder::create(dir, experiment, program, earlier)?;
    if !resume && left > 0 {
        say(&format!(
            "note: finished runs of an earlier attempt are run again ({left}); --resume keeps them"
        ));
    }
    Ok(writer)
}

/// Does all runs that are not there yet, and shows their progress.
fn do_all(work: &Arc<Work>, progress: &Arc<Progress>, threads: usize) -> Result<(), RunError> {
    let experiment = work.experiment();
    let flows = |run: &Run| experiment.scenes[run.scene].workload.flow_count();
    let (total, left) = (work.total(), work.runs().len());
    let flows = work.runs().map(flows).sum();
    let mut display = Display::new(total, total - left, flows, progress);
    work.do_all(threads, |run| display.finished(run))
}

/// The failure of the runs of the experiment in `file`.
pub(crate) fn failed(file: &Path, error: RunError) -> Failure {
    match error {
        RunError::Setting(error) => unforeseen(file, &error),
        RunError::Results(error) => error.into(),
        RunError::World(error) => Failure::World(error),
        RunError::Threads(source) => Failure::System { what: "start threads".into(), source },
    }
}

/// The size of the experiment, if it can be run. Prints a warning if it is large.
pub fn size(
    file: &ExperimentFile,
    experiment: &Experiment,
    threads: usize,
) -> Result<Size, Failure> {
    let size = Size::new(experiment, threads).map_err(|error| unforeseen(&file.file, &error))?;
    for warning in size.check()? {
        say(&format!("warning: {warning}"));
    }
    Ok(size)
}

/// The number of threads that is asked for; by default the number of cores.
pub fn threads(asked: Option<NonZeroUsize>) -> usize {
    let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    asked.unwrap_or_else(cores).get()
}
