//! The command line: `flowsched agent ...`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use flowsched_units::Rate;

use crate::error::AgentError;
use crate::log::Level;
use crate::pins::Places;

/// Tag this host's packets with the priority of their flows.
#[derive(Debug, Parser)]
#[command(name = "flowsched agent")]
pub struct AgentArgs {
    /// A folder in a BPF file system for what outlives the agent. `start` records it in the run
    /// directory, where all other commands find it [default: /sys/fs/bpf/flowsched].
    #[arg(long, global = true)]
    pins: Option<PathBuf>,
    /// The folder by which all commands find the agent: its lock, its control socket, where its pins
    /// are and what to put back later.
    #[arg(long, global = true, default_value = "/run/flowsched")]
    run_dir: PathBuf,
    /// How much to say on standard error.
    #[arg(long, global = true, value_enum, default_value = "info")]
    pub(crate) log_level: Level,
    #[command(subcommand)]
    pub(crate) command: AgentCommand,
}

impl AgentArgs {
    pub(crate) fn places(&self) -> Result<Places, AgentError> {
        match self.command {
            AgentCommand::Start(_) => Places::find_for_start(&self.run_dir, self.pins.as_deref()),
            _ => Places::find(&self.run_dir, self.pins.as_deref()),
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Put the tagger on the interfaces and keep it there, in the foreground.
    #[command(alias = "run")]
    Start(StartArgs),
    /// End the agent; packets are tagged as before.
    Stop,
    /// Take the tagger and everything that was made for it away.
    Uninstall,
    /// Say what is installed and what it has done.
    Status,
    /// Watch levels, messages and rates live.
    Top(TopArgs),
    /// Print all counters as Prometheus reads them.
    Metrics,
    /// Print the sizes of this host's messages as a distribution file.
    Histogram,
    /// Derive demotion thresholds from this host's own traffic.
    Thresholds(ThresholdsArgs),
    /// Schedule an interface: line-rate shaping, strict priorities, ECN marking.
    Nic(NicArgs),
    /// Say what this kernel can do and what the agent will use.
    Doctor,
    /// Say whether a configuration works on this machine, and change nothing.
    Check {
        /// The configuration file.
        #[arg(default_value = "/etc/flowsched/agent.toml")]
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// The configuration file.
    #[arg(long, default_value = "/etc/flowsched/agent.toml")]
    pub(crate) config: PathBuf,
    /// Check the configuration, say what would be selected and done, attach nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Use clsact even where the kernel has tcx.
    #[arg(long)]
    pub(crate) clsact: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// Seconds between two readings.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) interval: u64,
    /// End after so many readings.
    #[arg(long)]
    pub(crate) count: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct ThresholdsArgs {
    /// The load of the links, from 0 to 1.
    #[arg(long)]
    pub(crate) load: f64,
    /// How many levels; as many as are in use without it.
    #[arg(long)]
    pub(crate) levels: Option<usize>,
    /// Fewer messages than this are refused as too few to tell.
    #[arg(long, default_value_t = 1000)]
    pub(crate) least: u64,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct NicArgs {
    #[command(subcommand)]
    action: Option<NicAction>,
    #[command(flatten)]
    start: NicStartArgs,
}

impl NicArgs {
    /// What is to be done: to start, where nothing is said.
    pub(crate) fn action(&self) -> NicAction {
        self.action.clone().unwrap_or_else(|| NicAction::Start(self.start.clone()))
    }
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum NicAction {
    /// Program interfaces as the configuration's [nic] says; the same as without `start`.
    Start(NicStartArgs),
    /// Put back what was there before.
    Stop {
        /// Print the tc commands instead of running them.
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Clone, Debug, Args)]
pub(crate) struct NicStartArgs {
    /// The configuration file.
    #[arg(long, default_value = "/etc/flowsched/agent.toml")]
    pub(crate) config: PathBuf,
    /// Another rate than the file's.
    #[arg(long)]
    pub(crate) rate: Option<Rate>,
    /// Print the tc commands instead of running them.
    #[arg(long)]
    pub(crate) dry_run: bool,
}
