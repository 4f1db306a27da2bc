//! The agent's command line on its own, as `flowsched agent` has it: what the tests run.

use std::process::ExitCode;

use clap::Parser;
use flowsched_agent::AgentArgs;

fn main() -> ExitCode {
    flowsched_agent::run(AgentArgs::parse())
}
