//! Paired comparisons: the same flows under two schemes.
//!
//! The change of a figure is its relative difference, (scheme − first) / first. Only flows that
//! finished under both schemes count, and how many were left out is said. With several seeds
//! the change is the mean of the seeds' changes, and its 95% interval is Student's t over the
//! seeds. With one seed, the interval of the mean FCT's change is that of a ratio of means over
//! the flows (Cochran, Sampling Techniques, 6.4); as flows of one run share queues it is
//! somewhat too narrow, and no interval is given for percentiles.

use flowsched_units::Time;
use serde::{Deserialize, Serialize};

use super::distribution::{mean, percentile};
use super::student::t_975;
use super::{OneByOne, PerClass, Point, RunRecord, SizeClass};

/// One scheme against the first one, at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The point of the sweep.
    pub point: Point,
    /// The scheme.
    pub scheme: String,
    /// The scheme that it is compared with: the first in the experiment file.
    pub against: String,
    /// How FCT differs.
    pub fct: PerClass<ClassComparison>,
}

/// How FCT differs in one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassComparison {
    /// Seeds with flows to compare. From two on, the intervals are over seeds.
    pub seeds: u64,
    /// Flows compared, over all seeds.
    pub pairs: u64,
    /// Measured flows that did not finish under both.
    pub left_out: u64,
    /// Of the mean.
    pub mean: Change,
    /// Of the 99th percentile.
    pub p99: Change,
    /// How flows fare one by one.
    #[serde(default)]
    pub one_by_one: OneByOne,
}

/// A relative difference with its 95% confidence interval: -0.2 is 20% less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The difference; `None` where there is nothing to compare.
    pub change: Option<f64>,
    /// Where the interval starts; `None` where there is too little to tell.
    pub low: Option<f64>,
    /// Where it ends.
    pub high: Option<f64>,
}

impl Change {
    fn interval(change: f64, half_width: f64) -> Change {
        let known = half_width.is_finite();
        Change {
            change: Some(change),
            low: known.then_some(change - half_width),
            high: known.then_some(change + half_width),
        }
    }
}

/// What became of one measured flow.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    flow: u64,
    class: SizeClass,
    fct: Option<Time>,
}

/// What became of the measured flows of one run, by flow number.
#[derive(Clone, Debug)]
pub(super) struct Outcomes(Vec<Outcome>);

impl Outcomes {
    pub(super) fn of(run: &RunRecord) -> Outcomes {
        let measured = run.flows.iter().filter(|flow| flow.measured);
        let outcome =
            |flow: &super::FlowRow| Outcome { flow: flow.flow, class: flow.class(), fct: flow.fct };
        let mut outcomes: Vec<Outcome> = measured.map(outcome).collect();
        outcomes.sort_by_key(|outcome| outcome.flow);
        Outcomes(outcomes)
    }
}

/// Compares the runs of two schemes: for each seed the first scheme's and the other's.
pub(super) fn compare(
    seeds: &[(&Outcomes, &Outcomes)],
    class: Option<SizeClass>,
) -> ClassComparison {
    let mut comparison = ClassComparison::default();
    let (mut of_mean, mut of_p99, mut over_flows) = (Vec::new(), Vec::new(), f64::INFINITY);
    let mut ratios = Vec::new();
    for (first, other) in seeds {
        let pairs = Pairs::of(first, other, class);
        comparison.pairs += pairs.first.len() as u64;
        comparison.left_out += pairs.left_out;
        if let Some((change, half_width)) = pairs.ratio_of_means() {
            of_mean.push(change);
            over_flows = half_width;
        }
        of_p99.extend(pairs.change_of_p99());
        ratios.extend(pairs.ratios());
    }
    comparison.seeds = of_mean.len() as u64;
    comparison.mean = over_seeds(&of_mean, over_flows);
    comparison.p99 = over_seeds(&of_p99, f64::INFINITY);
    comparison.one_by_one = OneByOne::of(&ratios);
    comparison
}

/// The mean of the seeds' changes with Student's interval, or `alone` if there is but one.
fn over_seeds(changes: &[f64], alone: f64) -> Change {
    let Some(change) = mean(changes) else { return Change::default() };
    if changes.len() == 1 {
        return Change::interval(change, alone);
    }
    let n = changes.len() as f64;
    let squares: f64 = changes.iter().map(|c| (c - change) * (c - change)).sum();
    let standard_error = (squares / (n - 1.0) / n).sqrt();
    Change::interval(change, t_975(changes.len() as u64 - 1) * standard_error)
}

/// The FCTs in microseconds of the flows that finished under both schemes.
struct Pairs {
    first: Vec<f64>,
    other: Vec<f64>,
    left_out: u64,
}

impl Pairs {
    fn of(first: &Outcomes, other: &Outcomes, class: Option<SizeClass>) -> Pairs {
        let mut pairs = Pairs { first: Vec::new(), other: Vec::new(), left_out: 0 };
        let asked = |outcome: &&Outcome| class.is_none_or(|class| class == outcome.class);
        let mut others = other.0.iter().filter(asked).peekable();
        for mine in first.0.iter().filter(asked) {
            while others.next_if(|theirs| theirs.flow < mine.flow).is_some() {
                pairs.left_out += 1;
            }
            let theirs = others.next_if(|theirs| theirs.flow == mine.flow);
            match (mine.fct, theirs.and_then(|theirs| theirs.fct)) {
                (Some(mine), Some(theirs)) => {
                    pairs.first.push(mine.as_us_f64());
                    pairs.other.push(theirs.as_us_f64());
                }
                _ => pairs.left_out += 1,
            }
        }
        pairs.left_out += others.count() as u64;
        pairs
    }

    /// The change of the mean, and half the width of its interval over the flows.
    fn ratio_of_means(&self) -> Option<(f64, f64)> {
        let first = mean(&self.first).filter(|first| *first > 0.0)?;
        let ratio = mean(&self.other)? / first;
        let residual = |(first, other): (&f64, &f64)| other - ratio * first;
        let squares: f64 = self.first.iter().zip(&self.other).map(residual).map(|r| r * r).sum();
        let n = self.first.len() as f64;
        let standard_error = (squares / (n - 1.0) / n).sqrt() / first;
        let half_width = t_975(self.first.len() as u64 - 1) * standard_error;
        Some((ratio - 1.0, if half_width.is_nan() { f64::INFINITY } else { half_width }))
    }

    fn ratios(&self) -> impl Iterator<Item = f64> {
        self.first.iter().zip(&self.other).map(|(first, other)| other / first)
    }

    fn change_of_p99(&self) -> Option<f64> {
        let p99 = |values: &[f64]| {
            let mut sorted = values.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            percentile(&sorted, 990)
        };
        let first = p99(&self.first).filter(|first| *first > 0.0)?;
        Some(p99(&self.other)? / first - 1.0)
    }
}
