//! Listing and removing the results in a store.

use std::path::PathBuf;

use flowsched_run::{Entry, Store, program};
use pyo3::prelude::*;
use serde_json::json;

use crate::{errors, json};

/// Every results folder in the store `dir`, as JSON.
#[pyfunction]
pub(crate) fn stored(py: Python<'_>, dir: PathBuf) -> PyResult<String> {
    let entries = py.detach(|| Store::new(&dir, program("")).entries());
    let described = |entry: &Entry| {
        json!({
            "dir": entry.dir,
            "name": entry.name,
            "version": entry.program.version,
            "commit": entry.program.commit,
            "complete": entry.is_complete,
            "old": entry.is_old,
            "bytes": entry.bytes,
            "age_s": entry.age.as_secs_f64(),
        })
    };
    let entries = entries.map_err(|error| errors::other(&error))?;
    json::text(&entries.iter().map(described).collect::<Vec<_>>())
}

/// Removes these results folders of the store `dir`.
#[pyfunction]
pub(crate) fn remove_stored(py: Python<'_>, dir: PathBuf, folders: Vec<PathBuf>) -> PyResult<()> {
    py.detach(|| {
        let store = Store::new(&dir, program(""));
        for entry in store.entries()?.iter().filter(|entry| folders.contains(&entry.dir)) {
            store.remove(entry)?;
        }
        Ok(())
    })
    .map_err(|error: std::io::Error| errors::other(&error))
}
