//! `flowsched lab`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::format::Format;
use super::run::ExperimentFile;

const LAB_EXAMPLES: &str = "\
Examples:
  flowsched lab run experiments/lab-pias.toml
  flowsched lab run my.toml --set workload.load=0.6 --out results/lab
  flowsched lab run experiments/lab-memcached.toml --quick
      Queries to memcached servers beside other traffic. The quick forms of the repository's lab
      experiments take less than three minutes each, with the simulation.

Every host of the topology is a network namespace. It has the TCP of this machine's kernel, or the
simulator's senders over UDP if the kernel lacks the scheme. The ports, links and routes of the
experiment are those of the simulator, in real time. Runs go one after the other. Each scheme is
also simulated, on the same flows: the tables and the report have it as \"NAME (simulated)\". The
folder also gets lab.json: how late the lab was.";

/// `flowsched lab`.
#[derive(Debug, Subcommand)]
pub enum Lab {
    /// Run an experiment with real packets
    #[command(after_help = LAB_EXAMPLES)]
    Run(LabRun),
    /// Remove what ended labs have left behind
    Down,
}

/// `flowsched lab run`.
#[derive(Args, Debug)]
pub struct LabRun {
    /// The experiment.
    #[command(flatten)]
    pub experiment: ExperimentFile,
    /// Where results go; by default results/ and the file's name
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Keep the finished runs of the same interrupted experiment, and run the others
    #[arg(long)]
    pub resume: bool,
    /// Repeat a run in which the lab was late, up to this many tries in total; the last try counts
    #[arg(long, value_name = "N", default_value_t = NonZeroU32::MIN)]
    pub tries: NonZeroU32,
    /// Write the packets that leave a port to DIR/captures, for Wireshark: a host or switch and the
    /// number of its port or the other end, leaf0:3 or leaf0:host3; may be repeated
    #[arg(long, value_name = "PORT")]
    pub pcap: Vec<String>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}
