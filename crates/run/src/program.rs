//! Which program this is, for the results that it writes.

use flowsched_experiment::results::{Program, World};

/// This version of flowsched, called by `command`.
pub fn program(command: impl Into<String>) -> Program {
    Program {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: env!("FLOWSCHED_COMMIT").to_owned(),
        command: command.into(),
        world: World::Simulator,
    }
}
