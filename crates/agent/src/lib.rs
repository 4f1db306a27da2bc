//! PIAS on Linux hosts: tags outgoing packets with the priority of their flows, in eBPF.
//!
//! What lives here: the BPF program (`bpf/`), its loader, what keeps it in place and shows what it
//! does, and the scheduling of the host's interface. Levels are decided as in
//! `flowsched_schemes::tagger::mlfq`, but in C, and tested against it packet by packet. What may
//! not: simulation, experiments, and anything that packets would depend on while no agent runs.

mod announced;
mod args;
mod attach;
mod batch;
mod bpf;
mod capabilities;
mod check;
mod clock;
pub mod config;
mod control;
mod daemon;
mod doctor;
mod entry;
pub mod error;
mod finding;
mod fleet;
mod folder;
mod gso;
mod histogram;
mod inherit;
mod install;
mod interfaces;
mod lifecycle;
mod lock;
mod log;
mod lone;
mod map;
mod memory;
mod metrics;
mod nic;
mod passed;
mod pins;
mod preview;
mod requests;
mod segments;
mod select;
mod start;
mod stats;
mod sys;
mod tagger;
mod thresholds;
mod top;

#[cfg(test)]
mod bench;
#[cfg(test)]
mod comparison;
#[cfg(test)]
#[path = "../tests/support/lab.rs"]
mod lab;

use std::process::ExitCode;

pub use args::AgentArgs;
pub use config::Config;
pub use error::AgentError;
pub use histogram::Histogram;
pub use pins::Places;

use args::{AgentCommand, NicAction};

/// Runs a command, and prints its error on standard error.
pub fn run(args: AgentArgs) -> ExitCode {
    // Errors contain libbpf's messages. Left alone, libbpf would also print errors that are
    // expected.
    libbpf_rs::set_print(None);
    log::limit(args.log_level);
    match carry_out(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log::error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

fn carry_out(args: &AgentArgs) -> Result<(), AgentError> {
    let places = args.places()?;
    match &args.command {
        AgentCommand::Start(start) => start::start(&places, start),
        AgentCommand::Stop => lifecycle::stop(&places),
        AgentCommand::Uninstall => lifecycle::uninstall(&places),
        AgentCommand::Status => lifecycle::status(&places),
        AgentCommand::Top(top) => top::run(&places, top),
        AgentCommand::Metrics => metrics::text(&places).map(|text| print!("{text}")),
        AgentCommand::Histogram => thresholds::histogram(&places),
        AgentCommand::Thresholds(wanted) => thresholds::run(&places, wanted),
        AgentCommand::Nic(nic) => match nic.action() {
            NicAction::Start(start) => {
                let mut config = Config::read(&start.config)?;
                if let (Some(rate), Some(nic)) = (start.rate, config.nic.as_mut()) {
                    nic.rate = rate;
                }
                nic::start(&places, &config, start.dry_run)
            }
            NicAction::Stop { dry_run } => nic::stop(&places, dry_run),
        },
        AgentCommand::Doctor => doctor::run(&places),
        AgentCommand::Check { file } => check::run(&places, file),
    }
}
