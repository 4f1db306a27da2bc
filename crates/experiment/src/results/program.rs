//! The program that wrote results.

use serde::{Deserialize, Serialize};

/// A build of flowsched, and how it was called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The version, `0.1.0`.
    pub version: String,
    /// The commit that it was built from, with `-dirty` if files were changed; empty if the commit is not
    /// known.
    pub commit: String,
    /// The command with its arguments.
    pub command: String,
    /// The world that moved the packets.
    #[serde(default)]
    pub world: World,
}

/// What moves the packets of a run. Results of one world say nothing about another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum World {
    /// The simulator, as in `flowsched run`.
    #[default]
    Simulator,
    /// Hosts and a switch on one machine, as in `flowsched lab run`.
    Lab,
    /// Real machines, as in `flowsched traffic client`.
    Machines,
}

impl World {
    /// The command that writes results of this world.
    pub fn command(self) -> &'static str {
        match self {
            World::Simulator => "flowsched run",
            World::Lab => "flowsched lab run",
            World::Machines => "flowsched traffic client",
        }
    }
}

impl Program {
    /// The same program, with results of this world.
    #[must_use]
    pub fn in_world(self, world: World) -> Program {
        Program { world, ..self }
    }

    /// Whether both were built from the same code and have the same world. Their results are then the same.
    pub fn is_same_code(&self, other: &Program) -> bool {
        let code =
            |program: &Program| (program.version.clone(), program.commit.clone(), program.world);
        code(self) == code(other)
    }
}
