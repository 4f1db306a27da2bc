//! How a value is measured: which figure of which runs.

use std::collections::BTreeMap;

use flowsched_experiment::results::{Change, OverSeeds, Point, Summary};
use serde::{Deserialize, Serialize};

use crate::figure::{figure, is_known};
use crate::kind::Kind;
use crate::measured::Measured;
use crate::reach::{Reach, Step};
use crate::setting::{Setting, Study};

/// Which figure of which runs a value is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The experiment: the name of a file in `experiments/`, without its ending.
    pub experiment: String,
    /// Keys of the experiment that have other values here.
    #[serde(default)]
    pub set: Setting,
    /// The figure in a run's summary, `"fct_us.small.mean"`, or that of a part of the workload,
    /// `"parts.short.fct_us.p99"`.
    pub figure: String,
    /// Instead of the figure itself, how far a varied key can go before the figure falls.
    pub reach: Option<Reach>,
    /// The scheme that it is taken of.
    pub scheme: String,
    /// The scheme that it is compared with; none for absolute figures.
    pub baseline: Option<String>,
    /// The points of the sweep that count: varied keys and their values, with commas between several.
    /// Without it, all do.
    #[serde(default)]
    pub at: Setting,
    /// Where the baseline is at another point: the keys that differ there, and their values.
    #[serde(default)]
    pub baseline_at: Setting,
    /// What is taken of several points.
    pub over: Option<Over>,
    /// What the figure is divided by, to have the unit of the published one.
    #[serde(default = "one")]
    pub unit: f64,
}

fn one() -> f64 {
    1.0
}

/// What is taken of several points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// The one with the smallest figure.
    Least,
    /// The one with the largest figure.
    Most,
    /// The mean over them, in each seed: of figures, or of ratios, whose mean is the geometric one.
    Mean,
}

impl Measure {
    /// What has to be run.
    pub fn study(&self) -> Study {
        Study { experiment: self.experiment.clone(), set: self.set.clone() }
    }

    /// The schemes whose runs the figure is from.
    pub(crate) fn schemes(&self) -> Vec<&str> {
        let both = [Some(&self.scheme), self.baseline.as_ref().filter(|one| **one != self.scheme)];
        both.into_iter().flatten().map(String::as_str).collect()
    }

    /// The figure and its interval; `None` if the runs do not have it, or not at one point alone
    /// where one is needed.
    pub fn of_runs(&self, kind: Kind, summary: &Summary) -> Option<Measured> {
        let groups = self.groups(summary);
        let found: Vec<Measured> =
            groups.iter().filter_map(|points| self.at_points(kind, summary, points)).collect();
        let larger = |a: &&Measured, b: &&Measured| a.figure.total_cmp(&b.figure);
        match (self.over, &found[..]) {
            (None | Some(Over::Mean), [only]) => Some(*only),
            (None | Some(Over::Mean), _) => None,
            (Some(Over::Least), all) => all.iter().min_by(larger).copied(),
            (Some(Over::Most), all) => all.iter().max_by(larger).copied(),
        }
    }

    /// What is wrong with it for claims of `kind`.
    pub(crate) fn check(&self, kind: Kind) -> Result<(), String> {
        if self.baseline.is_some() != kind.compares() {
            return Err(
                "`baseline` is for reductions, gaps, ratios and orders, which need it.".to_owned()
            );
        }
        if self.baseline.is_none() && !self.baseline_at.is_empty() {
            return Err("`baseline_at` needs a `baseline`.".to_owned());
        }
        if is_known(&self.figure) {
            Ok(())
        } else {
            Err(format!("`{}` is no figure of a run's summary.", self.figure))
        }
    }

