//! The error for an invalid value.

use thiserror::Error;

/// An invalid value in a file or message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{key}` cannot be {found}; use {allowed}")]
pub struct Refused {
    /// The key in a file or message.
    pub key: String,
    /// The value.
    pub found: String,
    /// The allowed values.
    pub allowed: String,
}

impl Refused {
    /// The value `found` of `key` is refused; `allowed` describes the allowed values.
    pub fn new(
        key: impl Into<String>,
        found: impl std::fmt::Display,
        allowed: impl Into<String>,
    ) -> Refused {
        Refused { key: key.into(), found: found.to_string(), allowed: allowed.into() }
    }
}
