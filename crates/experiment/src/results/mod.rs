//! Results: the files that runs write to a folder, and the figures computed from them.
//!
//! A folder holds four files. `flows.parquet` has one row per flow of every run, `ports.parquet` one
//! row per port and sample time. `summary.json` has the [`Summary`], and `experiment.toml` the
//! experiment with every default filled in. A run with a probe adds `probe_flows.parquet` and
//! `probe_ports.parquet`. The page "Results" of the reference explains columns and keys. Equal runs
//! give equal tables, byte for byte. The summary also has the cost of the runs, which always differs.
//!
//! What lives here: the record of a run, writing and reading folders, percentiles and paired
//! comparisons. What may not: running experiments, and drawing charts.
//!
//! [`Folder`] reads a folder. `flowsched_run` writes one.
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
//!   seeds of its ratio, less 1. Intervals are computed on the log scale, so none extends below
//!   -100%.
//! - Figures are over the measured flows that finished. Flows that did not finish are counted, but
//!   are not part of any mean.

mod against;
mod change;
mod columns;
mod comparison;
mod convergence;
mod diff;
mod distribution;
mod error;
mod files;
mod folder;
mod in_memory;
mod in_order;
mod lab_run;
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
mod probe_writer;
mod probed;
mod program;
mod query;
mod queue_watch;
mod read;
mod record;
mod run_folder;
mod run_start;
mod runs_of_point;
mod samples;
mod size_bins;
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

pub use against::{Placed, compare};
pub use change::Change;
pub use comparison::{ClassComparison, Comparison};
pub use diff::{ChangedKey, Diff, SchemeDiff};
pub use distribution::Distribution;
pub use error::ResultsError;
pub use folder::Folder;
pub use lab_run::{LabRun, SIMULATED};
pub(crate) use link::FORM as LINK_FORM;
pub use link::{LinkFigures, NamedLink};
pub use load::{LoadFigures, LoadOf};
pub use one_by_one::OneByOne;
pub(crate) use order::FORM as ORDER_FORM;
pub use order::{Figure, Order, OrderFound, OrderVerdict};
pub use packets::PacketFigures;
pub use point::Point;
pub use port_watch::PortFigures;
pub use probed::{ProbedFlow, ProbedFlows, ProbedPort, ProbedPorts};
pub use program::{Program, World};
pub(crate) use query::query_us;
pub use queue_watch::QueueWatch;
pub use read::FlowsOfRun;
pub use record::{
    FlowRow, OverheadRecord, PacketCounters, PortRecord, PortRow, PortsOfRun, RunKey, Schedule,
};
pub use size_bins::{SizeBin, SlowdownOfBin, slowdown_by_size};
pub use size_class::{PerClass, SizeClass};
pub use steady_state::SteadyState;
pub use summary::{AcrossSeeds, PartSummary, RunSummary, Summary};
pub use table_file::{TableFile, Tables};

// Only the project's own crates need these: they write folders, and describe them in the reference.
#[doc(hidden)]
pub use columns::{Column, FLOWS, PORTS, Value};
#[doc(hidden)]
pub use in_memory::{RunInMemory, compare_in_memory};
#[doc(hidden)]
pub use load::OfferedLoad;
#[doc(hidden)]
pub use over_seeds::OverSeeds;
#[doc(hidden)]
pub use probed::{PROBE_FLOWS, PROBE_PORTS};
#[doc(hidden)]
pub use record::{Counters, RunRecord};
#[doc(hidden)]
pub use run_folder::RunWriter;
#[doc(hidden)]
pub use run_start::RunStart;
#[doc(hidden)]
pub use study::{Earlier, Ending, Meta, Writer, check_free, check_world, runs_left, write};
#[doc(hidden)]
pub use summary::{Key, SUMMARY};
#[doc(hidden)]
pub use varied::VariedKey;