    /// The points that count, each alone, with all that differ from it in the key of `reach`, or all
    /// together for their mean.
    fn groups<'a>(&self, summary: &'a Summary) -> Vec<Vec<&'a Point>> {
        let mut groups: BTreeMap<Point, Vec<&Point>> = BTreeMap::new();
        for point in summary.points().into_iter().filter(|point| self.is_at(point)) {
            let mut rest = point.clone();
            if self.over == Some(Over::Mean) {
                rest.0.clear();
            } else if let Some(reach) = &self.reach {
                rest.0.retain(|(key, _)| *key != reach.key);
            }
            groups.entry(rest).or_default().push(point);
        }
        groups.into_values().collect()
    }

    pub(crate) fn is_at(&self, point: &Point) -> bool {
        let is_one_of = |values: &str, found: &str| values.split(',').any(|value| value == found);
        self.at
            .iter()
            .all(|(key, values)| point.get(key).is_some_and(|found| is_one_of(values, found)))
    }

    /// The figure of some points together.
    pub(crate) fn at_points(
        &self,
        kind: Kind,
        summary: &Summary,
        points: &[&Point],
    ) -> Option<Measured> {
        let Some(baseline) = &self.baseline else {
            let ours = self.by_seed(kind, summary, points, &self.scheme)?;
            let figures: Vec<f64> = ours.values().map(|figure| figure / self.unit).collect();
            return absolute(&figures);
        };
        // Only `reach` needs all points for one figure.
        let steps: Vec<&[&Point]> = match &self.reach {
            Some(_) => vec![points],
            None => points.chunks(1).collect(),
        };
        let logs: Option<Vec<_>> = steps
            .into_iter()
            .map(|step| self.logs_by_seed(kind, summary, step, baseline))
            .collect();
        compared(kind, &mean_by_seed(&logs?)?.into_values().collect::<Vec<_>>())
    }

    /// The logarithm of each seed's ratio to the baseline.
    fn logs_by_seed(
        &self,
        kind: Kind,
        summary: &Summary,
        points: &[&Point],
        baseline: &str,
    ) -> Option<BTreeMap<u64, f64>> {
        let ours = self.by_seed(kind, summary, points, &self.scheme)?;
        let there = self.points_of_baseline(summary, points)?;
        let theirs = self.by_seed(kind, summary, &there, baseline)?;
        let log = |(seed, own): (&u64, &f64)| Some((*seed, (own / theirs.get(seed)?).ln()));
        Some(ours.iter().filter_map(log).collect())
    }

    /// The same points with the keys of `baseline_at` in their places.
    fn points_of_baseline<'a>(
        &self,
        summary: &'a Summary,
        points: &[&Point],
    ) -> Option<Vec<&'a Point>> {
        let all = summary.points();
        let moved = |point: &&Point| {
            let mut there = (*point).clone();
            for (key, value) in &mut there.0 {
                if let Some(other) = self.baseline_at.get(key) {
                    value.clone_from(other);
                }
            }
            all.iter().find(|point| ***point == there).copied()
        };
        points.iter().map(moved).collect()
    }

    /// The figure of each seed; `None` if some run did not go to its end.
    fn by_seed(
        &self,
        kind: Kind,
        summary: &Summary,
        points: &[&Point],
        scheme: &str,
    ) -> Option<BTreeMap<u64, f64>> {
        let at = |point: &Point| -> Option<BTreeMap<u64, f64>> {
            let runs = summary.runs_of(point, scheme);
            runs.map(|run| {
                let figure = figure(run, &self.figure).filter(|_| run.complete);
                figure.map(|figure| (run.seed, figure))
            })
            .collect()
        };
        let Some(reach) = &self.reach else {
            let all: Option<Vec<_>> = points.iter().map(|point| at(point)).collect();
            return mean_by_seed(&all?);
        };
        let mut steps: Vec<Step> = Vec::new();
        for point in points {
            let value = point.get(&reach.key)?.parse().ok()?;
            steps.push((value, at(point)?.into_values().collect()));
        }
        steps.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let seeds = at(points.first()?)?.into_keys();
        let logs = reach.log_of_seeds(&steps, kind == Kind::Order)?;
        Some(seeds.zip(logs.into_iter().map(f64::exp)).collect())
    }
}

/// The mean over points of each seed's figures; `None` if some point lacks a seed.
fn mean_by_seed(points: &[BTreeMap<u64, f64>]) -> Option<BTreeMap<u64, f64>> {
    let mean = |seed: &u64| {
        let figures: Option<Vec<f64>> = points.iter().map(|one| one.get(seed).copied()).collect();
        Some((*seed, figures?.iter().sum::<f64>() / points.len() as f64))
    };
    points.first()?.keys().map(mean).collect()
}

/// The mean over seeds with its interval; the figure itself where all seeds agree.
fn absolute(figures: &[f64]) -> Option<Measured> {
    let over = OverSeeds::from_values(figures)?;
    let is_exact = figures.len() > 1 && figures.iter().all(|one| *one == figures[0]);
    let interval = over.interval.or(is_exact.then_some((over.mean, over.mean)));
    let extremes = extremes(figures.iter().copied());
    Some(Measured { figure: over.mean, interval, extremes, seeds: figures.len() })
}

/// The least and the most of the seeds' figures; `None` if one of these is no finite number.
fn extremes(mut figures: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let first = figures.next()?;
    let ends = figures.fold((first, first), |(least, most), one| (least.min(one), most.max(one)));
    Some(ends).filter(|(least, most)| least.is_finite() && most.is_finite())
}

