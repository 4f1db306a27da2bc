//! How large simulations are.

use std::fmt;

/// How large simulations are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Small ones that end within minutes.
    Quick,
    /// As in the paper.
    Paper,
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scale::Quick => "quick",
            Scale::Paper => "paper",
        })
    }
}
