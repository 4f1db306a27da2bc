//! Progress and samples of a run, for whoever follows it.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::{Outcome, PortSample, Probing};

/// How far a run is, and whether it is to stop.
#[derive(Debug, Default)]
pub struct Progress {
    /// Flows that have ended: their sender has every byte acknowledged, or gave them up.
    pub finished_flows: AtomicU64,
    /// If set, the run ends soon, with the results so far.
    pub stop: AtomicBool,
}

/// Takes the samples of all ports, one sample time after the other, each time in the ports' order.
/// If it answers [`ControlFlow::Break`], the run ends soon, as if it were told to stop.
pub type SampleSink<'a> = dyn FnMut(&[PortSample]) -> ControlFlow<()> + 'a;

/// The threads that a run may use. Its results are the same for any number.
#[derive(Clone, Copy)]
pub struct Threads<'a> {
    /// How many there may be, that of the caller included.
    pub count: NonZeroUsize,
    /// Called on each thread but the caller's when its work is done.
    pub at_end: &'a (dyn Fn() + Sync),
}

impl Threads<'_> {
    /// The caller's thread alone.
    pub fn one() -> Threads<'static> {
        Threads { count: NonZeroUsize::MIN, at_end: &|| () }
    }
}

/// Who follows a run, and what it may use.
pub struct Watch<'a> {
    /// The threads that the run may use.
    pub threads: Threads<'a>,
    /// How far it is, and whether it is to stop.
    pub progress: &'a Progress,
    /// Where its samples go.
    pub samples: &'a mut SampleSink<'a>,
    /// What is looked at beside that, if anything is.
    pub probing: Option<Probing<'a>>,
}

/// Has `run` simulate on one thread, and keeps all of its samples in [`Outcome::ports`].
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