/// What the logs of the seeds' ratios say, in the form of `kind`.
fn compared(kind: Kind, logs: &[f64]) -> Option<Measured> {
    let change = Change::over_seeds(logs);
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
    let extremes = extremes(logs.iter().map(|log| stated(log.exp_m1())));
    Some(Measured { figure: stated(change.change?), interval, extremes, seeds: logs.len() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kind::Bound;
    use crate::published::{Expected, Published, meets};
    use crate::verdict::Verdict;

    proptest! {
        /// More seeds whose figures are spread as those before make an interval narrower around the same middle.
        #[test]
        fn more_seeds_with_the_same_spread_never_reproduce_what_was_not(
            figures in prop::collection::vec(0.1..3.0f64, 2..8),
            times in 2usize..6,
            published in 0.1..3.0f64,
            kind in prop::sample::select(vec![Kind::Value, Kind::Gap, Kind::Reduction, Kind::Ratio]),
            bound in prop::option::of(prop::sample::select(vec![Bound::About, Bound::AtLeast, Bound::AtMost])),
        ) {
            let verdict = |figures: &[f64]| {
                let logs: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
                let measured = if kind == Kind::Value { absolute(figures) } else { compared(kind, &logs) };
                Verdict::new(kind, bound, Published::Number(published), &measured.unwrap())
            };
            if verdict(&figures) == Verdict::NotReproduced {
                prop_assert_eq!(verdict(&figures.repeat(times)), Verdict::NotReproduced);
            }
        }

        /// An outlier can widen the interval until it meets the published value. That does not reproduce it if
        /// every seed is on the same side.
        #[test]
        fn more_seeds_on_one_side_never_reproduce_what_was_not(
            published in 0.1..3.0f64,
            side in prop::sample::select(vec![-1.0, 1.0]),
            first in prop::collection::vec(0.0..0.5f64, 2..8),
            more in prop::collection::vec(0.0..6.0f64, 1..8),
            kind in prop::sample::select(vec![Kind::Value, Kind::Gap, Kind::Reduction, Kind::Ratio]),
            bound in prop::option::of(prop::sample::select(
                vec![Bound::About, Bound::UpTo, Bound::AtLeast, Bound::AtMost],
            )),
        ) {
            // Each seed's ratio is the published one, times or over a random factor.
            let stated = |ratio: f64| match kind {
                Kind::Gap => ratio - 1.0,
                Kind::Reduction => 1.0 - ratio,
                _ => ratio,
            };
            let number = stated(published);
            let misses = |ratio: &f64| !meets((number, number), bound, stated(*ratio), stated(*ratio));
            let ratios = |logs: &[f64]| -> Vec<f64> {
                logs.iter().map(|log| published * (side * log).exp()).filter(misses).collect()
            };
            let (first, more) = (ratios(&first), ratios(&more));
            let found = |ratios: &[f64]| {
                let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
                let measured = if kind == Kind::Value { absolute(ratios) } else { compared(kind, &logs) };
                measured.map(|one| Verdict::new(kind, bound, Published::Number(number), &one))
            };
            prop_assert_ne!(found(&first), Some(Verdict::Reproduced));
            prop_assert_ne!(found(&[first, more].concat()), Some(Verdict::Reproduced));
        }

        #[test]
        fn more_seeds_on_one_side_never_reproduce_an_order(
            side in prop::sample::select(vec![-1.0, 1.0]),
            logs in prop::collection::vec(0.0..6.0f64, 2..16),
            expected in prop::sample::select(vec![
                Expected::Lower,
                Expected::Higher,
                Expected::NotHigher,
                Expected::NotLower,
                Expected::Alike,
            ]),
        ) {
            let (least, most) = expected.gaps();
            let misses = |log: &f64| log.exp_m1() <= least || most <= log.exp_m1();
            let logs: Vec<f64> = logs.iter().map(|log| side * log).filter(misses).collect();
            let found = compared(Kind::Order, &logs)
                .map(|one| Verdict::new(Kind::Order, None, Published::Order(expected), &one));
            prop_assert_ne!(found, Some(Verdict::Reproduced));
        }
    }

    /// Three seeds miss 10 closely. A fourth is farther off, and the interval meets 10.
    #[test]
    fn an_outlier_on_the_same_side_reproduces_nothing() {
        let verdict = |figures: &[f64]| {
            let measured = absolute(figures).unwrap();
            (Verdict::new(Kind::Value, None, Published::Number(10.0), &measured), measured)
        };
        assert_eq!(verdict(&[10.2, 10.21, 10.22]).0, Verdict::NotReproduced);
        let (with_outlier, measured) = verdict(&[10.2, 10.21, 10.22, 11.0]);
        assert!(measured.interval.is_some_and(|(low, high)| low < 10.0 && high - low < 2.0));
        assert_eq!(measured.extremes, Some((10.2, 11.0)));
        assert_eq!(extremes([0.0, f64::INFINITY].into_iter()), None);
        assert_eq!(with_outlier, Verdict::Undecided);
        assert_eq!(verdict(&[10.2, 10.21, 10.22, 9.9]).0, Verdict::Reproduced);
    }
}
