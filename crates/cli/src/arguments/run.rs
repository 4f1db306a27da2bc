//! Experiment files, and the commands that simulate them: `run` and `search`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::format::Format;

pub(super) const RUN_EXAMPLES: &str = "\
Examples:
  flowsched run experiments/pias-vs-dctcp.toml --set seeds=5 --out results/five-seeds
  flowsched run experiments/pias-fig14a.toml --quick
      A figure of a paper in a minute, at a smaller scale than in the paper.
  flowsched run my.toml --vary workload.load=0.5..0.9:0.1
  flowsched run my.toml --vary scheme.pias.queues=2,8 --vary topology.routing=spray,ecmp
      Every combination of the values, side by side on the cores.
  flowsched run my.toml --pcap leaf0:3 && tshark -r results/my/captures/pias-1/leaf0-3.pcapng
  flowsched run my.toml --format json | jq '.runs[] | {scheme, seed, fct: .fct_us.small.p99}'

Keys are dotted: workload.load, topology.leaves, seeds, and scheme.NAME.KEY or scheme.NUMBER.KEY.
The folder gets experiment.toml (every default filled in), flows.parquet, ports.parquet,
summary.json and report.html. Ctrl-C stops the runs and keeps the results that can be written
within a second, marked as incomplete; --resume then runs the rest. Finished runs survive a crash
or a kill of the program.";

/// An experiment file, and options that change it.
#[derive(Args, Clone, Debug)]
pub struct ExperimentFile {
    /// The experiment
    #[arg(value_name = "FILE.toml")]
    pub file: PathBuf,
    /// Give a key another value, workload.load=0.6; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Give a key several values, workload.load=0.5..0.9:0.1 or topology.routing=spray,ecmp; may be
    /// repeated for every combination
    #[arg(long, value_name = "KEY=VALUES")]
    pub vary: Vec<String>,
    /// Use the file's [quick] values: a smaller experiment, which ends within a minute, or in the lab
    /// within three
    #[arg(long)]
    pub quick: bool,
    /// The first seed; the key `seeds` of the file is the number of seeds
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// `flowsched run`.
#[derive(Args, Debug)]
pub struct Run {
    /// The experiment.
    #[command(flatten)]
    pub experiment: ExperimentFile,
    /// Where results go; by default results/ and the file's name
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Keep the finished runs of the same interrupted experiment, and run the others
    #[arg(long)]
    pub resume: bool,
    /// How many threads simulate; by default as many as there are cores. Runs go side by side, and
    /// where runs are fewer than threads, each has several
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Write the packets that leave a port to DIR/captures, for Wireshark: a host or switch and the
    /// number of its port or the other end, leaf0:3 or leaf0:host3; may be repeated
    #[arg(long, value_name = "PORT")]
    pub pcap: Vec<String>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

pub(super) const SEARCH_EXAMPLES: &str = "\
Examples:
  flowsched search experiments/pdq-fig3a.toml --key workload.flows --to 60
      For every scheme: how many flows can start at once so that 99% meet their deadlines.
  flowsched search my.toml --key workload.flows --from 5 --to 40 --application-throughput 0.95

The search halves the range: it assumes that results never improve as the key grows. It searches
each point of the other varied keys by itself, and replaces the file's values of the searched key.";

/// `flowsched search`.
#[derive(Args, Debug)]
pub struct Search {
    /// The experiment.
    #[command(flatten)]
    pub experiment: ExperimentFile,
    /// The key, which takes whole numbers
    #[arg(long, value_name = "KEY")]
    pub key: String,
    /// The smallest value of the key
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub from: u64,
    /// The largest value of the key
    #[arg(long, value_name = "N")]
    pub to: u64,
    /// The share of deadlines to meet, over all seeds
    #[arg(long, value_name = "SHARE", default_value_t = 0.99, value_parser = share)]
    pub application_throughput: f64,
    /// How many runs go side by side; by default as many as there are cores
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// Reads a share, over 0 and up to 1.
fn share(text: &str) -> Result<f64, &'static str> {
    let share = text.parse().ok().filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or("expected a number over 0 and up to 1, such as 0.99")
}
