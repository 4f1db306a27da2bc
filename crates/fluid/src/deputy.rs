//! A second thread that finds max-min fair rates ahead.
//!
//! While the engine hands on the rates after one event, the deputy finds those after the next one, as far as this can
//! be guessed. If the guess is wrong, what the deputy has done is undone. Rates are thus found for the same events
//! in the same order as by one thread, and results are the same to the last bit.
//!
//! Rates and what they follow from are behind one lock. The engine does what the deputy has not begun, so a deputy that
//! gets no processor keeps nobody waiting.

use std::hint::spin_loop;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Thread, available_parallelism, park, scope};

use flowsched_schemes::world::Threads;

use crate::fair::Fair;
use crate::sharing::Step;

/// How often a thread polls for the other one before it sleeps. This takes a few hundred microseconds, while an
/// event takes about ten.
const LOOKS: u32 = 1 << 12;

/// The place where the engine leaves work for the deputy.
#[derive(Debug)]
pub(crate) struct Desk {
    work: Mutex<Work>,
    /// Whether a step waits for the deputy, or the deputy works on it. It changes under the lock.
    is_expected: Apart,
    is_asleep: AtomicBool,
    is_over: AtomicBool,
}

/// A flag that one thread polls. It has its cache lines to itself, so that other writes do not slow the polling.
#[derive(Debug)]
#[repr(align(128))]
struct Apart(AtomicBool);

/// The rates, and the step whose rates are found ahead.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Work {
    fair: Fair,
    /// The step that the deputy is to do, or has done.
    expected: Option<Step>,
    is_done: bool,
    slots: Vec<u32>,
    /// Slots with new rates, bit/s.
    pub(crate) rates: Vec<(u32, f64)>,
}

/// The engine's end of the desk.
#[derive(Debug)]
pub(crate) struct Deputy<'d> {
    desk: &'d Desk,
    /// The second thread, if there is one.
    thread: Option<Thread>,
}

/// Calls `run` with a deputy on a thread of its own. There is none if the machine has one processor, or if the system
/// refuses to start a thread.
pub(crate) fn with_deputy<R>(
    fair: Fair,
    threads: Threads<'_>,
    run: impl FnOnce(Deputy<'_>) -> R,
) -> R {
    let desk = &Desk::new(fair);
    let processors = available_parallelism().map_or(1, NonZeroUsize::get);
    scope(|scope| {
        let help = || {
            desk.help();
            (threads.at_end)();
        };
        let start = || Builder::new().name("deputy".into()).spawn_scoped(scope, help).ok();
        let deputy = if processors > 1 { start() } else { None };
        run(Deputy { desk, thread: deputy.map(|deputy| deputy.thread().clone()) })
    })
}

impl Desk {
    fn new(fair: Fair) -> Desk {
        Desk {
            work: Mutex::new(Work::new(fair)),
            is_expected: Apart(AtomicBool::new(false)),
            is_asleep: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        }
    }

    /// Does each expected step, until the run is over.
    fn help(&self) {
        while self.wait_for_step() {
            let mut work = self.lock();
            if self.is_expected.0.load(Ordering::Relaxed) {
                work.do_ahead();
                self.is_expected.0.store(false, Ordering::Release);
            }
        }
    }

    /// Waits until a step is expected. Returns false if the run is over.
    fn wait_for_step(&self) -> bool {
        let mut looks = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            if self.is_expected.0.load(Ordering::Acquire) {
                return true;
            }
            if looks < LOOKS {
                looks += 1;
                spin_loop();
            } else {
                self.is_asleep.store(true, Ordering::Relaxed);
                park();
                self.is_asleep.store(false, Ordering::Relaxed);
                looks = 0;
            }
        }
        false
    }

    /// Locks the work, even if a thread has panicked: joining the threads passes the panic on.
    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deputy<'_> {
    /// Whether there is a deputy.
    pub(crate) fn is_there(&self) -> bool {
        self.thread.is_some()
    }

    /// Has the deputy find the rates after this step. If the deputy sleeps, this wakes it and returns false: the
    /// engine would have done the step before the deputy is up.
    pub(crate) fn expect(&self, step: Step) -> bool {
        if self.desk.is_asleep.load(Ordering::Relaxed) {
            self.wake();
            return false;
        }
        let mut work = self.desk.lock();
        work.expected = Some(step);
        work.is_done = false;
        self.desk.is_expected.0.store(true, Ordering::Release);
        true
    }

    /// Waits until the deputy does not work, and locks the work. Also returns whether this took at most [`LOOKS`]
    /// polls.
    pub(crate) fn meet(&self) -> (MutexGuard<'_, Work>, bool) {
        if let Ok(work) = self.desk.work.try_lock() {
            self.desk.is_expected.0.store(false, Ordering::Relaxed);
            return (work, true);
        }
        let is_done = || {
            spin_loop();
            !self.desk.is_expected.0.load(Ordering::Acquire)
        };
        let is_prompt = (0..LOOKS).any(|_| is_done());
        (self.desk.lock(), is_prompt)
    }

    fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }
}

impl Drop for Deputy<'_> {
    fn drop(&mut self) {
        self.desk.is_over.store(true, Ordering::Relaxed);
        self.wake();
    }
}

impl Work {
    fn new(fair: Fair) -> Work {
        Work { fair, expected: None, is_done: false, slots: Vec::new(), rates: Vec::new() }
    }

    fn do_ahead(&mut self) {
        if let Some(step) = self.expected.take() {
            self.fair.begin(true);
            self.settle(std::slice::from_ref(&step));
            self.expected = Some(step);
            self.is_done = true;
        }
    }

    /// Leaves in `rates` the rates that these steps change. Returns whether the deputy had found them.
    pub(crate) fn find(&mut self, steps: &[Step]) -> bool {
        let expected = self.expected.take().filter(|_| self.is_done);
        let is_found = expected.as_slice() == steps;
        if !is_found {
            if expected.is_some() {
                self.fair.undo();
            }
            self.fair.begin(false);
            self.settle(steps);
        }
        is_found
    }

    fn settle(&mut self, steps: &[Step]) {
        let Work { fair, slots, rates, .. } = self;
        for step in steps {
            match step {
                Step::Start(slot, path) => fair.add(*slot, path.iter().copied(), 0),
                Step::End(slot) => fair.remove(*slot),
            }
        }
        fair.settle(|slot| slots.push(slot));
        rates.clear();
        rates.extend(slots.drain(..).map(|slot| (slot, fair.rate(slot))));
    }
}

#[cfg(test)]
#[path = "deputy/tests.rs"]
mod tests;
