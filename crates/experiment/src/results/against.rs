//! Compares the schemes of runs that are read back from folders.

use super::in_order::in_order;
use super::outcomes::Outcomes;
use super::runs_of_point::RunsOfPoint;
use super::{Comparison, Folder, Point, ResultsError, RunKey, RunSummary};

/// A results folder, and the point of its runs if the folder does not record points.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// The folder.
    pub folder: &'a Folder,
    /// The point of all its runs. If `None`, each run has the point that the folder records.
    pub point: Option<&'a Point>,
}

impl<'a> Placed<'a> {
    /// The points of the folder's runs.
    pub(super) fn points(&self) -> Vec<&'a Point> {
        self.point.map_or_else(|| self.folder.summary().points(), |point| vec![point])
    }
}

/// A run with the outcomes of its flows.
pub(super) struct Loaded {
    pub run: RunSummary,
    pub outcomes: Outcomes,
    /// A checksum of its flows' numbers, hosts, sizes and starts.
    pub flows: u32,
}

/// Compares every scheme with `against`, at every point that has runs of both. Each comparison pairs
/// the same flows under two schemes, over the seeds that both have. Ignores runs that were cut short.
///
/// # Errors
/// If a folder cannot be read.
pub fn compare(placed: &[Placed<'_>], against: &str) -> Result<Vec<Comparison>, ResultsError> {
    let mut all = Vec::new();
    for one in placed {
        all.extend(load(one)?);
    }
    let points: Vec<&Point> = in_order(all.iter().map(|loaded| &loaded.run.point));
    let comparisons = points.into_iter().flat_map(|point| {
        let of_point = all.iter().filter(|loaded| loaded.run.point == *point);
        let runs = RunsOfPoint(of_point.map(|one| (&one.run, &one.outcomes)).collect());
        match runs.schemes().contains(&against) {
            true => runs.compare_all(point, against),
            false => Vec::new(),
        }
    });
    Ok(comparisons.collect())
}

/// Reads the runs of a folder, in the order of its summary.
pub(super) fn load(placed: &Placed<'_>) -> Result<Vec<Loaded>, ResultsError> {
    let Placed { folder, point } = placed;
    let mut found: Vec<(RunKey, Outcomes, u32)> = Vec::new();
    folder.flows(|of_run| {
        let mut hasher = crc32fast::Hasher::new();
        for flow in &of_run.flows {
            let ends = [flow.src, flow.dst].map(u64::from);
            let numbers = [flow.flow, ends[0], ends[1], flow.size.get(), flow.start.as_ps()];
            numbers.iter().for_each(|number| hasher.update(&number.to_le_bytes()));
        }
        let outcomes = Outcomes::from_flows(&of_run.flows, false);
        found.push((of_run.run, outcomes, hasher.finalize()));
    })?;
    let loaded = folder.summary().runs.iter().map(|run| {
        let is_same = |(key, ..): &&(RunKey, Outcomes, u32)| {
            key.point == run.point && key.scheme == run.scheme && key.seed == run.seed
        };
        let (outcomes, flows) = match found.iter().find(is_same) {
            Some((_, outcomes, flows)) => (outcomes.clone(), *flows),
            None => (Outcomes::from_flows(&[], false), 0),
        };
        let point = point.cloned().unwrap_or_else(|| run.point.clone());
        Loaded { run: RunSummary { point, ..run.clone() }, outcomes, flows }
    });
    Ok(loaded.collect())
}
