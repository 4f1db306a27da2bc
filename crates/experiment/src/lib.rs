//! The experiment file, and the tables and statistics of its results.
//!
//! [`Experiment::read`] turns a file and the changes of the command line into scenes, one for every
//! point of the varied keys. A scene has a network, a workload and schemes that are complete,
//! checked and fit each other. [`Experiment::runs`] lists the runs. [`Experiment::resolved`] is the
//! file with every default filled in. [`results`] has the results of runs.
//!
//! What lives here: reading, checking and varying experiments, and computing figures from results.
//! What may not: running anything.
//!
//! Every invalid input is a [`Mistake`] with its place; all mistakes of an experiment are reported
//! together.
//!
//! ```
//! use flowsched_experiment::{Arguments, Experiment, Source};
//!
//! let file = "
//!     seeds = 2
//!     topology = { kind = \"star\", hosts = 4 }
//!     workload = { sizes = \"web-search-bytes\", flows = 100, load = 0.6 }
//!     scheme = [{ preset = \"dctcp\" }, { preset = \"pias\", queues = 4 }]
//! ";
//! let arguments = Arguments { set: vec!["workload.load=0.8".to_owned()], ..Arguments::default() };
//! let no_inputs = |_: &str| Err(std::io::ErrorKind::NotFound.into());
//! let experiment = Experiment::parse(&Source::new("pias.toml", file), &arguments, &no_inputs)?;
//!
//! assert_eq!(experiment.runs().len(), 4, "two schemes with two seeds");
//! assert!(experiment.resolved().contains("load = 0.8"));
//! # Ok::<(), flowsched_experiment::Mistakes>(())
//! ```
//!
//! [`Experiment::read`] reads a file, and the inputs beside it.

mod application;
mod arguments;
mod contradictions;
mod document;
mod drawn;
mod engine;
mod estimate;
mod experiment;
mod inputs;
mod keys;
mod mistake;
mod parameters;
mod parts;
mod probe;
mod read;
mod relevance;
mod resolve;
pub mod results;
mod scheme;
mod thresholds;
mod vary;
mod workload;

pub use arguments::Arguments;
#[doc(hidden)]
pub use drawn::sizes;
pub use engine::Engine;
#[doc(hidden)]
pub use estimate::{Estimate, Largest};
pub use experiment::{Experiment, Run, Scene, Topology};
pub use inputs::Input;
pub use mistake::{Mistake, Mistakes, Place, Source};
#[doc(hidden)]
pub use parameters::{KIND, PARAMETERS};
pub use parts::WorkloadParts;
pub use probe::{PROBE, ProbeOfScene};
pub use scheme::{Level, SchemeOfScene};
#[doc(hidden)]
pub use vary::values;
pub use workload::{Traffic, WorkloadOfScene};
