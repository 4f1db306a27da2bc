//! The command line and the texts of `--help`. Here are the commands; their options are in a module each.

#![allow(rustdoc::broken_intra_doc_links, reason = "help texts name tables such as [workload]")]

mod flows;
mod format;
#[cfg(feature = "lab")]
mod lab;
mod papers;
mod results;
mod run;
mod switches;
mod thresholds;
mod traffic;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub use flows::Flows;
pub use format::Format;
#[cfg(feature = "lab")]
pub use lab::{Lab, LabRun};
pub use papers::{Reproduce, Scale};
pub use results::{Diff, Store};
pub use run::{ExperimentFile, Run, Search};
pub use switches::{Advise, SwitchAction, SwitchCheck, SwitchConfig, SwitchPrint};
pub use thresholds::{AskedRegret, Thresholds, ThresholdsFormat};
pub use traffic::{Traffic, TrafficClient};

use flows::FLOWS_EXAMPLES;
use papers::REPRODUCE_EXAMPLES;
use results::DIFF_EXAMPLES;
use run::{RUN_EXAMPLES, SEARCH_EXAMPLES};
use switches::{ADVISE_EXAMPLES, SWITCH_EXAMPLES};
use thresholds::THRESHOLDS_EXAMPLES;

/// Which flow-scheduling scheme finishes my flows soonest, and how do I run it?
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  flowsched run experiments/pias-vs-dctcp.toml
      Simulate three schemes on the same flows; a table here, a report and tables in results/.
  flowsched run my.toml --set workload.load=0.6 --vary scheme.pias.queues=2,4,8
      Change a key of the file, and let another take several values.
  flowsched list schemes
      Every preset, part and key, with defaults and their sources.
  flowsched thresholds --workload web-search-packets --load 0.8 --compare
      The best demotion thresholds for a workload, beside the published ones.

Exit status: 0 success, 2 a mistake in the input, 1 any other failure.";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an experiment: every scheme on the same flows
    #[command(after_help = RUN_EXAMPLES)]
    Run(Run),
    /// Print the table of a results folder again and write its report.html
    #[command(after_help = REPORT_EXAMPLES)]
    Report {
        /// The folder that `flowsched run` wrote; or several that `flowsched traffic client` wrote
        #[arg(required = true, value_name = "DIR")]
        dirs: Vec<PathBuf>,
        /// Put the flows of several clients together in this folder
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Say how two results folders differ: settings, tables, and the same flows before and after
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(Diff),
    /// List what a store of results has, or remove what is old in it
    #[command(subcommand)]
    Store(Store),
    /// List what an experiment file can name, with parameters, units, defaults and sources
    List {
        /// What to list
        what: Listing,
    },
    /// Check an experiment file without running it
    #[command(after_help = "Example:\n  flowsched check my.toml --set workload.load=0.9")]
    Check(ExperimentFile),
    /// Find the largest value of a key at which enough flows meet their deadlines
    #[command(after_help = SEARCH_EXAMPLES)]
    Search(Search),
    /// Work out the best demotion thresholds for a workload
    #[command(after_help = THRESHOLDS_EXAMPLES)]
    Thresholds(Thresholds),
    /// Measure the numbers that the papers publish, with a verdict on each
    #[command(after_help = REPRODUCE_EXAMPLES)]
    Reproduce(Reproduce),
    /// Print what a claim of a paper says, and how it is measured
    #[command(after_help = "Example:\n  flowsched explain pdq.convergence")]
    Explain {
        /// The claim, or a paper for all of its claims
        claim: String,
    },
    /// Summarise a packet capture to a trace of flows
    #[command(after_help = FLOWS_EXAMPLES)]
    Flows(Flows),
    /// Print what switches need for PIAS, or check that a switch does it
    #[command(after_help = SWITCH_EXAMPLES)]
    SwitchConfig(SwitchConfig),
    /// Say what PIAS would gain on a fleet, and what it risks
    #[command(after_help = ADVISE_EXAMPLES)]
    Advise(Advise),
    /// Make flows between real hosts, and measure their completion times
    #[command(subcommand)]
    Traffic(Traffic),
    /// Run an experiment with real packets, between network namespaces of this machine
    #[cfg(feature = "lab")]
    #[command(subcommand)]
    Lab(Lab),
    /// Tag this host's packets with PIAS priorities, in eBPF
    #[cfg(feature = "agent")]
    Agent(flowsched_agent::AgentArgs),
    /// Choose the thresholds of a fleet of hosts, and distribute them
    #[cfg(feature = "controller")]
    Controller(flowsched_controller::ControllerArgs),
    /// Print shell completions
    #[command(after_help = "Example:\n  flowsched completions bash \
                            > ~/.local/share/bash-completion/completions/flowsched")]
    Completions {
        /// For which shell
        shell: Shell,
    },
    /// Print a manual page
    #[command(after_help = "Example:\n  flowsched man run | man -l -")]
    Man {
        /// The command that the page is about; without one, flowsched itself
        command: Option<String>,
    },
    /// Print a page of the reference
    #[command(hide = true)]
    Reference {
        /// Which page
        page: Page,
    },
    /// Write the book's pages on the papers, from the recorded tables
    #[command(hide = true)]
    Pages {
        /// The folder
        folder: PathBuf,
    },
}

const REPORT_EXAMPLES: &str = "\
Examples:
  flowsched report results/pias-vs-dctcp
  flowsched report host-1 host-2 host-3 --out all
      The flows of three clients together: those of one scheme and seed are one run.";

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Listing {
    /// Presets, and the parts that they are made of
    Schemes,
    /// Flow sizes, patterns and the keys of [workload]
    Workloads,
    /// Networks and their keys
    Topologies,
}

/// A page of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Page {
    /// The keys before the first table
    Experiment,
    /// Presets and parts
    Schemes,
    /// Flow sizes, patterns and the keys of [workload]
    Workloads,
    /// Networks and their keys
    Topologies,
    /// Columns of the tables, keys of the summary
    Results,
}
