//! The runs of an experiment, side by side on threads. If there are more threads than runs, each run has
//! several.

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use flowsched_experiment::results::{
    Ending, PortRow, ProbedPort, ResultsError, RunSummary, Summary, Writer,
};
use flowsched_experiment::{Experiment, Run};
use flowsched_schemes::world::{Progress, Seen};

use crate::error::RunError;
use crate::prepared::Prepared;
use crate::record::{port_row, probed_flow};
use crate::simulation::Simulator;

/// The interval of checks whether the runs are to stop.
const INTERVAL: Duration = Duration::from_millis(20);

/// The runs of an experiment that are to be done. The threads share them.
pub struct Work {
    experiment: Arc<Experiment>,
    writer: Writer,
    progress: Arc<Progress>,
    simulator: Box<Simulator>,
    /// How many runs the experiment has.
    total: usize,
    /// The runs that are to be done, each with its place in the experiment.
    runs: Vec<(usize, Run)>,
    next: AtomicUsize,
    /// The number of runs that simulate or write, which must be waited for.
    active: AtomicUsize,
}

impl Work {
    /// The runs of `experiment` that `writer` does not have yet, each to be simulated by `simulator`.
    ///
    /// # Errors
    /// If the results folder cannot be read.
    pub fn new(
        experiment: Arc<Experiment>,
        writer: Writer,
        progress: Arc<Progress>,
        simulator: Box<Simulator>,
    ) -> Result<Work, ResultsError> {
        let there = writer.places()?;
        let runs = experiment.runs();
        let total = runs.len();
        let runs =
            runs.into_iter().enumerate().filter(|(place, _)| !there.contains(place)).collect();
        let (next, active) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Ok(Work { experiment, writer, progress, simulator, total, runs, next, active })
    }

    /// How many runs the experiment has, those that are done already included.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The experiment whose runs they are.
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// The runs that are to be done.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = &Run> {
        self.runs.iter().map(|(_, run)| run)
    }

    /// Does all runs on up to `threads` threads, and hands each one's summary to `each` as it finishes. Returns
    /// early once the runs are to stop. Runs that simulate then end with what they have. Runs that still build
    /// their network or draw their flows are left alone.
    ///
    /// # Errors
    /// That of the first run that fails, which stops the others; or [`RunError::Threads`].
    pub fn do_all(
        self: &Arc<Work>,
        threads: usize,
        mut each: impl FnMut(&RunSummary),
    ) -> Result<(), RunError> {
        let (done, all_done) = channel();
        let workers = self.start(threads, &done).inspect_err(|_| self.stop());
        drop(done);
        let workers = workers.map_err(RunError::Threads)?;
        let mut failure = None;
        let mut take = |result: Result<RunSummary, RunError>| match result {
            Ok(run) => each(&run),
            Err(error) => {
                self.stop();
                failure.get_or_insert(error);
            }
        };
        if self.receive(&all_done, &mut take).is_continue() {
            join(workers);
        }
        failure.map_or(Ok(()), Err)
    }

    /// Concatenates the tables of all written runs, and returns their summary.
    ///
    /// # Errors
    /// That of `done`, which is what [`Work::do_all`] returned; or if the tables cannot be written.
    pub fn finish(&self, done: Result<(), RunError>) -> Result<Summary, RunError> {
        let done = match done {
            // Threads that were started may still write.
            Err(error @ RunError::Threads(_)) => return Err(error),
            done => done,
        };
        let is_every_run_there = self.writer.places()?.len() == self.total;
        let ending = match done.is_ok() && is_every_run_there {
            true => Ending::Complete,
            false => Ending::Stopped,
        };
        let summary = self.writer.finish(ending);
        done.and_then(|()| Ok(summary?))
    }

    fn start(
        self: &Arc<Work>,
        threads: usize,
        done: &Sender<Result<RunSummary, RunError>>,
    ) -> std::io::Result<Vec<JoinHandle<()>>> {
        let workers = threads.min(self.runs.len());
        let worker = |number: usize| {
            let (work, done) = (Arc::clone(self), done.clone());
            let name = format!("run-{number}");
            let of_run = threads_of(number, workers, threads);
            std::thread::Builder::new().name(name).spawn(move || work.work(of_run, &done))
        };
        (0..workers).map(worker).collect()
    }

    fn stop(&self) {
        self.progress.stop.store(true, Ordering::SeqCst);
    }

    /// Hands each result to `each`, until there are no more or, after a stop, until no run is active.
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

    fn work(&self, threads: NonZeroUsize, done: &Sender<Result<RunSummary, RunError>>) {
        let next = || self.runs.get(self.next.fetch_add(1, Ordering::SeqCst));
        while let Some((place, run)) = next() {
            if self.one_run(*place, *run, threads, done).is_break() {
                break;
            }
        }
    }

    /// Does a run, unless it is to stop before it simulates.
    fn one_run(
        &self,
        place: usize,
        run: Run,
        threads: NonZeroUsize,
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
            .and_then(|run| self.simulate(place, run.on_threads(threads)));
        match done.send(result) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    fn is_to_stop(&self) -> bool {
        self.progress.stop.load(Ordering::SeqCst)
    }

    fn simulate(&self, place: usize, run: Prepared<'_>) -> Result<RunSummary, RunError> {
        // Samples and what a probe sees go to one writer, one after the other.
        let writer = RefCell::new(self.writer.begin(place, run.start())?);
        let failure = RefCell::new(None);
        let go_on = |written: Result<(), ResultsError>| match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure.replace(Some(error));
                ControlFlow::Break(())
            }
        };
        let mut add = |samples: &[PortRow]| go_on(writer.borrow_mut().add_samples(samples));
        let mut seen = |seen: Seen| {
            let mut writer = writer.borrow_mut();
            go_on(match seen {
                Seen::Port { sample, rate } => {
                    writer.add_probed_port(ProbedPort { port: port_row(&sample), rate_bps: rate })
                }
                Seen::Flow(flow) => writer.add_probed_flow(probed_flow(&flow)),
            })
        };
        let record =
            run.simulate_into(&self.simulator, &self.progress, &mut add, Some(&mut seen))?;
        match failure.into_inner() {
            Some(error) => Err(error.into()),
            None => Ok(writer.into_inner().finish(&record)?),
        }
    }
}

/// How many of the threads the runs of one worker use.
fn threads_of(worker: usize, workers: usize, threads: usize) -> NonZeroUsize {
    let spare = usize::from(worker < threads % workers);
    NonZeroUsize::new(threads / workers + spare).unwrap_or(NonZeroUsize::MIN)
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

/// Waits for threads that have nothing left to do, and passes on a panic of one of them.
fn join(workers: Vec<JoinHandle<()>>) {
    for worker in workers {
        if let Err(panic) = worker.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_are_used_where_runs_are_fewer() {
        for (runs, threads) in [(1, 1), (1, 2), (1, 7), (2, 7), (3, 4), (5, 3), (7, 7)] {
            let workers = runs.min(threads);
            let of_runs = (0..workers).map(|worker| threads_of(worker, workers, threads).get());
            let of_runs: Vec<usize> = of_runs.collect();
            assert_eq!(of_runs.iter().sum::<usize>(), threads, "{runs} runs");
            assert!(of_runs[0] - of_runs[workers - 1] <= 1, "{runs} runs: {of_runs:?}");
        }
    }
}
