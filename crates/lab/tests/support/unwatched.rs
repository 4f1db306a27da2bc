//! A run that nobody watches.

use std::ops::ControlFlow;

use flowsched_schemes::world::{Progress, Threads, Watch};

/// Calls `run` with a watch of one thread that never stops the run, and returns its result.
pub fn unwatched<R>(run: impl FnOnce(&mut Watch<'_>) -> R) -> R {
    let (progress, mut samples) = (Progress::default(), |_: &[_]| ControlFlow::Continue(()));
    run(&mut Watch {
        threads: Threads::one(),
        progress: &progress,
        samples: &mut samples,
        probing: None,
    })
}
