//! Results as JSON, which Python parses.

use pyo3::prelude::*;
use serde::Serialize;

use crate::errors;

/// `answer` as JSON.
pub(crate) fn text(answer: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(answer).map_err(|error| errors::other(&error))
}
