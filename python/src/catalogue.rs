//! The names that an experiment can use, as JSON.

use flowsched_schemes::{PRESETS, Role};
use flowsched_topology::TOPOLOGIES;
use flowsched_units::Parameter;
use flowsched_workload::sizes::BUILT_IN;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::json;

/// The presets of schemes.
#[pyfunction]
pub(crate) fn presets() -> PyResult<String> {
    let preset = |preset: &flowsched_schemes::Preset| {
        let parts = Role::ALL.iter().zip(preset.parts);
        let parts: serde_json::Map<String, Value> =
            parts.map(|(role, part)| (role.key().to_owned(), part.into())).collect();
        json!({ "name": preset.name, "about": preset.about, "source": preset.source, "parts": parts })
    };
    json::text(&PRESETS.iter().map(preset).collect::<Vec<_>>())
}

/// The built-in workloads.
#[pyfunction]
pub(crate) fn built_in_workloads() -> PyResult<String> {
    let workloads = BUILT_IN
        .iter()
        .map(|one| json!({ "name": one.name, "about": one.about, "source": one.source }));
    json::text(&workloads.collect::<Vec<_>>())
}

/// The kinds of topologies, with their keys.
#[pyfunction]
pub(crate) fn topologies() -> PyResult<String> {
    let key = |parameter: &Parameter| {
        json!({
            "name": parameter.name,
            "allowed": parameter.kind.allowed(),
            "default": parameter.default,
            "about": parameter.about,
        })
    };
    let topologies = TOPOLOGIES.iter().map(|kind| {
        let keys: Vec<Value> = kind.parameters.iter().map(key).collect();
        json!({ "name": kind.name, "about": kind.about, "source": kind.source, "keys": keys })
    });
    json::text(&topologies.collect::<Vec<_>>())
}
