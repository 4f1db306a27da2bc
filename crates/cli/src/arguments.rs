//! The command line and the texts of `--help`.

#![allow(rustdoc::broken_intra_doc_links, reason = "help texts name tables such as [workload]")]

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use flowsched_switches::Platform;
use flowsched_thresholds::{DEFAULT_LINK, DEFAULT_MODEL, ModelName, Objective};
use flowsched_traffic::server::PORT;
use flowsched_units::{Rate, Time, UnitError};

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

const CLIENT_EXAMPLES: &str = "\
Examples:
  flowsched traffic client conf/incast_client_config.txt --load 800Mbps --requests 3000 --out host-1
  flowsched traffic client my.txt --duration 30s --scheme cubic

The file is that of the PIAS authors' traffic generator, HKUST-SING/TrafficGenerator: lines such as
`server 10.0.0.2 5001`, `req_size_dist DCTCP_CDF.txt`, `dscp 1 25`, `rate 500Mbps 30` and
`fanout 5 60`, and optionally `load 800Mbps` and `num_reqs 3000`. Requests start at random times, whatever became of
earlier ones, and completion times count from there. The folder gets flows.txt, a line for each flow,
and the tables of `flowsched run`.";

/// The port of the PIAS authors' server, on all addresses.
const ANYWHERE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, PORT);

/// `flowsched traffic`.
#[derive(Debug, Subcommand)]
pub enum Traffic {
    /// Send the flows that clients ask for
    #[command(after_help = "Example:\n  flowsched traffic server --listen 0.0.0.0:5001")]
    Server {
        /// Address and port
        #[arg(long, value_name = "ADDRESS:PORT", default_value_t = ANYWHERE)]
        listen: SocketAddrV4,
    },
    /// Ask servers for flows, and measure their completion times
    #[command(after_help = CLIENT_EXAMPLES)]
    Client(TrafficClient),
}

