//! The command line: `flowsched controller ...`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::certificates::CertificatesArgs;

/// Choose the thresholds of a fleet of hosts, and distribute them.
#[derive(Debug, Parser)]
#[command(name = "flowsched controller")]
pub struct ControllerArgs {
    #[command(subcommand)]
    pub(crate) command: ControllerCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ControllerCommand {
    /// Collect, decide and distribute, in the foreground
    Run(ConfigArgs),
    /// Print what is announced to each group, and why
    Status(ConfigArgs),
    /// Decide on what was collected, and print the decision
    Decide(DecideArgs),
    /// Make certificates to start with
    Certificates(CertificatesArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ConfigArgs {
    /// The configuration file
    #[arg(long, default_value = "/etc/flowsched/controller.toml")]
    pub(crate) config: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct DecideArgs {
    /// The configuration.
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// Change nothing. Decisions are put in force by `run` alone
    #[arg(long, required = true)]
    pub(crate) dry_run: bool,
}
