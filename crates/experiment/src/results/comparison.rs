//! Paired comparisons: the same flows under two schemes.
//!
//! Each seed gives a ratio, a figure under the other scheme over that under the first. Only flows
//! that finished under both schemes count, and the results say how many are left out. With several
//! seeds the change is the geometric mean of the seeds' ratios, less 1, and its 95% interval is
//! Student's t over the logs of the ratios. With one seed, the interval of the mean FCT's change is
//! that of a ratio of means over the flows (Cochran, Sampling Techniques, 6.4), carried to the log
//! scale by the delta method. It takes the flows to be independent. Percentiles of one seed have no
//! interval. Neither has any figure if two or more seeds give the same FCTs flow by flow: nothing
//! is random then, and there is one sample.

use serde::{Deserialize, Serialize};

use super::distribution::{mean, percentile};
use super::outcomes::{Outcome, Outcomes};
use super::samples::distinct;
use super::student::t_975;
use super::{Change, OneByOne, PerClass, Point, SizeClass};

/// The comparison of one scheme with the first one, at one point.
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
    /// Seeds with flows to compare. If there are two or more, intervals are over seeds.
    pub seeds: u64,
    /// The number of distinct results among these seeds. Seeds with the same FCTs flow by flow
    /// count once. 0 in older summaries.
    #[serde(default)]
    pub samples: u64,
    /// Pairs of flows, over all seeds.
    pub pairs: u64,
    /// Measured flows that did not finish under both schemes.
    pub left_out: u64,
    /// The change of the mean.
    pub mean: Change,
    /// The change of the 99th percentile.
    pub p99: Change,
    /// The FCT of each flow, compared with that of the same flow under the first scheme.
    #[serde(default)]
    pub one_by_one: OneByOne,
}

impl ClassComparison {
    /// Whether several seeds give the same FCTs flow by flow. The changes are then exact.
    pub fn nothing_is_random(&self) -> bool {
        self.seeds > 1 && self.samples == 1
    }
}

/// Compares the runs of two schemes. Each pair has the outcomes of the first and of the other
/// scheme with one seed.
pub(super) fn compare(
    seeds: &[(&Outcomes, &Outcomes)],
    class: Option<SizeClass>,
) -> ClassComparison {
    let all: Vec<Pairs> =
        seeds.iter().map(|(first, other)| Pairs::new(first, other, class)).collect();
    let compared: Vec<&Pairs> = all.iter().filter(|pairs| pairs.is_comparable()).collect();
    let ratios: Vec<f64> = all.iter().flat_map(Pairs::ratios).collect();
    let mut comparison = ClassComparison {
        seeds: compared.len() as u64,
        samples: distinct(&compared),
        pairs: ratios.len() as u64,
        left_out: all.iter().map(|pairs| pairs.left_out).sum(),
        one_by_one: OneByOne::from_ratios(&ratios),
        ..ClassComparison::default()
    };
    let logs = |log: fn(&Pairs) -> f64| compared.iter().map(|pairs| log(pairs)).collect();
    let (of_mean, of_p99): (Vec<f64>, Vec<f64>) =
        (logs(Pairs::log_ratio_of_means), logs(Pairs::log_ratio_of_p99));
    (comparison.mean, comparison.p99) = match compared[..] {
        [] => return comparison,
        [alone] => {
            (Change::within(of_mean[0], alone.half_width_over_flows()), Change::exact(of_p99[0]))
        }
        _ if comparison.nothing_is_random() => {
            (Change::exact(of_mean[0]), Change::exact(of_p99[0]))
        }
        _ => (Change::over_seeds(&of_mean), Change::over_seeds(&of_p99)),
    };
    comparison
}

/// The FCTs in microseconds of the flows that finished under both schemes.
#[derive(PartialEq)]
struct Pairs {
    first: Vec<f64>,
    other: Vec<f64>,
    left_out: u64,
}

impl Pairs {
    fn new(first: &Outcomes, other: &Outcomes, class: Option<SizeClass>) -> Pairs {
        let mut pairs = Pairs { first: Vec::new(), other: Vec::new(), left_out: 0 };
        let asked = |outcome: &&Outcome| class.is_none_or(|class| class == outcome.class);
        let mut others = other.flows.iter().filter(asked).peekable();
        for mine in first.flows.iter().filter(asked) {
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

    /// Whether there are flows to compare, with FCTs above 0.
    fn is_comparable(&self) -> bool {
        let takes_time = |fcts: &[f64]| fcts.iter().any(|fct| *fct > 0.0);
        takes_time(&self.first) && takes_time(&self.other)
    }

    /// The log of the ratio of means.
    fn log_ratio_of_means(&self) -> f64 {
        libm::log(mean(&self.other).unwrap_or(f64::NAN) / mean(&self.first).unwrap_or(f64::NAN))
    }

    /// Half the width of the 95% interval of the log of the ratio of means, over the flows. By the
    /// delta method, the standard error of the log is the standard error of the ratio, divided by
    /// the ratio.
    fn half_width_over_flows(&self) -> f64 {
        let log = self.log_ratio_of_means();
        let ratio = libm::exp(log);
        let residual = |(first, other): (&f64, &f64)| other - ratio * first;
        let squares: f64 = self.first.iter().zip(&self.other).map(residual).map(|r| r * r).sum();
        let n = self.first.len() as f64;
        let standard_error = (squares / (n - 1.0) / n).sqrt();
        let other = mean(&self.other).unwrap_or(f64::NAN);
        t_975(self.first.len() as u64 - 1) * standard_error / other
    }

    fn ratios(&self) -> impl Iterator<Item = f64> {
        self.first.iter().zip(&self.other).map(|(first, other)| other / first)
    }

    /// The log of the ratio of 99th percentiles.
    fn log_ratio_of_p99(&self) -> f64 {
        let p99 = |values: &[f64]| {
            let mut sorted = values.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            percentile(&sorted, 990).unwrap_or(f64::NAN)
        };
        libm::log(p99(&self.other) / p99(&self.first))
    }
}
