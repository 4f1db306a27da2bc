//! Results: what runs leave behind in a folder, and the figures worked out from it.
//!
//! A folder holds four files. `flows.parquet` has a row for every flow of every run,
//! `ports.parquet` a row for every port at every sample time ([`FLOWS`] and [`PORTS`] say what
//! the columns mean), `summary.json` the [`Summary`] ([`SUMMARY`] says what its keys mean), and
//! `experiment.toml` the experiment with every default filled in. The two tables are the same
//! byte for byte whenever the runs are the same; the summary also holds what the runs cost,
//! which never is.
//!
//! What lives here: the record of a run, writing and reading folders, percentiles and paired
//! comparisons. What may not: anything that runs an experiment, and anything that draws.
//!
//! A [`Writer`] begins runs, several at a time if need be. A [`RunWriter`] takes a run's port samples
//! as they come, so that memory does not grow with simulated time, and leaves the finished run in a
//! folder of its own. When all have finished, their tables are put together; after an interruption
//! the finished runs are there to go on from. [`write()`] is the same for runs that are at hand, and
//! [`Folder`] reads back.
//!
//! # Definitions
//! - *FCT*, the flow completion time, is from the flow's start until its sender knows that the
//!   last byte has arrived. `fct_receiver_ps` ends when the last byte arrives.
//! - *Slowdown* is FCT over ideal FCT; the ideal FCT is that of the same flow alone on the idle
//!   network.
//! - *Percentiles* are by nearest rank: the p-th of n values is the ⌈p·n/100⌉-th smallest. `p999`
//!   is the 99.9th.
//! - *Small* flows are of up to 100 KB, *medium* ones of up to 10 MB, *large* ones of more
//!   (powers of 1000).
//! - A *change* is the relative difference of a figure under two schemes: the geometric mean over
//!   seeds of its ratio, less 1. Intervals are worked out on the log scale, so that none reaches
//!   below -100%.
//! - Figures are over the measured flows that finished. Flows that did not finish are counted,
//!   and never averaged in.

mod change;
mod columns;
mod comparison;
mod convergence;
mod distribution;
mod error;
mod files;
mod folder;
mod link;
mod load;
mod lock;
mod one_by_one;
mod order;
mod outcomes;
mod over_seeds;
mod packets;
mod point;
mod port_watch;
mod program;
mod query;
mod read;
mod record;
mod run_folder;
mod samples;
mod size_class;
mod steady_state;
mod student;
mod study;
mod summary;
mod table;
mod table_file;
#[cfg(test)]
mod tests;
mod utilisation;
mod varied;
mod warnings;

pub use change::Change;
pub use columns::{Column, FLOWS, PORTS, Value};
pub use comparison::{ClassComparison, Comparison};
pub use distribution::Distribution;
pub use error::ResultsError;
pub use folder::Folder;
pub(crate) use link::FORM as LINK_FORM;
pub use link::{LinkFigures, NamedLink};
pub use load::{LoadFigures, LoadOf, OfferedLoad};
pub use one_by_one::OneByOne;
pub(crate) use order::FORM as ORDER_FORM;
pub use order::{Figure, Order, OrderFound, OrderVerdict};
pub use over_seeds::OverSeeds;
pub use packets::PacketFigures;
pub use point::Point;
pub use port_watch::PortFigures;
pub use program::Program;
pub(crate) use query::query_us;
pub use read::FlowsOfRun;
pub use record::{
    Counters, FlowRow, PacketCounters, PortRecord, PortRow, PortsOfRun, RunKey, RunRecord, Schedule,
};
pub use run_folder::{RunStart, RunWriter};
pub use size_class::{PerClass, SizeClass};
pub use steady_state::SteadyState;
pub use study::{Earlier, Ending, Meta, Writer, write};
#[doc(hidden)]
pub use study::{check_free, runs_left};
pub use summary::{AcrossSeeds, Key, PartSummary, RunSummary, SUMMARY, Summary};
pub use table_file::{TableFile, Tables};
pub use varied::VariedKey;
