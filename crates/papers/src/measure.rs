//! How a value is measured: which figure of which runs.

use std::collections::BTreeMap;

use flowsched_experiment::results::{Change, OverSeeds, Point, RunSummary, Summary};
use serde::{Deserialize, Serialize};

use crate::claim::Kind;
use crate::measured::Measured;

/// Which figure of which runs a value is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The experiment: the name of a file in `experiments/`, without its ending.
    pub experiment: String,
    /// The figure in a run's summary, `"fct_us.small.mean"`.
    pub figure: String,
    /// The scheme that it is taken of.
    pub scheme: String,
    /// The scheme that it is compared with; none for absolute figures.
    pub baseline: Option<String>,
    /// The point of the sweep: varied keys and their values. Without it, all points count.
    #[serde(default)]
    pub at: BTreeMap<String, String>,
    /// Of several points, the one with the least or with the most.
    pub over: Option<Over>,
    /// What the figure is divided by, to have the unit of the published one.
    #[serde(default = "one")]
    pub unit: f64,
}

fn one() -> f64 {
    1.0
}

/// Which of several points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// The one with the smallest figure.
    Least,
    /// The one with the largest figure.
    Most,
}

impl Measure {
    /// The figure and its interval; `None` if the runs do not have it, or not at one point alone
    /// where one is needed.
    pub fn of_runs(&self, kind: Kind, summary: &Summary) -> Option<Measured> {
        let points = summary.points().into_iter().filter(|point| self.is_at(point));
        let found: Vec<Measured> =
            points.filter_map(|point| self.at_point(kind, summary, point)).collect();
        let larger = |a: &&Measured, b: &&Measured| a.figure.total_cmp(&b.figure);
        match (self.over, &found[..]) {
            (None, [only]) => Some(*only),
            (None, _) => None,
            (Some(Over::Least), all) => all.iter().min_by(larger).copied(),
            (Some(Over::Most), all) => all.iter().max_by(larger).copied(),
        }
    }

    /// What is wrong with it for claims of `kind`.
    pub(crate) fn check(&self, kind: Kind) -> Result<(), String> {
        if matches!(kind, Kind::Order | Kind::Property) {
            return Err("Orders and properties have no `measure` yet.".to_owned());
        }
        if self.baseline.is_some() != kind.neutral().is_some() {
            return Err("`baseline` is for reductions, gaps and ratios, which need it.".to_owned());
        }
        if is_known(&self.figure) {
            Ok(())
        } else {
            Err(format!("`{}` is no figure of a run's summary.", self.figure))
        }
    }

    fn is_at(&self, point: &Point) -> bool {
        self.at.iter().all(|(key, value)| point.get(key) == Some(value))
    }

    fn at_point(&self, kind: Kind, summary: &Summary, point: &Point) -> Option<Measured> {
        let ours = self.by_seed(summary, point, &self.scheme)?;
        let Some(baseline) = &self.baseline else {
            let figures: Vec<f64> = ours.values().map(|figure| figure / self.unit).collect();
            let over = OverSeeds::from_values(&figures)?;
            let is_exact = figures.len() > 1 && figures.iter().all(|one| *one == figures[0]);
            let interval = over.interval.or(is_exact.then_some((over.mean, over.mean)));
            return Some(Measured { figure: over.mean, interval, seeds: figures.len() });
        };
        let theirs = self.by_seed(summary, point, baseline)?;
        let logs: Vec<f64> =
            ours.iter().filter_map(|(seed, own)| Some((own / theirs.get(seed)?).ln())).collect();
        let change = Change::over_seeds(&logs);
        let stated = |change: f64| match kind {
            Kind::Reduction => -change,
            Kind::Ratio => change + 1.0,
            _ => change,
        };
        let ends = change.low.zip(change.high).filter(|_| logs.len() > 1);
        let interval = ends.map(|(low, high)| match kind {
            Kind::Reduction => (-high, -low),
            _ => (stated(low), stated(high)),
        });
        Some(Measured { figure: stated(change.change?), interval, seeds: logs.len() })
    }

    /// The figure in each run that went to its end; `None` if some run did not.
    fn by_seed(
        &self,
        summary: &Summary,
        point: &Point,
        scheme: &str,
    ) -> Option<BTreeMap<u64, f64>> {
        let runs = summary.runs_of(point, scheme);
        runs.map(|run| {
            let figure = figure(run, &self.figure).filter(|_| run.complete);
            figure.map(|figure| (run.seed, figure))
        })
        .collect()
    }
}

/// The figure of that name in the summary of a run.
fn figure(run: &RunSummary, name: &str) -> Option<f64> {
    serde_json::to_value(run).ok()?.pointer(&pointer(name))?.as_f64()
}

/// Whether summaries of runs have such a figure.
fn is_known(name: &str) -> bool {
    let run = serde_json::to_value(RunSummary::default()).unwrap_or_default();
    run.pointer(&pointer(name)).is_some_and(|figure| figure.is_null() || figure.is_number())
}

fn pointer(name: &str) -> String {
    format!("/{}", name.replace('.', "/"))
}
