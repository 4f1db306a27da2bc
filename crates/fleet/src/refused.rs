//! A value that is refused, as a sentence can say it.

use thiserror::Error;

/// A value that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: found {found}, expected {allowed}")]
pub struct Refused {
    /// The key in a file or message.
    pub key: String,
    /// What it was.
    pub found: String,
    /// What may be.
    pub allowed: String,
}

impl Refused {
    /// `key` was given as `found` where only `allowed` makes sense.
    pub fn new(
        key: impl Into<String>,
        found: impl std::fmt::Display,
        allowed: impl Into<String>,
    ) -> Refused {
        Refused { key: key.into(), found: found.to_string(), allowed: allowed.into() }
    }
}