/// `flowsched traffic client`.
#[derive(Args, Debug)]
pub struct TrafficClient {
    /// The configuration
    #[arg(value_name = "CONFIG")]
    pub config: PathBuf,
    /// Where results go
    #[arg(long, value_name = "DIR", default_value = "results/traffic")]
    pub out: PathBuf,
    /// The seed of times, sizes and choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The load of this host's link, instead of the file's load: 800Mbps
    #[arg(long, value_name = "RATE")]
    pub load: Option<Rate>,
    /// The number of requests, instead of the file's num_reqs
    #[arg(long, value_name = "N")]
    pub requests: Option<u64>,
    /// Start requests for this long; with num_reqs, whatever ends first
    #[arg(long, value_name = "TIME")]
    pub duration: Option<Time>,
    /// Time after the last request in which flows may finish
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub wait: Time,
    /// What tables call these flows together, such as the congestion control in use
    #[arg(long, value_name = "NAME", default_value = "traffic")]
    pub scheme: String,
    /// What is printed at the end
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

const DIFF_EXAMPLES: &str = "\
Examples:
  flowsched diff results/before results/after
  flowsched diff results/a results/b --format json | jq '.schemes[].fct.small.mean'

The folders may be of older versions of flowsched. Changes are of the second folder against the
first, over runs of the same scheme, seed and point whose flows are the same in both.";

/// `flowsched diff`.
#[derive(Args, Debug)]
pub struct Diff {
    /// The folder that is compared with
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// The other folder
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// How the differences are printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// `flowsched store`.
#[derive(Debug, Subcommand)]
pub enum Store {
    /// List the results in a store of `flowsched reproduce` or of a sweep
    #[command(after_help = "Example:\n  flowsched store list results/reproduce")]
    List {
        /// The store
        dir: PathBuf,
    },
    /// Remove what other versions of flowsched wrote to a store: nothing asks for it again
    #[command(after_help = STORE_EXAMPLES)]
    Remove {
        /// The store
        dir: PathBuf,
        /// Remove also what is older than this, 30d or 12h
        #[arg(long, value_name = "AGE", value_parser = age)]
        older_than: Option<Duration>,
    },
}

const STORE_EXAMPLES: &str = "\
Examples:
  flowsched store remove results/reproduce
  flowsched store remove results/sweep --older-than 30d";

/// Reads an age in days or hours.
fn age(text: &str) -> Result<Duration, &'static str> {
    let seconds =
        |number: &str, unit: u64| number.parse().ok().and_then(|n: u64| n.checked_mul(unit));
    let age = match (text.strip_suffix('d'), text.strip_suffix('h')) {
        (Some(days), _) => seconds(days, 86_400),
        (_, Some(hours)) => seconds(hours, 3_600),
        _ => None,
    };
    age.map(Duration::from_secs).ok_or("expected days or hours, such as 30d or 12h")
}

const RUN_EXAMPLES: &str = "\
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
    /// Use the file's [quick] values: a smaller experiment, which ends within a minute
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
    /// How many runs go side by side; by default as many as there are cores
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

#[cfg(feature = "lab")]
const LAB_EXAMPLES: &str = "\
Examples:
  flowsched lab run experiments/lab-pias.toml
  flowsched lab run my.toml --set workload.load=0.6 --out results/lab
  flowsched lab run experiments/lab-memcached.toml --quick
      Queries to memcached servers beside other traffic.

Every host of the topology is a network namespace with the TCP of this machine's kernel. The ports,
links and routes of the experiment are those of the simulator, in real time. Runs go one after the
other. Each scheme is also simulated, on the same flows: the tables and the report have it as
\"NAME (simulated)\". The folder also gets lab.json: how late the lab was.";

/// `flowsched lab`.
#[cfg(feature = "lab")]
#[derive(Debug, Subcommand)]
pub enum Lab {
    /// Run an experiment with real packets
    #[command(after_help = LAB_EXAMPLES)]
    Run(LabRun),
    /// Remove what ended labs have left behind
    Down,
}

/// `flowsched lab run`.
#[cfg(feature = "lab")]
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
    /// Write the packets that leave a port to DIR/captures, for Wireshark: a host or switch and the
    /// number of its port or the other end, leaf0:3 or leaf0:host3; may be repeated
    #[arg(long, value_name = "PORT")]
    pub pcap: Vec<String>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

const SEARCH_EXAMPLES: &str = "\
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

const THRESHOLDS_EXAMPLES: &str = "\
Examples:
  flowsched thresholds --workload web-search-packets --load 0.8 --queues 8 --compare
  flowsched thresholds --workload my.cdf --load 0.6 --queues 4 --objective mean-slowdown
  flowsched thresholds --workload my.cdf --load 0.6 --queues 4 --format toml
      A line for a [[scheme]] table, or for the configuration of the host agent.
  flowsched thresholds --workload my.cdf --load 0.5..0.9:0.1 --queues 4
      One set for all five loads. It minimises the largest loss against each load's own best;
      with --regret mean, the mean loss.
  flowsched thresholds --workload web.cdf --workload storage.cdf --load 0.5,0.8
      One set for two workloads at two loads each.
  flowsched thresholds --workload my.cdf --link 10Gbps@0.8 --link 40Gbps@0.5
      Thresholds for each of two links that differ, and the best common ones.

In an experiment, thresholds = \"optimal\" does the same for its own workload.";

/// `flowsched thresholds`.
#[derive(Args, Debug)]
pub struct Thresholds {
    /// Flow sizes: a built-in name, a form such as "fixed 20KB", or a CDF file; may be repeated for
    /// one set of thresholds for several
    #[arg(long, value_name = "SIZES", required = true)]
    pub workload: Vec<String>,
    /// Load of the busiest link, over 0 and less than 1; 0.5,0.8 or 0.5..0.9:0.1 for one set of
    /// thresholds for several
    #[arg(long, value_name = "LOADS", required_unless_present = "link")]
    pub load: Option<String>,
    /// Number of priority queues; thresholds are one fewer
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub queues: usize,
    /// The model of flow completion times: pias-mm1, pias-mm1-bound, multilevel-fcfs, multilevel-ps
    #[arg(long, default_value_t = DEFAULT_MODEL)]
    pub model: ModelName,
    /// What to minimise: mean-fct, mean-slowdown, "small-fct 20KB", or a mixture such as
    /// "0.7 mean-fct + 0.3 mean-slowdown"
    #[arg(long, default_value_t = Objective::MeanFct)]
    pub objective: Objective,
    /// Rate of the link to predict times for, and its load if that differs from --load; may be
    /// repeated for thresholds of several links
    #[arg(long, value_name = "RATE[@LOAD]", default_values_t = [AskedLink::default()])]
    pub link: Vec<AskedLink>,
    /// For several loads or workloads: which loss against each one's own best thresholds to
    /// minimise; by default the worst
    #[arg(long, value_enum)]
    pub regret: Option<AskedRegret>,
    /// Compare with one queue, equal split, exponential and published thresholds, and show the loss
    /// if load or sizes differ from the forecast
    #[arg(long)]
    pub compare: bool,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = ThresholdsFormat::Table)]
    pub format: ThresholdsFormat,
}

