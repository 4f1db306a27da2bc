//! The controller's command line on its own, as `flowsched controller` has it: what the tests run.

use std::process::ExitCode;

use clap::Parser;
use flowsched_controller::ControllerArgs;

fn main() -> ExitCode {
    flowsched_controller::run(ControllerArgs::parse())
}
