//! How a value is measured: which figure of which runs.

use std::collections::BTreeMap;

use flowsched_experiment::results::{Point, Summary};
use serde::{Deserialize, Serialize};

use crate::figure::{figure, is_known};
use crate::kind::Kind;
use crate::measured::Measured;
use crate::reach::{Reach, Steps};
use crate::seeds::{absolute, compared, gap_of_means, mean_by_seed};
use crate::setting::{Setting, Study, has_values, pairs};

/// The figure that a value is, and the runs that it is taken from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The experiment: the name of a file in `experiments/`, without its ending.
    pub experiment: String,
    /// Keys of the experiment that are set to other values.
    #[serde(default)]
    pub set: Setting,
    /// The figure in a run's summary, such as `"fct_us.small.mean"`, or that of a part of the workload, such as
    /// `"parts.short.fct_us.p99"`.
    pub figure: String,
    /// Instead of the figure itself, how far a varied key can go before the figure falls.
    pub reach: Option<Reach>,
    /// The scheme whose figure is taken.
    pub scheme: String,
    /// The scheme that it is compared with; `None` for absolute figures.
    pub baseline: Option<String>,
    /// The points of the sweep that count: varied keys and their values, with commas between several. If this is empty,
    /// all points count.
    #[serde(default)]
    pub at: Setting,
    /// The keys that differ at the baseline's point, and their values there. Empty if it is the same point.
    #[serde(default)]
    pub baseline_at: Setting,
    /// How several points give one figure.
    pub over: Option<Over>,
    /// For orders, a varied key. The figure is then not the ratio to the baseline, but the ratio's change from each
    /// value of this key to the next.
    pub grows_along: Option<String>,
    /// For properties, the figure of the same run that this figure has to equal in every run of every seed.
    pub equals: Option<String>,
    /// The number by which the figure is divided to have the unit of the published one.
    #[serde(default = "one")]
    pub unit: f64,
}

fn one() -> f64 {
    1.0
}

/// How several points give one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// The smallest figure.
    Least,
    /// The largest figure.
    Most,
    /// The mean over the points, in each seed. For ratios it is the geometric mean.
    Mean,
}

impl Measure {
    /// The study that has to be run.
    pub fn study(&self) -> Study {
        Study { experiment: self.experiment.clone(), set: self.set.clone() }
    }

    /// The schemes whose runs the figure is from.
    pub(crate) fn schemes(&self) -> Vec<&str> {
        let both = [Some(&self.scheme), self.baseline.as_ref().filter(|one| **one != self.scheme)];
        both.into_iter().flatten().map(String::as_str).collect()
    }

    /// The figure and its interval. `None` if the runs do not have the figure, or if it needs one point and they have
    /// it at none or at several.
    pub fn of_runs(&self, kind: Kind, summary: &Summary) -> Option<Measured> {
        if let Some(other) = &self.equals {
            return self.held(other, summary);
        }
        let found = match &self.grows_along {
            Some(key) => self.growth(key, kind, summary)?,
            None => {
                let groups = self.groups(summary);
                let found =
                    groups.iter().filter_map(|points| self.at_points(kind, summary, points));
                found.collect()
            }
        };
        self.taken_of(found)
    }

    /// The smallest or the largest of the `found` figures, as `over` says. Otherwise the only figure; `None` if there
    /// are none or several.
    fn taken_of(&self, found: Vec<Measured>) -> Option<Measured> {
        let larger = |a: &&Measured, b: &&Measured| a.figure.total_cmp(&b.figure);
        match (self.over, &found[..]) {
            (None | Some(Over::Mean), [only]) => Some(*only),
            (None | Some(Over::Mean), _) => None,
            (Some(Over::Least), all) => all.iter().min_by(larger).copied(),
            (Some(Over::Most), all) => all.iter().max_by(larger).copied(),
        }
    }

    /// The share of seeds in which the figure equals the other one in every run. A run that was cut short counts too:
    /// its flows did not finish.
    fn held(&self, other: &str, summary: &Summary) -> Option<Measured> {
        let mut seeds: BTreeMap<u64, bool> = BTreeMap::new();
        for point in summary.points().into_iter().filter(|point| self.is_at(point)) {
            for run in summary.runs_of(point, &self.scheme) {
                let is_equal = figure(run, &self.figure)? == figure(run, other)?;
                *seeds.entry(run.seed).or_insert(true) &= is_equal;
            }
        }
        let (count, held) = (seeds.len(), seeds.values().filter(|held| **held).count());
        let share = held as f64 / count as f64;
        (count > 0).then_some(Measured {
            figure: share,
            interval: None,
            extremes: None,
            seeds: count,
        })
    }

