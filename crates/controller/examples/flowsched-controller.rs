//! The command `flowsched controller` as a program of its own, which the tests run.

use std::process::ExitCode;

use clap::Parser;
use flowsched_controller::ControllerArgs;

fn main() -> ExitCode {
    flowsched_controller::run(ControllerArgs::parse())
}
