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
    /// The folder of pinned programs and maps, in a BPF file system. `start` records it in the run
    /// directory, where all other commands find it [default: /sys/fs/bpf/flowsched].
    #[arg(long, global = true)]
    pins: Option<PathBuf>,
    /// The folder in which all commands find the agent. It holds the lock, the control socket, the
    /// place of the pins, and the settings to restore.
    #[arg(long, global = true, default_value = "/run/flowsched")]
    run_dir: PathBuf,
    /// The least severe messages to print on standard error.
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
    /// Stop the agent; the tagger stays and tags packets as before.
    Stop,
    /// Remove the tagger and everything that the agent made for it.
    Uninstall,
    /// Say what is installed and what it has done.
    Status,
    /// Watch levels, messages and rates live.
    Top(TopArgs),
    /// Print all counters in Prometheus's text format.
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
    /// Check the configuration and print what it would select and do. Attach nothing.
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
    /// Stop after this many readings.
    #[arg(long)]
    pub(crate) count: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct ThresholdsArgs {
    /// The load of the links, from 0 to 1.
    #[arg(long)]
    pub(crate) load: f64,
    /// Number of levels; by default those of the running tagger.
    #[arg(long)]
    pub(crate) levels: Option<usize>,
    /// The least number of messages to derive thresholds from.
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
    /// The action that the command line names, or `Start` if it names none.
    pub(crate) fn action(&self) -> NicAction {
        self.action.clone().unwrap_or_else(|| NicAction::Start(self.start.clone()))
    }
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum NicAction {
    /// Schedule the interfaces as [nic] in the configuration says. `nic` alone does the same.
    Start(NicStartArgs),
    /// Restore the previous scheduling.
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
    /// The line rate, in place of the file's.
    #[arg(long)]
    pub(crate) rate: Option<Rate>,
    /// Print the tc commands instead of running them.
    #[arg(long)]
    pub(crate) dry_run: bool,
}