/// A link as it is written, 10Gbps or 10Gbps@0.8.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedLink {
    /// Its capacity.
    pub rate: Rate,
    /// Its load, where it has one of its own.
    pub load: Option<String>,
}

impl Default for AskedLink {
    fn default() -> AskedLink {
        AskedLink { rate: DEFAULT_LINK, load: None }
    }
}

impl FromStr for AskedLink {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<AskedLink, UnitError> {
        let (rate, load) = match text.split_once('@') {
            Some((rate, load)) => (rate, Some(load.to_owned())),
            None => (text, None),
        };
        Ok(AskedLink { rate: rate.parse()?, load })
    }
}

impl fmt::Display for AskedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.load {
            Some(load) => write!(f, "{}@{load}", self.rate),
            None => write!(f, "{}", self.rate),
        }
    }
}

/// Which loss is to be small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AskedRegret {
    /// The largest
    Worst,
    /// The mean
    Mean,
}

const SWITCH_EXAMPLES: &str = "\
Examples:
  flowsched switch-config /etc/flowsched/agent.toml --platform sonic --ports Ethernet0,Ethernet4
  flowsched switch-config my.toml --platform linux-tc --ports swp1 --rate 1Gbps
  flowsched switch-config check /etc/flowsched/agent.toml --platform eos --running switch.txt
      Whether the switch has the agent's levels, and marks where it should.

FILE is the configuration of an agent, or an experiment with preset = \"pias\".";

/// `flowsched switch-config`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct SwitchConfig {
    /// Another action than to print.
    #[command(subcommand)]
    pub action: Option<SwitchAction>,
    /// What to print.
    #[command(flatten)]
    pub print: Option<SwitchPrint>,
}

/// What else `switch-config` does.
#[derive(Debug, Subcommand)]
pub enum SwitchAction {
    /// Compare a switch's configuration with what agents need
    Check(SwitchCheck),
}

/// A configuration to print.
#[derive(Args, Debug)]
pub struct SwitchPrint {
    /// The file of an agent or an experiment
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The switch: linux-tc, sonic, eos, nxos, junos, nvue
    #[arg(long)]
    pub platform: Platform,
    /// Its ports, separated by commas
    #[arg(long, value_delimiter = ',', required = true)]
    pub ports: Vec<String>,
    /// Their rate; by default [nic] rate of the agent, or that of a host in the experiment
    #[arg(long)]
    pub rate: Option<Rate>,
}

/// A configuration to check.
#[derive(Args, Debug)]
pub struct SwitchCheck {
    /// The file of an agent or an experiment
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The switch: linux-tc, sonic, eos, nxos, junos, nvue
    #[arg(long)]
    pub platform: Platform,
    /// The switch's running configuration
    #[arg(long, value_name = "FILE")]
    pub running: PathBuf,
    /// The rate of its ports
    #[arg(long)]
    pub rate: Option<Rate>,
}

const ADVISE_EXAMPLES: &str = "\
Examples:
  flowsched agent histogram > sizes.cdf
  flowsched advise --sizes sizes.cdf --load 0.4 --topology experiments/pias-vs-dctcp.toml
      What PIAS would gain over DCTCP on this fleet's sizes and that file's network.

The risks are counted in the same simulation. The last column has thresholds for flows half as
large: what PIAS is worth when traffic has changed and thresholds have not.";

