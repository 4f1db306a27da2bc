//! Distribution functions over all seeds, from `flows.parquet` and `ports.parquet`.

use std::collections::BTreeMap;

use flowsched_experiment::results::{FlowRow, Folder, QueueWatch, RunKey};
use flowsched_units::Time;

use super::error::DrawingError;
use super::runs::Runs;
use super::series::Series;
use super::thinned::sparse;
use crate::drawn::Distribution;

/// The most points of a curve.
const MOST: usize = 100;

/// How often each value occurs. Values are not negative, so that their bits have the order of the values.
#[derive(Default)]
struct Counts(BTreeMap<u64, u64>);

/// The curve of each scheme.
pub(super) fn curves(
    of: Distribution,
    runs: &Runs<'_>,
    folder: &Folder,
) -> Result<Vec<Series>, DrawingError> {
    let counts = match of {
        Distribution::FctRatio => fct_ratios(runs, folder)?,
        Distribution::QueueBytes => queues(runs, folder)?,
    };
    let curve = |scheme: &&str| match counts.get(*scheme) {
        Some(counts) => {
            Ok(Series::new(name(of, scheme, runs), &sparse(&counts.cumulative(), MOST)))
        }
        None => Err(DrawingError::lacks(format!(
            "the tables of `{scheme}` have no value of it. Let flows finish, or set `sample_interval`."
        ))),
    };
    runs.schemes.iter().map(curve).collect()
}

fn name(of: Distribution, scheme: &str, runs: &Runs<'_>) -> String {
    match of {
        Distribution::FctRatio => format!("{scheme} / {}", runs.first_scheme()),
        Distribution::QueueBytes => scheme.to_owned(),
    }
}

/// The FCT of each measured flow over its FCT under the first scheme, of flows that finished under both.
fn fct_ratios(runs: &Runs<'_>, folder: &Folder) -> Result<BTreeMap<String, Counts>, DrawingError> {
    let mut fcts: BTreeMap<String, BTreeMap<(u64, u64), f64>> = BTreeMap::new();
    folder.flows(|piece| {
        if piece.run.point == *runs.point {
            let of_scheme = fcts.entry(piece.run.scheme).or_default();
            let fct = |flow: &FlowRow| Some(((piece.run.seed, flow.flow), flow.fct?.as_us_f64()));
            of_scheme.extend(piece.flows.iter().filter(|flow| flow.measured).filter_map(fct));
        }
    })?;
    let Some(first) = fcts.get(runs.first_scheme()) else { return Ok(BTreeMap::new()) };
    let mut ratios: BTreeMap<String, Counts> = BTreeMap::new();
    for (scheme, fcts) in &fcts {
        for (flow, fct) in fcts {
            if let Some(other) = first.get(flow).filter(|other| **other > 0.0) {
                ratios.entry(scheme.clone()).or_default().add(fct / other, 1);
            }
        }
    }
    Ok(ratios)
}

/// The bytes in the queues of switches' ports, in the samples that `queue_bytes` of a summary is over.
fn queues(runs: &Runs<'_>, folder: &Folder) -> Result<BTreeMap<String, Counts>, DrawingError> {
    let mut starts: BTreeMap<RunKey, (Time, Time)> = BTreeMap::new();
    folder.flows(|piece| {
        let of_piece = || piece.flows.iter().map(|flow| flow.start);
        if let Some((first, last)) = of_piece().min().zip(of_piece().max()) {
            let known = starts.entry(piece.run).or_insert((first, last));
            *known = (known.0.min(first), known.1.max(last));
        }
    })?;
    let mut watches: BTreeMap<RunKey, QueueWatch> = BTreeMap::new();
    folder.ports(|piece| {
        let Some(summary) = runs.summary_of(&piece.run) else { return };
        let arrivals = starts.get(&piece.run).copied();
        let has_random_starts = summary.load.requested.is_some();
        let new = || QueueWatch::new(&piece.ports, arrivals, has_random_starts);
        let watch = watches.entry(piece.run.clone()).or_insert_with(new);
        piece.samples.iter().for_each(|sample| watch.take(sample));
    })?;
    let mut queues: BTreeMap<String, Counts> = BTreeMap::new();
    for (run, watch) in watches.iter().filter(|(_, watch)| !watch.counts().is_empty()) {
        let of_scheme = queues.entry(run.scheme.clone()).or_default();
        watch.counts().iter().for_each(|(bytes, count)| of_scheme.add(*bytes as f64, *count));
    }
    Ok(queues)
}

impl Counts {
    fn add(&mut self, value: f64, times: u64) {
        *self.0.entry(value.to_bits()).or_default() += times;
    }

    /// The values, and the share of values up to each. The curve begins with 0 at the least value.
    fn cumulative(&self) -> Vec<(f64, f64)> {
        let all: u64 = self.0.values().sum();
        let mut upto = 0;
        let steps = self.0.iter().map(|(bits, count)| {
            upto += count;
            (f64::from_bits(*bits), upto as f64 / all as f64)
        });
        let steps: Vec<(f64, f64)> = steps.collect();
        steps
            .first()
            .map(|(least, _)| (*least, 0.0))
            .into_iter()
            .chain(steps.iter().copied())
            .collect()
    }
}
