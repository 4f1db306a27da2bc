//! Runs an experiment from Python: without the global lock, and watching for Ctrl-C.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use flowsched_experiment::Experiment;
use flowsched_experiment::results::{Earlier, ResultsError, Summary};
use flowsched_run::{Outcome, Progress, RunError, Simulation, Work, folder, program};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors;

/// How often signals are checked and progress is reported.
const INTERVAL: Duration = Duration::from_millis(100);

/// An experiment to run.
pub(crate) struct Job<'a> {
    /// The name of the experiment, for messages.
    pub name: &'a str,
    /// The experiment.
    pub experiment: Arc<Experiment>,
    /// The results folder.
    pub out: &'a Path,
    /// The number of runs at a time.
    pub threads: usize,
    /// Whether to keep finished runs of an interrupted experiment.
    pub resume: bool,
    /// The command that the results record.
    pub command: String,
}

/// Runs the job until it ends or a signal stops it. After a signal, the results contain the finished runs.
/// Returns whether every run is finished.
pub(crate) fn run(py: Python<'_>, job: Job<'_>, tick: Option<Py<PyAny>>) -> PyResult<bool> {
    let name = job.name;
    let progress = Arc::new(Progress::default());
    let (stopped, summary) = py.detach(|| {
        let work = work(job, &progress).map_err(|error| errors::results(&error))?;
        follow(&work.0, work.1, &progress, tick.as_ref(), name)
    })?;
    match stopped {
        Some(error) if !Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py)) => {
            Err(error)
        }
        _ => Ok(summary.complete),
    }
}

fn work(job: Job<'_>, progress: &Arc<Progress>) -> Result<(Arc<Work>, usize), ResultsError> {
    let earlier = if job.resume { Earlier::Kept } else { Earlier::Discarded };
    let writer = folder::create(job.out, &job.experiment, program(job.command), earlier)?;
    let simulate = |run: Simulation<'_>| -> Result<Outcome, RunError> { Ok(run.run()?) };
    let work = Work::new(job.experiment, writer, progress.clone(), Box::new(simulate))?;
    Ok((Arc::new(work), job.threads))
}

/// Does the work in another thread. Returns the exception of a signal, if there was one, and the summary.
fn follow(
    work: &Arc<Work>,
    threads: usize,
    progress: &Arc<Progress>,
    tick: Option<&Py<PyAny>>,
    name: &str,
) -> PyResult<(Option<PyErr>, Summary)> {
    let (total, left) = (work.total(), work.runs().len());
    let experiment = work.experiment();
    let flow_count =
        |run: &flowsched_experiment::Run| experiment.scenes[run.scene].workload.flow_count();
    let flows: u64 = work.runs().map(flow_count).sum();
    let finished = Arc::new(AtomicUsize::new(total - left));
    let (done, is_done) = channel();
    let (worker, count) = (Arc::clone(work), Arc::clone(&finished));
    let doing = std::thread::spawn(move || {
        let result = worker.do_all(threads, |_| _ = count.fetch_add(1, Ordering::SeqCst));
        // Sending fails if the receiver is gone; `join` then takes the result.
        let _ = done.send(());
        result
    });
    let tell = |tick: &Py<PyAny>, py: Python<'_>| {
        let flows_done = progress.finished_flows.load(Ordering::Relaxed);
        tick.call1(py, (finished.load(Ordering::SeqCst), total, flows_done, flows)).map(drop)
    };
    let mut stopped = None;
    loop {
        match is_done.recv_timeout(INTERVAL) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let looked = Python::attach(|py| {
            py.check_signals()?;
            tick.map_or(Ok(()), |tick| tell(tick, py))
        });
        if let Err(error) = looked {
            progress.stop.store(true, Ordering::SeqCst);
            stopped.get_or_insert(error);
        }
    }
    let result = doing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let summary = work.finish(result).map_err(|error| errors::run(name, &error))?;
    if let (Some(tick), None) = (tick, &stopped) {
        Python::attach(|py| tell(tick, py))?;
    }
    Ok((stopped, summary))
}