/// `flowsched advise`.
#[derive(Args, Debug)]
pub struct Advise {
    /// Flow sizes: what `flowsched agent histogram` prints, or a built-in name
    #[arg(long, value_name = "SIZES")]
    pub sizes: String,
    /// Load of the busiest link
    #[arg(long, value_parser = load)]
    pub load: f64,
    /// A file with a [topology] table, such as an experiment
    #[arg(long, value_name = "FILE.toml")]
    pub topology: PathBuf,
    /// What runs today: tcp, dctcp or another preset
    #[arg(long, default_value = "dctcp")]
    pub now: String,
    /// Priority queues of the switches
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub queues: usize,
    /// Flows to simulate
    #[arg(long, value_name = "N", default_value_t = 4000)]
    pub flows: u64,
    /// Seeds to simulate
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub seeds: u64,
}

/// Reads a load, over 0 and less than 1.
fn load(text: &str) -> Result<f64, &'static str> {
    let load = text.parse().ok().filter(|load| *load > 0.0 && *load < 1.0);
    load.ok_or("expected a number over 0 and less than 1, such as 0.4")
}

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  flowsched reproduce pdq.convergence
  flowsched reproduce pias --format json > pias.json
  flowsched reproduce --scale paper --threads 2
  flowsched reproduce slytherin.tail --explore

Run it in the root of flowsched's repository, which has the claims (papers/claims.toml) and the
experiments. Each simulation runs once, however many claims need it, and its results stay in the
output folder: after an interruption the same command runs the rest.";

/// `flowsched reproduce`.
#[derive(Args, Debug)]
pub struct Reproduce {
    /// Claims, papers (pias, pdq, slytherin, epn) or experiments (pias-fig18); by default all
    #[arg(value_name = "CLAIM")]
    pub claims: Vec<String>,
    /// How large the simulations are: as in the paper, or smaller ones that end within minutes
    #[arg(long, value_enum, default_value_t = Scale::Quick)]
    pub scale: Scale,
    /// Number of seeds; by default each experiment's own, and at least five at quick scale
    #[arg(long, value_name = "N")]
    pub seeds: Option<u64>,
    /// How many runs go side by side; by default as many as there are cores
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Measure under every reading of what the papers leave open, and print what each changes
    #[arg(long)]
    pub explore: bool,
    /// Measure with real packets what the lab can measure
    #[cfg(feature = "lab")]
    #[arg(long, conflicts_with = "explore")]
    pub lab: bool,
    /// Where the results of the simulations go
    #[arg(long, value_name = "DIR", default_value = "results/reproduce")]
    pub out: PathBuf,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// How large simulations are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scale {
    /// The [quick] values of each experiment
    Quick,
    /// As the paper ran it
    Paper,
}

impl From<Scale> for flowsched_papers::Scale {
    fn from(scale: Scale) -> flowsched_papers::Scale {
        match scale {
            Scale::Quick => flowsched_papers::Scale::Quick,
            Scale::Paper => flowsched_papers::Scale::Paper,
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        flowsched_papers::Scale::from(*self).fmt(f)
    }
}

const FLOWS_EXAMPLES: &str = "\
Examples:
  flowsched flows capture.pcap -o flows.csv --hosts hosts.csv
      Then, in an experiment: trace = \"flows.csv\".
  flowsched flows capture.pcapng --idle 500us > messages.csv

Reads pcap and pcapng, plain or compressed with gzip or zstd, with Ethernet, raw IP or Linux cooked
headers. Each direction of a TCP or UDP connection is a flow that starts with its first byte of
payload. Bytes that TCP retransmits count once. Hosts are numbered in the order of their addresses.";

/// `flowsched flows`.
#[derive(Args, Debug)]
pub struct Flows {
    /// The capture: pcap or pcapng, plain or compressed with gzip or zstd
    #[arg(value_name = "CAPTURE")]
    pub capture: PathBuf,
    /// Where the trace goes; by default it is printed
    #[arg(short, long, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Where the addresses of the numbered hosts go
    #[arg(long, value_name = "FILE.csv")]
    pub hosts: Option<PathBuf>,
    /// Replace the files of -o and --hosts if they exist
    #[arg(long)]
    pub force: bool,
    /// Silence after which the next bytes of a connection are a new flow
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub idle: Time,
}

/// How thresholds are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ThresholdsFormat {
    /// A table to read
    Table,
    /// A line for an experiment or the host agent
    Toml,
    /// One JSON object
    Json,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table to read
    Table,
    /// One JSON object, as in summary.json
    Json,
}

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
