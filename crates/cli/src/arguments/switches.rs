//! Commands for operators of switches: `switch-config` and `advise`.

use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};
use flowsched_fleet::{MOST_LEVELS, nic};
use flowsched_switches::Platform;
use flowsched_units::Rate;

pub(super) const SWITCH_EXAMPLES: &str = "\
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
    #[arg(long, value_parser = line_rate)]
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
    #[arg(long, value_parser = line_rate)]
    pub rate: Option<Rate>,
}

pub(super) const ADVISE_EXAMPLES: &str = "\
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
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = value_parser!(u64).range(2..=MOST_LEVELS as u64))]
    pub queues: u64,
    /// Flows to simulate
    #[arg(long, value_name = "N", default_value_t = 4000, value_parser = value_parser!(u64).range(1..=100_000_000))]
    pub flows: u64,
    /// Seeds to simulate
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u64).range(1..=1_000_000))]
    pub seeds: u64,
}

/// Reads the rate of a port.
fn line_rate(text: &str) -> Result<Rate, String> {
    nic::parse_rate(text).ok_or_else(|| format!("expected {}", nic::RATES))
}

/// Reads a load, over 0 and less than 1.
fn load(text: &str) -> Result<f64, &'static str> {
    let load = text.parse().ok().filter(|load| *load > 0.0 && *load < 1.0);
    load.ok_or("expected a number over 0 and less than 1, such as 0.4")
}
