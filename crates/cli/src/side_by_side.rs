//! The runs of an experiment, side by side on threads.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use flowsched_experiment::results::{ResultsError, RunSummary, Writer};
use flowsched_experiment::{Experiment, Run};
use flowsched_sim::Progress;
use flowsched_units::SettingError;

use crate::simulate::Prepared;

/// How often it is looked at whether to stop.
const INTERVAL: Duration = Duration::from_millis(20);

/// Why a run failed.
pub enum RunError {
    /// What only drawing all flows of a seed could show.
    Setting(SettingError),
    /// Its results could not be written.
    Results(ResultsError),
}

/// What the threads share.
pub struct Work {
    pub experiment: Arc<Experiment>,
    pub writer: Writer,
    pub progress: Arc<Progress>,
    /// How many runs the experiment has.
    pub total: usize,
    /// Those of them that are to be done, each with its place in the experiment.
    pub runs: Vec<(usize, Run)>,
    next: AtomicUsize,
    /// Runs that simulate or write, and are to be waited for.
    active: AtomicUsize,
}

impl Work {
    /// The runs of `experiment` that `writer` does not have yet.
    ///
    /// # Errors
    /// If the results folder cannot be read.
    pub fn new(
        experiment: Arc<Experiment>,
        writer: Writer,
        progress: Arc<Progress>,
    ) -> Result<Work, ResultsError> {
        let there = writer.places()?;
        let runs = experiment.runs();
        let total = runs.len();
        let runs =
            runs.into_iter().enumerate().filter(|(place, _)| !there.contains(place)).collect();
        let (next, active) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Ok(Work { experiment, writer, progress, total, runs, next, active })
    }

    /// Does all runs on up to `threads` threads and hands each one's summary to `each` as it
    /// finishes. Returns early once the runs are to stop: those that simulate end with what they
    /// have, those that still build their network or draw their flows are left alone.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn do_all(
        self: &Arc<Work>,
        threads: usize,
        mut each: impl FnMut(Result<RunSummary, RunError>),
    ) -> std::io::Result<()> {
        let (done, all_done) = channel();
        let worker = |number: usize| {
            let (work, done) = (Arc::clone(self), done.clone());
            let name = format!("run-{number}");
            std::thread::Builder::new().name(name).spawn(move || work.work(&done))
        };
        let workers =
            (0..threads.min(self.runs.len())).map(worker).collect::<Result<Vec<_>, _>>()?;
        drop(done);
        if self.receive(&all_done, &mut each).is_continue() {
            join(workers);
        }
        Ok(())
    }

    /// Hands on results until there are no more, or none are to be waited for.
    fn receive(
        &self,
        all_done: &Receiver<Result<RunSummary, RunError>>,
        each: &mut impl FnMut(Result<RunSummary, RunError>),
    ) -> ControlFlow<()> {
        loop {
            match all_done.recv_timeout(INTERVAL) {
                Ok(result) => each(result),
                Err(RecvTimeoutError::Disconnected) => return ControlFlow::Continue(()),
                Err(RecvTimeoutError::Timeout) if self.is_over() => {
                    all_done.try_iter().for_each(each);
                    return ControlFlow::Break(());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn is_over(&self) -> bool {
        self.is_to_stop() && self.active.load(Ordering::SeqCst) == 0
    }

    fn work(&self, done: &Sender<Result<RunSummary, RunError>>) {
        let next = || self.runs.get(self.next.fetch_add(1, Ordering::SeqCst));
        while let Some((place, run)) = next() {
            if self.one_run(*place, *run, done).is_break() {
                break;
            }
        }
    }

    /// Does a run, unless it is to stop before it simulates.
    fn one_run(
        &self,
        place: usize,
        run: Run,
        done: &Sender<Result<RunSummary, RunError>>,
    ) -> ControlFlow<()> {
        if self.is_to_stop() {
            return ControlFlow::Break(());
        }
        let prepared = Prepared::new(&self.experiment.scenes[run.scene], run);
        // Until the result is sent, others wait for it.
        let _active = Active::new(&self.active);
        if self.is_to_stop() {
            return ControlFlow::Break(());
        }
        let result = prepared
            .map_err(RunError::Setting)
            .and_then(|run| self.simulate(place, run).map_err(RunError::Results));
        match done.send(result) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    fn is_to_stop(&self) -> bool {
        self.progress.stop.load(Ordering::SeqCst)
    }

    fn simulate(&self, place: usize, run: Prepared<'_>) -> Result<RunSummary, ResultsError> {
        let mut writer = self.writer.begin(place, run.start())?;
        let mut failure = None;
        let record =
            run.simulate(&self.progress, &mut |samples| match writer.add_samples(samples) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            });
        match failure {
            Some(error) => Err(error),
            None => writer.finish(&record),
        }
    }
}

/// Counts a run while it is there.
struct Active<'a>(&'a AtomicUsize);

impl Active<'_> {
    fn new(count: &AtomicUsize) -> Active<'_> {
        count.fetch_add(1, Ordering::SeqCst);
        Active(count)
    }
}

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits for threads that have nothing left to do; a panic in one is one here.
fn join(workers: Vec<JoinHandle<()>>) {
    for worker in workers {
        if let Err(panic) = worker.join() {
            std::panic::resume_unwind(panic);
        }
    }
}
