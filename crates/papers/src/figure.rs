//! Figures of a run's summary by their names.

use flowsched_experiment::results::{PartSummary, RunSummary};
use serde_json::Value;

/// The name of the figures of one part of the workload, before the part's name.
const PARTS: &str = "parts.";

/// The figure of that name: `"fct_us.small.mean"`, or `"parts.short.fct_us.p99"` of the part
/// `short`.
pub(crate) fn figure(run: &RunSummary, name: &str) -> Option<f64> {
    match of_part(name) {
        Some((part, rest)) => {
            let part = run.parts.iter().find(|one| one.name == part)?;
            number(&serde_json::to_value(part).ok()?, rest)
        }
        None => number(&serde_json::to_value(run).ok()?, name),
    }
}

/// Whether summaries of runs have such a figure.
pub(crate) fn is_known(name: &str) -> bool {
    let (figures, name) = match of_part(name) {
        Some((_, rest)) => (serde_json::to_value(PartSummary::default()), rest),
        None => (serde_json::to_value(RunSummary::default()), name),
    };
    let figures = figures.unwrap_or_default();
    let found = figures.pointer(&pointer(name));
    found.is_some_and(|figure| figure.is_null() || figure.is_number())
}

/// The part's name and the figure's.
fn of_part(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix(PARTS)?.split_once('.')
}

fn number(figures: &Value, name: &str) -> Option<f64> {
    figures.pointer(&pointer(name))?.as_f64()
}

fn pointer(name: &str) -> String {
    format!("/{}", name.replace('.', "/"))
}
