//! What is wrong with a text that names no distribution.

use flowsched_units::{Bytes, shortened};
use thiserror::Error;

/// A text that names no distribution.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SizesError {
    /// Neither a built-in name nor one of the [`FORMS`](super::FORMS).
    #[error("found \"{found}\", expected one of {allowed}")]
    Unknown {
        /// What was written.
        found: String,
        /// What may be written.
        allowed: String,
    },
    /// One of the [`FORMS`](super::FORMS) with values that it cannot take.
    #[error("found {found}, expected {allowed}")]
    Malformed {
        /// What was written.
        found: String,
        /// What may be written.
        allowed: String,
    },
}

/// A form with values that it cannot take.
pub(super) fn malformed(found: String, allowed: String) -> SizesError {
    SizesError::Malformed { found: shortened(&found).into_owned(), allowed }
}

/// Refuses a shape or a sigma that is not over 0 and at most 10.
pub(super) fn check_shape(form: &str, shape: f64) -> Result<(), SizesError> {
    if shape > 0.0 && shape <= 10.0 {
        return Ok(());
    }
    let what = if form == "lognormal" { "a SIGMA" } else { "a SHAPE" };
    let allowed = format!("{what} over 0 and at most 10 for \"{form}\"");
    Err(malformed(format!("\"{shape}\""), allowed))
}

/// Refuses sizes that do not rise.
pub(super) fn check_rising(form: &str, from: Bytes, to: Bytes) -> Result<(), SizesError> {
    if Bytes::ZERO < from && from < to {
        return Ok(());
    }
    let allowed = format!("FROM over 0 and less than TO for \"{form}\"");
    Err(malformed(format!("\"{from} {to}\""), allowed))
}
