//! Errors in full.

use std::error::Error;

/// An error with its causes: tonic's own text is "transport error", hyper's "connection error".
pub fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
