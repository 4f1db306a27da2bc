//! Describes this program for the results that it writes.

use flowsched_experiment::results::Program;

/// This program, with the command line that it was called with.
pub fn program() -> Program {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let command = std::iter::once("flowsched".to_owned()).chain(words).collect::<Vec<_>>();
    flowsched_run::program(command.join(" "))
}
