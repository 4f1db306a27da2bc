//! What is wrong with a run.

use std::fmt;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The name of the rule, the same for all cases of one kind.
    pub kind: String,
    /// Where the rule is broken, and the values that do not fit.
    pub detail: String,
}

impl Violation {
    /// A violation of this kind.
    pub fn new(kind: impl Into<String>, detail: impl Into<String>) -> Violation {
        Violation { kind: kind.into(), detail: detail.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.detail)
    }
}

/// The first few violations of each kind. A run that is wrong is often wrong in every row.
#[derive(Clone, Debug, Default)]
pub struct Violations(Vec<Violation>);

const OF_EACH_KIND: usize = 3;

impl Violations {
    /// Adds a violation unless there are enough of its kind.
    pub fn add(&mut self, kind: &str, detail: impl FnOnce() -> String) {
        if self.0.iter().filter(|known| known.kind == kind).count() < OF_EACH_KIND {
            self.0.push(Violation::new(kind, detail()));
        }
    }

    /// Adds a violation unless `holds`.
    pub fn require(&mut self, holds: bool, kind: &str, detail: impl FnOnce() -> String) {
        if !holds {
            self.add(kind, detail);
        }
    }

    /// All of them.
    pub fn into_vec(self) -> Vec<Violation> {
        self.0
    }
}
