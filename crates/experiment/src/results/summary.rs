//! The summary of a study: what `--format json` prints and what reports start from.

mod across_seeds;
mod keys;
mod run;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::comparison::{ClassComparison, compare};
use super::outcomes::Outcomes;
use super::samples::distinct;
use super::steady_state::{Course, SteadyState};
use super::{
    Comparison, Figure, OneByOne, Order, OrderFound, OrderVerdict, PerClass, Point, Program,
    SizeClass, Tables, warnings,
};
pub use across_seeds::AcrossSeeds;
pub use keys::{Key, SUMMARY};
pub use run::{PartSummary, RunSummary};

/// The figures of all runs, and how the schemes compare.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The experiment's name.
    pub name: String,
    /// What ran it.
    #[serde(default)]
    pub program: Program,
    /// Whether every run of the experiment is there and went to its end.
    pub complete: bool,
    /// The runs, in the order in which they were written.
    pub runs: Vec<RunSummary>,
    /// Every other scheme against the first, at every point.
    pub comparisons: Vec<Comparison>,
    /// The orders of schemes that the experiment states, and whether they hold.
    #[serde(default)]
    pub orders: Vec<OrderFound>,
    /// What the seeds of each scheme say together, at every point.
    #[serde(default)]
    pub across_seeds: Vec<AcrossSeeds>,
    /// What makes figures less certain than they look: full sentences, each once.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The tables that the figures are from.
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

    /// The runs of `scheme` at `point`, one a seed.
    pub fn runs_of<'a>(
        &'a self,
        point: &'a Point,
        scheme: &'a str,
    ) -> impl Iterator<Item = &'a RunSummary> {
        self.runs.iter().filter(move |run| run.point == *point && run.scheme == scheme)
    }

    /// How `scheme` compares with the first at `point`; `None` for the first.
    pub fn comparison(&self, point: &Point, scheme: &str) -> Option<&Comparison> {
        self.comparisons.iter().find(|c| c.point == *point && c.scheme == scheme)
    }

    /// As JSON text, ending with a line break.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self);
        json.expect("texts and numbers can be written as JSON") + "\n"
    }

    /// Adds what several runs say together: comparisons, whether the `orders` hold, samples, steady
    /// state and warnings. The `outcomes` of the flows are in the order of the runs. Runs that were
    /// cut short take no part.
    pub(super) fn compare(&mut self, outcomes: &[Outcomes], orders: &[Order]) {
        let points: Vec<Point> = self.points().into_iter().cloned().collect();
        for point in points {
            let at_point: Vec<(&RunSummary, &Outcomes)> =
                self.runs.iter().zip(outcomes).filter(|(run, _)| run.point == point).collect();
            let runs = RunsOfPoint(at_point);
            let schemes = in_order(runs.0.iter().map(|(run, _)| run.scheme.as_str()));
            let across_seeds: Vec<AcrossSeeds> =
                schemes.iter().map(|scheme| runs.across_seeds(&point, scheme)).collect();
            let Some((against, others)) = schemes.split_first() else { continue };
            let comparison = |scheme: &&str| Comparison {
                point: point.clone(),
                scheme: (*scheme).to_owned(),
                against: (*against).to_owned(),
                fct: PerClass::from_fn(|class| runs.compare(against, scheme, class)),
            };
            let comparisons: Vec<Comparison> = others.iter().map(comparison).collect();
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

/// The runs of one point with what became of their flows.
struct RunsOfPoint<'a>(Vec<(&'a RunSummary, &'a Outcomes)>);

impl RunsOfPoint<'_> {
    fn outcomes(&self, scheme: &str, seed: u64) -> Option<&Outcomes> {
        let mut complete = self.0.iter().filter(|(run, _)| run.complete);
        let wanted = complete.find(|(run, _)| run.scheme == scheme && run.seed == seed);
        wanted.map(|(_, outcomes)| *outcomes)
    }

    /// `scheme` against another one, seed by seed.
    fn compare(&self, against: &str, scheme: &str, class: Option<SizeClass>) -> ClassComparison {
        let seeds = in_order(self.0.iter().map(|(run, _)| run.seed));
        let both = |seed: &u64| self.outcomes(against, *seed).zip(self.outcomes(scheme, *seed));
        let pairs: Vec<_> = seeds.iter().filter_map(both).collect();
        compare(&pairs, class)
    }

    /// Of every run, its flows against those of the scheme `against` with the same seed.
    fn one_by_one(&self, against: &str) -> Vec<OneByOne> {
        let compared = self.0.iter().map(|(run, outcomes)| {
            let first = self.outcomes(against, run.seed).filter(|_| run.scheme != against);
            let pairs: Vec<_> = first.map(|first| (first, *outcomes)).into_iter().collect();
            compare(&pairs, None).one_by_one
        });
        compared.collect()
    }

    fn across_seeds(&self, point: &Point, scheme: &str) -> AcrossSeeds {
        let complete = self.0.iter().filter(|(run, _)| run.complete && run.scheme == scheme);
        let outcomes: Vec<&Outcomes> = complete.map(|(_, outcomes)| *outcomes).collect();
        let courses: Option<Vec<&Course>> =
            outcomes.iter().map(|outcomes| outcomes.course.as_ref()).collect();
        AcrossSeeds {
            point: point.clone(),
            scheme: scheme.to_owned(),
            seeds: outcomes.len() as u64,
            samples: distinct(&outcomes),
            steady_state: courses.and_then(|courses| SteadyState::from_runs(&courses)),
        }
    }

    /// Each two neighbours of an order.
    fn find(&self, order: &Order, point: &Point) -> Vec<OrderFound> {
        let neighbours = order.schemes.windows(2);
        let found = neighbours.map(|pair| {
            let compared = self.compare(&pair[0], &pair[1], order.class);
            let change = match order.figure {
                Figure::Mean => compared.mean,
                Figure::P99 => compared.p99,
            };
            OrderFound {
                point: point.clone(),
                class: order.class.map_or("all", SizeClass::name).to_owned(),
                figure: order.figure,
                lower: pair[0].clone(),
                higher: pair[1].clone(),
                change,
                verdict: OrderVerdict::from_change(&change, compared.nothing_is_random()),
            }
        });
        found.collect()
    }
}

/// Each value once, where it first appears.
fn in_order<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    values.filter(|value| seen.insert(*value)).collect()
}