    /// How much the ratio to the baseline changes from each value of the key to the next, in the order of the runs.
    fn growth(&self, key: &str, kind: Kind, summary: &Summary) -> Option<Vec<Measured>> {
        let baseline = self.baseline.as_deref()?;
        let mut places: Vec<(&str, Vec<&Point>)> = Vec::new();
        for point in summary.points().into_iter().filter(|point| self.is_at(point)) {
            let value = point.get(key)?;
            match places.iter_mut().find(|(known, _)| *known == value) {
                Some((_, points)) => points.push(point),
                None => places.push((value, vec![point])),
            }
        }
        let is_one = |points: &[&Point]| self.reach.is_some() || points.len() == 1;
        let logs = places.iter().map(|(_, points)| {
            let of_point = || self.logs_by_seed(kind, summary, points, baseline);
            is_one(points).then(of_point).flatten()
        });
        let logs: Vec<BTreeMap<u64, f64>> = logs.collect::<Option<_>>()?;
        let steps = logs.windows(2).map(|pair| {
            let step = |(seed, log): (&u64, &f64)| Some(log - pair[0].get(seed)?);
            let found = compared(kind, &pair[1].iter().filter_map(step).collect::<Vec<_>>())?;
            // If the measure has a reach, these are the jackknife's values, and not figures of a seed.
            let extremes = found.extremes.filter(|_| self.reach.is_none());
            Some(Measured { extremes, ..found })
        });
        steps.collect()
    }

    /// The reason why the runs do not have the figure, as a sentence without its full stop.
    pub(crate) fn missing(&self, summary: Option<&Summary>) -> String {
        let experiment = format!("experiments/{}.toml", self.experiment);
        let Some(summary) = summary else {
            return format!("no table has it yet, {experiment} measures it");
        };
        let known = summary.schemes();
        if let Some(scheme) = self.schemes().into_iter().find(|name| !known.contains(name)) {
            return format!("{experiment} has no scheme `{scheme}`, but {}", known.join(", "));
        }
        if !summary.points().into_iter().any(|point| self.is_at(point)) {
            return format!("{experiment} has no run at {}", pairs(&self.at));
        }
        let (figure, schemes) = (&self.figure, self.schemes().join(" and "));
        match &self.reach {
            Some(Reach { key, least }) => format!(
                "`{figure}` of {schemes} in {experiment} does not fall below {least} at any {key}"
            ),
            None => {
                format!("the runs of {experiment} do not have the figure `{figure}` of {schemes}")
            }
        }
    }

    /// Checks the measure for claims of `kind`. The error says what is wrong.
    pub(crate) fn check(&self, kind: Kind) -> Result<(), String> {
        if self.equals.is_some() != (kind == Kind::Property) {
            return Err(
                "`equals` is for properties, which need it: the figure that `figure` has to equal in every run."
                    .to_owned(),
            );
        }
        if kind == Kind::Property && (self.reach.is_some() || self.over.is_some()) {
            return Err("A property holds at all points: leave `reach` and `over` out.".to_owned());
        }
        if self.grows_along.is_some() && kind != Kind::Order {
            return Err("`grows_along` is for orders.".to_owned());
        }
        if self.baseline.is_some() != kind.compares() {
            return Err(
                "`baseline` is for reductions, gaps, ratios and orders, which need it.".to_owned()
            );
        }
        if self.baseline.is_none() && !self.baseline_at.is_empty() {
            return Err("`baseline_at` needs a `baseline`.".to_owned());
        }
        match std::iter::once(&self.figure).chain(&self.equals).find(|figure| !is_known(figure)) {
            Some(figure) => Err(format!("`{figure}` is no figure of a run's summary.")),
            None => Ok(()),
        }
    }

