//! The names that an experiment can use, as JSON.

use flowsched_experiment::results::{RunSummary, Schedule};
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

/// The figures in the summary of a run, under dotted names. Those of links and parts are not among them:
/// their names depend on the experiment.
#[pyfunction]
pub(crate) fn figures() -> PyResult<String> {
    // A schedule is a word and not a figure, and only a number and what can be one is listed.
    let run = RunSummary { schedule: Some(Schedule::Heuristic), ..RunSummary::default() };
    let mut names = Vec::new();
    let run = serde_json::to_value(run).unwrap_or_default();
    add_figures("", &run, &mut names);
    json::text(&names)
}

fn add_figures(path: &str, value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let dot = if path.is_empty() { "" } else { "." };
                add_figures(&format!("{path}{dot}{key}"), member, names);
            }
        }
        Value::Number(_) | Value::Null => names.push(path.to_owned()),
        _ => {}
    }
}
