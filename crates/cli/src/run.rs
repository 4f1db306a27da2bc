//! `flowsched run`: every run of an experiment, side by side, into a results folder.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use flowsched_experiment::results::{
    Earlier, Ending, Folder, RunSummary, Summary, Writer, runs_left,
};
use flowsched_experiment::{Experiment, Mistake, Mistakes, Place, Run};
use flowsched_sim::Progress;
use flowsched_units::SettingError;

use crate::arguments::{self, ExperimentFile};
use crate::failure::Failure;
use crate::folder;
use crate::output;
use crate::progress::{Display, say};
use crate::side_by_side::{RunError, Work};
use crate::signals::Interrupts;
use crate::size::Size;

/// Runs the experiment and prints the comparison.
pub fn run(arguments: &arguments::Run) -> Result<(), Failure> {
    let experiment = Arc::new(output::read(&arguments.experiment)?);
    size(&arguments.experiment, &experiment, threads(arguments.threads))?;
    let dir = match &arguments.out {
        Some(dir) => dir.clone(),
        None => default_folder(&arguments.experiment.file),
    };
    if arguments.resume && is_complete(&dir, &experiment) {
        say("every run is there already");
        return output::report(&dir, arguments.format);
    }
    let progress = Arc::new(Progress::default());
    let interrupts = Interrupts::listen(&progress)?;
    let writer = create(&dir, &experiment, arguments.resume)?;
    let work = Arc::new(Work::new(experiment, writer, progress)?);
    let failure = all_runs(&work, arguments)?;
    interrupts.simulations_ended();
    let summary = put_together(&work, failure)?;
    output::report(&dir, arguments.format)?;
    let folder = dir.display().to_string();
    match summary.complete {
        true => Ok(()),
        false if work.progress.stop.load(Ordering::SeqCst) => Err(Failure::Interrupted { folder }),
        false => Err(Failure::TooLong { folder }),
    }
}

fn default_folder(file: &Path) -> PathBuf {
    Path::new("results").join(file.file_stem().unwrap_or(file.as_os_str()))
}

/// Whether `dir` has every run of this very experiment, done by this very program.
fn is_complete(dir: &Path, experiment: &Experiment) -> bool {
    Folder::open(dir).is_ok_and(|folder| {
        let Summary { complete, program, .. } = folder.summary();
        *complete
            && program.is_same_code(&folder::program())
            && folder.experiment() == experiment.resolved()
    })
}

fn create(dir: &Path, experiment: &Experiment, resume: bool) -> Result<Writer, Failure> {
    let left = runs_left(dir);
    let earlier = if resume { Earlier::Kept } else { Earlier::Discarded };
    let writer = folder::create(dir, experiment, earlier)?;
    if !resume && left > 0 {
        say(&format!(
            "note: runs again what an earlier run had finished ({left}); --resume keeps it"
        ));
    }
    Ok(writer)
}

/// Does all runs that are not there yet; why one failed, if one did.
fn all_runs(work: &Arc<Work>, arguments: &arguments::Run) -> Result<Option<Failure>, Failure> {
    let flows = |run: &Run| work.experiment.scenes[run.scene].workload.flow_count();
    let flows = work.runs.iter().map(|(_, run)| flows(run)).sum();
    let mut display = Display::new(work.total, work.total - work.runs.len(), flows, &work.progress);
    let mut failure = None;
    let each = |result: Result<RunSummary, RunError>| match result {
        Ok(run) => display.finished(&run),
        Err(error) => {
            work.progress.stop.store(true, Ordering::SeqCst);
            let file = &arguments.experiment.file;
            failure.get_or_insert_with(|| match error {
                RunError::Setting(error) => unforeseen(file, &error),
                RunError::Results(error) => error.into(),
            });
        }
    };
    work.do_all(threads(arguments.threads), each)
        .map_err(|source| Failure::System { what: "start threads".into(), source })?;
    Ok(failure)
}

/// How large the experiment is, if it can be run; warns where it is large.
pub fn size(
    file: &ExperimentFile,
    experiment: &Experiment,
    threads: usize,
) -> Result<Size, Failure> {
    let size = Size::new(experiment, threads).map_err(|error| unforeseen(&file.file, &error))?;
    size.check()?;
    Ok(size)
}

/// How many threads are asked for; as many as there are cores if none are.
pub fn threads(asked: Option<NonZeroUsize>) -> usize {
    let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    asked.unwrap_or_else(cores).get()
}

/// Puts the tables together, of all runs or of those that there are; the first failure counts.
fn put_together(work: &Work, failure: Option<Failure>) -> Result<Summary, Failure> {
    let is_every_run_there = work.writer.places()?.len() == work.total;
    let ending = match failure.is_none() && is_every_run_there {
        true => Ending::Complete,
        false => Ending::Stopped,
    };
    let summary = work.writer.finish(ending);
    failure.map_or_else(|| Ok(summary?), Err)
}

/// What only drawing all flows of a seed could show.
pub(crate) fn unforeseen(file: &Path, error: &SettingError) -> Failure {
    let place = Place::Argument(file.display().to_string());
    Mistakes::from(Mistake::found(&place, &error.key, &error.found, &error.allowed)).into()
}
