//! Runs an experiment: from a checked file to a results folder.
//!
//! [`run`] takes an [`Experiment`], simulates its runs side by side on all cores, and leaves what
//! `flowsched run` leaves: the tables, the summary and the resolved file. A function of the caller
//! simulates each run, so that a program can put parts of its own in the place of those that the file
//! names: [`Simulation::run`] simulates what the file says, and [`Simulation::run_parts`] the parts
//! that it is given.
//!
//! What lives here: building a run's network and flows, choosing its engine, turning what the engine
//! gives into rows, and threads. What may not: reading files, statistics, and printing.
//!
//! ```
//! use flowsched_experiment::{Arguments, Experiment, Source, results::Program};
//! use flowsched_run::run;
//! use flowsched_schemes::controller::NoController;
//! use flowsched_schemes::port::{HighestFirst, QueuePorts};
//! use flowsched_schemes::tagger::none::NoTagger;
//! use flowsched_schemes::transport::tcp::{Tcp, congestion::EcnStar, settings::TcpSettings};
//! use flowsched_schemes::Parts;
//!
//! let file = "
//!     topology = { kind = \"star\", hosts = 3 }
//!     workload = { sizes = \"fixed 100KB\", flows = 5, load = 0.5 }
//!     scheme = [{ preset = \"dctcp\" }, { preset = \"dctcp\", name = \"own\" }]
//! ";
//! let no_inputs = |_: &str| Err(std::io::ErrorKind::NotFound.into());
//! let source = Source::new("two-schemes.toml", file);
//! let experiment = Experiment::parse(&source, &Arguments::default(), &no_inputs)?;
//!
//! let folder = std::env::temp_dir().join(format!("flowsched-run-{}", std::process::id()));
//! let summary = run(experiment, &folder, Program::default(), |run| {
//!     let scheme = run.scheme();
//!     if scheme.name != "own" {
//!         return run.run();
//!     }
//!     let settings = &scheme.settings;
//!     run.run_parts(Parts {
//!         transport: Tcp::new(TcpSettings::from_settings(settings), EcnStar),
//!         tagger: NoTagger,
//!         ports: QueuePorts::from_settings(settings, 1, HighestFirst),
//!         controllers: |_| NoController,
//!     })
//! })?;
//! assert_eq!(summary.schemes(), ["dctcp", "own"]);
//! assert!(summary.runs.iter().all(|run| run.finished == 5));
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cost;
mod error;
#[doc(hidden)]
pub mod folder;
mod machine;
mod prepared;
mod program;
mod record;
mod simulation;
mod size;
mod store;
mod work;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use flowsched_experiment::Experiment;
use flowsched_experiment::results::{Earlier, Program, Summary};

pub use error::RunError;
pub use flowsched_schemes::world::Outcome;
#[doc(hidden)]
pub use flowsched_schemes::world::Progress;
pub use flowsched_units::SettingError;
#[doc(hidden)]
pub use machine::machine_in_words;
#[doc(hidden)]
pub use prepared::Prepared;
#[doc(hidden)]
pub use program::program;
pub use simulation::Simulation;
#[doc(hidden)]
pub use simulation::{Simulator, no_packets};
#[doc(hidden)]
pub use size::{Size, TooLarge};
#[doc(hidden)]
pub use store::{Entry, Store, experiment_hash, finished};
#[doc(hidden)]
pub use work::Work;

/// Runs `experiment` on all cores, writes the results folder `dir`, and returns the summary of all
/// runs.
///
/// `simulate` is called once for each run, on several threads. `program` is named in the results
/// as their writer. Earlier results of the same experiment in `dir` are replaced.
///
/// # Errors
/// The error of the first run that fails; the folder then has the runs that finished, marked as
/// incomplete. [`RunError::Results`] if `dir` has other results or cannot be written.
pub fn run(
    experiment: Experiment,
    dir: &Path,
    program: Program,
    simulate: impl Fn(Simulation<'_>) -> Result<Outcome, SettingError> + Send + Sync + 'static,
) -> Result<Summary, RunError> {
    let writer = folder::create(dir, &experiment, program, Earlier::Discarded)?;
    let (experiment, progress) = (Arc::new(experiment), Arc::default());
    let simulator = Box::new(move |run: Simulation<'_>| Ok(simulate(run)?));
    let work = Arc::new(Work::new(experiment, writer, progress, simulator)?);
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let done = work.do_all(cores.get(), |_| ());
    work.finish(done)
}
