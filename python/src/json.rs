//! Answers as JSON texts: Python reads them with its own library.

use pyo3::prelude::*;
use serde::Serialize;

use crate::errors;

/// The answer as JSON.
pub(crate) fn text(answer: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(answer).map_err(|error| errors::other(&error))
}
