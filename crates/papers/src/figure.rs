//! Figures of a run's summary by their names.

use flowsched_experiment::results::{LinkFigures, PartSummary, RunSummary};
use serde::Serialize;

/// The prefix of the figures of one part of the workload. The part's name follows.
const PARTS: &str = "parts.";
/// The prefix of the figures of one link. The link's name follows.
const LINKS: &str = "links.";

/// The figure with this name, such as `"fct_us.small.mean"`, `"parts.short.fct_us.p99"` for the
/// part `short`, or `"links.uplink.utilisation"` for the link `uplink`.
pub(crate) fn figure(run: &RunSummary, name: &str) -> Option<f64> {
    if let Some((part, rest)) = after(PARTS, name) {
        return number(run.parts.iter().find(|one| one.name == part)?, rest);
    }
    match after(LINKS, name) {
        Some((link, rest)) => number(run.links.iter().find(|one| one.name == link)?, rest),
        None => number(run, name),
    }
}

/// Whether summaries of runs have a figure with this name.
pub(crate) fn is_known(name: &str) -> bool {
    if let Some((_, rest)) = after(PARTS, name) {
        return has(&PartSummary::default(), rest);
    }
    match after(LINKS, name) {
        Some((_, rest)) => has(&LinkFigures::default(), rest),
        None => has(&RunSummary::default(), name),
    }
}

/// The two names that follow `prefix`: of a part or link, and of its figure.
fn after<'a>(prefix: &str, name: &'a str) -> Option<(&'a str, &'a str)> {
    name.strip_prefix(prefix)?.split_once('.')
}

fn has(figures: &impl Serialize, name: &str) -> bool {
    let figures = serde_json::to_value(figures).unwrap_or_default();
    let found = figures.pointer(&pointer(name));
    found.is_some_and(|figure| figure.is_null() || figure.is_number())
}

fn number(figures: &impl Serialize, name: &str) -> Option<f64> {
    serde_json::to_value(figures).ok()?.pointer(&pointer(name))?.as_f64()
}

fn pointer(name: &str) -> String {
    format!("/{}", name.replace('.', "/"))
}