    /// The points that count, in groups. A group is a single point, or all points that differ only in the key of
    /// `reach`, or all points together if `over` is their mean.
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
        has_values(point, &self.at)
    }

    /// The figure of some points together.
    pub(crate) fn at_points(
        &self,
        kind: Kind,
        summary: &Summary,
        points: &[&Point],
    ) -> Option<Measured> {
        let found = self.over_seeds(kind, summary, points)?;
        match &self.reach {
            Some(reach) => {
                let extremes = self.extremes_alone(reach, kind, summary, points)?;
                Some(Measured { extremes: Some(extremes), ..found })
            }
            None => Some(found),
        }
    }

    /// The least and the most that the seeds' own reaches give. They cannot come from the jackknife, whose value for a
    /// seed is not a figure of this seed's runs. `None` if no figure falls below the limit: then the runs do not tell
    /// an order either.
    fn extremes_alone(
        &self,
        reach: &Reach,
        kind: Kind,
        summary: &Summary,
        points: &[&Point],
    ) -> Option<(f64, f64)> {
        let ours = self.steps(reach, summary, points, &self.scheme)?;
        let Some(baseline) = &self.baseline else {
            let figures = reach.alone(&ours)?.into_values().map(|own| own / self.unit);
            return absolute(&figures.collect::<Vec<_>>())?.extremes;
        };
        let there = self.points_of_baseline(summary, points)?;
        let theirs = self.steps(reach, summary, &there, baseline)?;
        if !reach.is_known(&ours) && !reach.is_known(&theirs) {
            return None;
        }
        let logs = logs_of_ratios(&reach.alone(&ours)?, &reach.alone(&theirs)?);
        compared(kind, &logs.into_values().collect::<Vec<_>>())?.extremes
    }

    /// The figure of some points together, over seeds.
    fn over_seeds(&self, kind: Kind, summary: &Summary, points: &[&Point]) -> Option<Measured> {
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
        let logs: Vec<f64> = mean_by_seed(&logs?)?.into_values().collect();
        let has_ratios = logs.iter().all(|log| log.is_finite());
        if kind != Kind::Order || has_ratios {
            return compared(kind, &logs);
        }
        let ours = self.by_seed(kind, summary, points, &self.scheme)?;
        let there = self.points_of_baseline(summary, points)?;
        let theirs = self.by_seed(kind, summary, &there, baseline)?;
        let pair = |(seed, own): (&u64, &f64)| Some((*own, *theirs.get(seed)?));
        gap_of_means(&ours.iter().filter_map(pair).collect::<Vec<_>>())
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
        Some(logs_of_ratios(&ours, &theirs))
    }

    /// The baseline's points: the same points with the values of `baseline_at`.
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

    /// The figure of each seed; `None` if some run is incomplete.
    fn by_seed(
        &self,
        kind: Kind,
        summary: &Summary,
        points: &[&Point],
        scheme: &str,
    ) -> Option<BTreeMap<u64, f64>> {
        let Some(reach) = &self.reach else {
            let all: Option<Vec<_>> =
                points.iter().map(|point| self.at_point(summary, point, scheme)).collect();
            return mean_by_seed(&all?);
        };
        let steps = self.steps(reach, summary, points, scheme)?;
        reach.of_seeds(&steps, kind == Kind::Order && self.grows_along.is_none())
    }

    /// The figures of all seeds along the key of `reach`; `None` if some run is incomplete.
    fn steps(
        &self,
        reach: &Reach,
        summary: &Summary,
        points: &[&Point],
        scheme: &str,
    ) -> Option<Steps> {
        let mut steps = Steps::default();
        for point in points {
            let value = point.get(&reach.key)?.parse().ok()?;
            let (seeds, figures) = self.at_point(summary, point, scheme)?.into_iter().unzip();
            steps.seeds = seeds;
            steps.values.push((value, figures));
        }
        steps.values.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        Some(steps)
    }

    /// The figure of each seed at one point; `None` if some run is incomplete.
    fn at_point(
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

/// The logarithm of each seed's ratio.
fn logs_of_ratios(ours: &BTreeMap<u64, f64>, theirs: &BTreeMap<u64, f64>) -> BTreeMap<u64, f64> {
    let log = |(seed, own): (&u64, &f64)| Some((*seed, (own / theirs.get(seed)?).ln()));
    ours.iter().filter_map(log).collect()
}

#[cfg(test)]
mod tests;
