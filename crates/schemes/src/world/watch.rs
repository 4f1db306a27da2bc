//! The progress and the samples of a run, for a caller that follows it.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::{Outcome, PortSample, Probing};

/// The progress of a run, and the request to stop it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Flows that have ended: their sender has every byte acknowledged, or gave them up.
    pub finished_flows: AtomicU64,
    /// If set, the run ends soon, with the results so far.
    pub stop: AtomicBool,
}

/// Takes the samples of all ports, one sample time after the other, each time in the ports' order.
/// If it returns [`ControlFlow::Break`], the run ends soon, as if [`Progress::stop`] were set.
pub type SampleSink<'a> = dyn FnMut(&[PortSample]) -> ControlFlow<()> + 'a;

/// The threads that a run may use. Its results are the same for any number.
#[derive(Clone, Copy)]
pub struct Threads<'a> {
    /// The most threads at a time, the caller's included.
    pub count: NonZeroUsize,
    /// Called on each thread but the caller's when its work is done.
    pub at_end: &'a (dyn Fn() + Sync),
}

impl Threads<'_> {
    /// Only the caller's thread.
    pub fn one() -> Threads<'static> {
        Threads { count: NonZeroUsize::MIN, at_end: &|| () }
    }
}

/// What a run reports to, and the threads that it may use.
pub struct Watch<'a> {
    /// The threads that the run may use.
    pub threads: Threads<'a>,
    /// The run's progress, and the request to stop it.
    pub progress: &'a Progress,
    /// Takes the run's samples.
    pub samples: &'a mut SampleSink<'a>,
    /// The ports and flows that are observed in addition, if there are any.
    pub probing: Option<Probing<'a>>,
}

/// Calls `run` with one thread, and collects all of its samples in [`Outcome::ports`].
#[doc(hidden)]
pub fn collecting(progress: &Progress, run: impl FnOnce(&mut Watch<'_>) -> Outcome) -> Outcome {
    let mut ports = Vec::new();
    let mut keep = |samples: &[PortSample]| {
        ports.extend_from_slice(samples);
        ControlFlow::Continue(())
    };
    let outcome =
        run(&mut Watch { threads: Threads::one(), progress, samples: &mut keep, probing: None });
    Outcome { ports, ..outcome }
}
