//! Why a file of claims is refused.

use thiserror::Error;

/// Why a file of claims is refused.
#[derive(Debug, Error)]
pub enum ClaimsError {
    /// The file is not TOML, or a key is unknown, missing, or of another type.
    #[error("{0}")]
    Syntax(#[from] toml::de::Error),
    /// A claim makes no sense.
    #[error("claim {id}: {problem}")]
    Claim {
        /// The claim.
        id: String,
        /// A sentence that says what is wrong, and what to write instead.
        problem: String,
    },
}
