//! Which program wrote results.

use serde::{Deserialize, Serialize};

/// A build of flowsched, and how it was called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The version, `0.1.0`.
    pub version: String,
    /// The commit that it was built from, with `-dirty` if files were changed; empty if that is not
    /// known.
    pub commit: String,
    /// The command with its arguments.
    pub command: String,
}

impl Program {
    /// Whether both are built from the same code, so that their results are the same.
    pub fn is_same_code(&self, other: &Program) -> bool {
        (&self.version, &self.commit) == (&other.version, &other.commit)
    }
}
