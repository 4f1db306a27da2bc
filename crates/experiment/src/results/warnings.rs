//! Warnings about figures of a study that are less certain than they look, in full sentences.
//!
//! A warning states its figures and what to do about them, and covers all runs at once. The figures
//! come from the summary; nothing is computed here.

use std::collections::BTreeSet;

use super::{AcrossSeeds, Point, RunSummary, SteadyState};

/// A relative difference from the requested load up to this does not matter.
const TOLERANCE: f64 = 0.05;

/// The warnings of a study.
pub(super) fn all(runs: &[RunSummary], across_seeds: &[AcrossSeeds]) -> Vec<String> {
    let warnings = [
        nothing_is_random(across_seeds),
        realised_load(runs),
        utilisation(runs),
        no_steady_state(across_seeds),
    ];
    warnings.into_iter().flatten().collect()
}

fn nothing_is_random(all: &[AcrossSeeds]) -> Option<String> {
    let repeats = |of: &&AcrossSeeds| of.seeds > 1 && of.samples == 1;
    let repeated: Vec<&AcrossSeeds> = all.iter().filter(repeats).collect();
    let seeds = repeated.iter().map(|of| of.seeds).max()?;
    let of_some = match repeated.len() < all.len() {
        true => format!(" in {} of {} combinations of scheme and point", repeated.len(), all.len()),
        false => String::new(),
    };
    Some(format!(
        "{seeds} seeds, 1 distinct sample{of_some}: nothing is random, so that one seed is enough \
         and there is no confidence interval."
    ))
}

/// A figure of a run, and the requested load that it should be near.
struct Off<'a> {
    run: &'a RunSummary,
    requested: f64,
    found: f64,
}

impl Off<'_> {
    fn relative(&self) -> f64 {
        self.found / self.requested - 1.0
    }
}

/// Returns how many of `runs` have a figure, and those that are too far from the requested load,
/// the furthest first.
fn off<'a>(
    runs: impl Iterator<Item = &'a RunSummary>,
    figure: fn(&RunSummary) -> Option<f64>,
) -> (usize, Vec<Off<'a>>) {
    let found = runs.filter(|run| run.complete).filter_map(|run| {
        let requested = run.load.requested.filter(|requested| *requested > 0.0)?;
        Some(Off { run, requested, found: figure(run)? })
    });
    let all: Vec<Off<'_>> = found.collect();
    let count = all.len();
    let mut off: Vec<Off<'_>> =
        all.into_iter().filter(|off| off.relative().abs() > TOLERANCE).collect();
    off.sort_by(|one, other| other.relative().abs().total_cmp(&one.relative().abs()));
    (count, off)
}

fn realised_load(runs: &[RunSummary]) -> Option<String> {
    // Every scheme of a point has the same flows.
    let mut seen = BTreeSet::new();
    let complete = runs.iter().filter(|run| run.complete);
    let sequences = complete.filter(|run| seen.insert((&run.point, run.seed)));
    let (count, off) = off(sequences, |run| run.load.realised);
    let Off { run, requested, found } = off.first()?;
    Some(format!(
        "The realised load differs from the requested load by more than 5% in {} of {count} flow \
         sequences: at worst it is {found:.3} instead of {requested:.3} (seed {}{}). Few flows, or \
         few large ones, make up the load. Use more flows.",
        off.len(),
        run.seed,
        at(", ", &run.point),
    ))
}

fn utilisation(runs: &[RunSummary]) -> Option<String> {
    let (count, off) = off(runs.iter(), |run| run.load.utilisation);
    let worst = off.first()?;
    let why = match worst.relative() < 0.0 {
        true => {
            "Flows are still under way when the last one starts, so that the network carries less \
             than the requested load. Use more flows."
        }
        false => "ACKs and retransmissions add to the requested load, which counts neither.",
    };
    let Off { run, requested, found } = worst;
    Some(format!(
        "The utilisation of the links that the load refers to differs from the requested load by \
         more than 5% in {} of {count} runs: at worst it is {found:.3} instead of {requested:.3} \
         (scheme \"{}\", seed {}{}). {why}",
        off.len(),
        run.scheme,
        run.seed,
        at(", ", &run.point),
    ))
}

fn no_steady_state(all: &[AcrossSeeds]) -> Option<String> {
    let known = all.iter().filter_map(|of| Some((of, of.steady_state?)));
    let known: Vec<(&AcrossSeeds, SteadyState)> = known.collect();
    let drifting: Vec<&(&AcrossSeeds, SteadyState)> =
        known.iter().filter(|(_, state)| !state.is_steady).collect();
    let drift = |state: &SteadyState| libm::log(state.late_slowdown / state.early_slowdown);
    let (of, state) = drifting
        .iter()
        .max_by(|one, other| drift(&one.1).abs().total_cmp(&drift(&other.1).abs()))?;
    let rises = if drift(state) > 0.0 { "rises" } else { "falls" };
    let flows = drifting.iter().filter_map(|(_, state)| state.flows).max()?;
    let warm_ups: Option<Vec<u64>> =
        drifting.iter().map(|(_, state)| state.warm_up_flows).collect();
    let advice = match warm_ups.and_then(|warm_ups| warm_ups.into_iter().max()) {
        Some(warm_up) => format!(
            "Set workload.warm_up_flows to about {} and workload.flows to about {}.",
            about(warm_up),
            about(flows)
        ),
        None => format!(
            "A warm-up of half of the flows is not enough. Set workload.flows to {} or more.",
            about(flows)
        ),
    };
    Some(format!(
        "{} of {} combinations of scheme and point are not in steady state: under \"{}\"{} the \
         slowdown of flows (geometric mean) {rises} from {:.2} in the first tenth of the measured \
         flows to {:.2} in the second half. {advice}",
        drifting.len(),
        known.len(),
        of.scheme,
        at(" at ", &of.point),
        state.early_slowdown,
        state.late_slowdown,
    ))
}

fn at(before: &str, point: &Point) -> String {
    if point.is_empty() { String::new() } else { format!("{before}{point}") }
}

/// A number of flows, rounded up to two significant digits.
fn about(flows: u64) -> u64 {
    let mut unit = 1;
    while flows.div_ceil(unit) > 99 {
        unit *= 10;
    }
    flows.div_ceil(unit) * unit
}
