//! The summary of a study, which `--format json` prints and reports are made from.

mod across_seeds;
mod keys;
mod run;

use serde::{Deserialize, Serialize};

use super::in_order::in_order;
use super::outcomes::Outcomes;
use super::runs_of_point::RunsOfPoint;
use super::{Comparison, LabRun, Order, OrderFound, Point, Program, Tables, warnings};
pub use across_seeds::AcrossSeeds;
pub use keys::{Key, SUMMARY};
pub use run::{PartSummary, RunSummary};

/// The figures of all runs, and how the schemes compare.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The experiment's name.
    pub name: String,
    /// The program that ran it.
    #[serde(default)]
    pub program: Program,
    /// Whether every run of the experiment is there and complete.
    pub complete: bool,
    /// The runs, in the order in which they were written.
    pub runs: Vec<RunSummary>,
    /// The comparison of every other scheme with the first, at every point.
    pub comparisons: Vec<Comparison>,
    /// The orders of schemes that the experiment states, and whether they hold.
    #[serde(default)]
    pub orders: Vec<OrderFound>,
    /// The figures over all seeds of each scheme, at every point.
    #[serde(default)]
    pub across_seeds: Vec<AcrossSeeds>,
    /// Warnings about figures that are less certain than they look: full sentences, each once.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// How well the lab kept to real time in each of its runs; empty for other worlds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lab: Vec<LabRun>,
    /// The lab's scale, in lines: rates, delays, thresholds and buffers; empty for other worlds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scale: Vec<String>,
    /// The length and checksum of each table.
    pub tables: Tables,
}

impl Summary {
    /// The points of the sweep, in the order of the runs.
    pub fn points(&self) -> Vec<&Point> {
        in_order(self.runs.iter().map(|run| &run.point))
    }

    /// The schemes' names, in the order of the runs.
    pub fn schemes(&self) -> Vec<&str> {
        in_order(self.runs.iter().map(|run| run.scheme.as_str()))
    }

    /// The runs of `scheme` at `point`, one per seed.
    pub fn runs_of<'a>(
        &'a self,
        point: &'a Point,
        scheme: &'a str,
    ) -> impl Iterator<Item = &'a RunSummary> {
        self.runs.iter().filter(move |run| run.point == *point && run.scheme == scheme)
    }

    /// The comparison of `scheme` with the first scheme at `point`; `None` for the first scheme.
    pub fn comparison(&self, point: &Point, scheme: &str) -> Option<&Comparison> {
        self.comparisons.iter().find(|c| c.point == *point && c.scheme == scheme)
    }

    /// The summary as JSON text that ends with a line break.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self);
        json.expect("texts and numbers can be written as JSON") + "\n"
    }

    /// Adds what several runs show together: comparisons, whether the `orders` hold, samples,
    /// steady state and warnings. The `outcomes` of the flows are in the order of the runs. Ignores
    /// runs that were cut short.
    pub(super) fn compare(&mut self, outcomes: &[Outcomes], orders: &[Order]) {
        let points: Vec<Point> = self.points().into_iter().cloned().collect();
        for point in points {
            let at_point: Vec<(&RunSummary, &Outcomes)> =
                self.runs.iter().zip(outcomes).filter(|(run, _)| run.point == point).collect();
            let runs = RunsOfPoint(at_point);
            let schemes = runs.schemes();
            let across_seeds: Vec<AcrossSeeds> =
                schemes.iter().map(|scheme| runs.across_seeds(&point, scheme)).collect();
            let Some(against) = schemes.first() else { continue };
            let comparisons = runs.compare_all(&point, against);
            let one_by_one = runs.one_by_one(against);
            let found =
                orders.iter().flat_map(|order| runs.find(order, &point)).collect::<Vec<_>>();
            self.comparisons.extend(comparisons);
            self.orders.extend(found);
            self.across_seeds.extend(across_seeds);
            let at_point = self.runs.iter_mut().filter(|run| run.point == point);
            at_point.zip(one_by_one).for_each(|(run, found)| run.one_by_one = found);
        }
        self.warnings = warnings::all(&self.runs, &self.across_seeds);
    }
}
