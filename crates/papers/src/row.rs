//! A row of the table: a published value, what was measured, and the verdict.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::claim::{Claim, ClaimedValue, Claims};
use crate::curve::Curve;
use crate::drawing::Drawing;
use crate::kind::{Bound, Kind};
use crate::late::LateRuns;
use crate::measure::Measure;
use crate::measured::Measured;
use crate::published::Published;
use crate::runs::RunsOfStudies;
use crate::setting::Study;
use crate::share::Share;
use crate::verdict::Verdict;

/// The reason why a measured figure is not a number.
const NOT_FINITE: &str =
    "a seed's ratio has no finite value: the figure of one of the two schemes is 0";

/// The relative difference up to which figures of seeds are the same, because sums are rounded.
const ROUNDING: f64 = 1e-12;

/// The most digits that a measured figure has beyond the usual ones.
const MOST_MORE_DIGITS: usize = 3;

/// What is known about one published value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The claim.
    pub id: String,
    /// The value's name; empty if the claim has only one value.
    pub value: String,
    /// The kind of the numbers.
    pub kind: Kind,
    /// How exact the paper says the value is.
    pub bound: Option<Bound>,
    /// What was published.
    pub published: Option<Published>,
    /// The measured figure.
    pub measured: Option<f64>,
    /// Its 95% interval over seeds.
    pub interval: Option<(f64, f64)>,
    /// The least and the most of the seeds' figures; `None` for a reach, which is a figure of all seeds together.
    /// Tables that were recorded without them are judged by the interval alone.
    #[serde(default, deserialize_with = "both", skip_serializing_if = "Option::is_none")]
    pub extremes: Option<(f64, f64)>,
    /// The verdict on the published value.
    pub verdict: Verdict,
    /// Why nothing was measured, as a sentence without its full stop.
    pub reason: Option<String>,
    /// The scale of the runs: `"quick"` or `"paper"`, and with real packets `"lab, quick"` or `"lab, paper"`.
    pub scale: String,
    /// The number of seeds; `None` if nothing was run.
    pub seeds: Option<usize>,
    /// The cost of the runs that the figure is from, in seconds of one processor.
    pub cpu_s: Option<f64>,
    /// The hash of the experiment whose runs the figure is from, with all its values and input files; `None` in
    /// tables that were recorded without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment_hash: Option<String>,
    /// The figure along the sweep of its experiment, if it is a figure of single points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<Curve>,
    /// The figure of each scheme that the value compares, along the sweep or at its only point.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schemes: Vec<Curve>,
    /// The figures that are drawn from the tables of the runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drawings: Vec<Drawing>,
}

/// Both ends, if both are numbers. In JSON, an infinite end is null.
fn both<'de, D: Deserializer<'de>>(ends: D) -> Result<Option<(f64, f64)>, D::Error> {
    let ends: Option<(Option<f64>, Option<f64>)> = Deserialize::deserialize(ends)?;
    Ok(ends.and_then(|(least, most)| least.zip(most)))
}

impl Row {
    /// The row of a claim's value, given the runs.
    pub fn new(claim: &Claim, value: &ClaimedValue, runs: &RunsOfStudies, scale: &str) -> Row {
        if let Some(share) = &value.share {
            return Row::of_share(claim, value, share, scale);
        }
        let measure = value.measure.as_ref();
        let row = Row::under(claim, value, claim.kind, measure, runs, scale);
        row.with_curves(measure, runs)
    }

    /// The row of a value that is a share of small flows.
    pub(crate) fn of_share(claim: &Claim, value: &ClaimedValue, share: &Share, scale: &str) -> Row {
        let row = Row::under(claim, value, claim.kind, None, &BTreeMap::new(), scale);
        // The claims were checked when they were read.
        let (Ok(found), Some(published)) = (share.compute(), value.published) else { return row };
        Row {
            measured: Some(found.figure),
            interval: found.interval,
            verdict: Verdict::new(claim.kind, row.bound, published, &found),
            reason: None,
            ..row
        }
    }

    /// The row of a claim's value with real packets. It decides nothing if the lab was late in one of the runs that its
    /// figure is from.
    pub fn in_lab(
        claim: &Claim,
        value: &ClaimedValue,
        runs: &RunsOfStudies,
        late: &BTreeMap<Study, LateRuns>,
        scale: &str,
    ) -> Row {
        let measure = value.lab.as_ref();
        let row = Row::under(claim, value, claim.kind, measure, runs, scale);
        let row = row.with_curves(measure, runs);
        let lateness = measure.and_then(|one| late.get(&one.study())?.of(&one.schemes()));
        match lateness {
            Some(reason) => Row { verdict: Verdict::Undecided, reason: Some(reason), ..row },
            None => row,
        }
    }

    /// The row if the value is measured by `measure`, as a figure of `kind`.
    pub fn under(
        claim: &Claim,
        value: &ClaimedValue,
        kind: Kind,
        measure: Option<&Measure>,
        runs: &RunsOfStudies,
        scale: &str,
    ) -> Row {
        let study = measure.and_then(|one| runs.get(&one.study()));
        let run = measure.zip(study.map(|one| &one.summary));
        let measured = run.and_then(|(one, summary)| one.of_runs(kind, summary));
        let verdict = match (value.published, &measured) {
            (Some(published), Some(found)) => {
                Verdict::new(kind, claim.bound_of(value), published, found)
            }
            (None, Some(found)) => Verdict::of_property(found.figure, found.seeds),
            _ if value.needs_the_lab => Verdict::NeedsTheLab,
            _ if run.is_some() => Verdict::Undecided,
            _ => Verdict::NotRun,
        };
        let missing = || measure.map(|one| one.missing(run.map(|(_, summary)| summary)));
        let reason = match (verdict, &measured) {
            (Verdict::NotRun, _) => value.not_run.clone().or_else(missing),
            (Verdict::Undecided, None) => missing(),
            (_, Some(found)) if !found.figure.is_finite() => Some(NOT_FINITE.to_owned()),
            _ => None,
        };
        Row {
            id: claim.id.clone(),
            value: value.name.clone(),
            kind,
            bound: claim.bound_of(value),
            published: value.published,
            measured: measured.map(|one| one.figure),
            interval: measured.and_then(|one| one.interval),
            extremes: measured.and_then(|one| one.extremes),
            verdict,
            reason,
            scale: scale.to_owned(),
            seeds: measured.map(|one| one.seeds),
            cpu_s: run.map(|(_, summary)| summary.runs.iter().map(|run| run.cpu_s).sum()),
            experiment_hash: study.map(|one| one.experiment_hash.clone()),
            curve: None,
            schemes: Vec::new(),
            drawings: Vec::new(),
        }
    }

    fn with_curves(self, measure: Option<&Measure>, runs: &RunsOfStudies) -> Row {
        let run = measure.and_then(|one| Some((one, &runs.get(&one.study())?.summary)));
        let Some((measure, summary)) = run else { return self };
        let is_number = self.published.and_then(Published::ends).is_some();
        let curve = if is_number { measure.curve(self.kind, summary) } else { None };
        let schemes = measure.curves_of_schemes(self.kind, summary);
        Row { curve, schemes, ..self }
    }

    /// A recorded row, judged by the present claims. The verdict follows from the figures and from what was published,
    /// and from nothing else. `None` if the claims no longer have the value.
    pub fn judged(self, claims: &Claims) -> Option<Row> {
        let kind = claims.value(&self.id, &self.value)?.0.kind;
        self.judged_as(kind, claims)
    }

    /// A recorded row of a reading, judged by the present claims. Under a reading the figure may be of another kind.
    pub(crate) fn judged_as(self, kind: Kind, claims: &Claims) -> Option<Row> {
        let (claim, value) = claims.value(&self.id, &self.value)?;
        let (bound, published) = (claim.bound_of(value), value.published);
        let row = Row { kind, bound, published, ..self };
        // Without a figure, runs decide nothing. Tables of earlier versions call this "not run" too.
        let is_idle =
            row.cpu_s.is_none() && matches!(row.verdict, Verdict::NotRun | Verdict::NeedsTheLab);
        let (verdict, reason) = match (row.measured, published) {
            (Some(figure), Some(published)) if row.reason.is_none() => {
                let seeds = row.seeds.unwrap_or_default();
                let measured =
                    Measured { figure, interval: row.interval, extremes: row.extremes, seeds };
                (Verdict::new(kind, bound, published, &measured), None)
            }
            (Some(share), None) if kind == Kind::Property && row.reason.is_none() => {
                (Verdict::of_property(share, row.seeds.unwrap_or_default()), None)
            }
            (None, _) if is_idle => (row.verdict, row.reason),
            // The row's runs decide nothing, as when the lab was late.
            (_, _) => (Verdict::Undecided, row.reason.or_else(|| Some(NOT_FINITE.to_owned()))),
        };
        Some(Row { verdict, reason, ..row })
    }

    /// Whether the row is of runs with real packets.
    pub fn is_in_lab(&self) -> bool {
        self.scale.starts_with("lab")
    }

    /// The scale, in words: `at quick scale`, or `at quick scale in the lab`.
    pub fn scale_in_words(&self) -> String {
        match self.scale.strip_prefix("lab, ") {
            Some(scale) => format!("at {scale} scale in the lab"),
            None => format!("at {} scale", self.scale),
        }
    }

    /// The names of the claim and of the value.
    pub fn name(&self) -> String {
        match self.value.as_str() {
            "" => self.id.clone(),
            name => format!("{}: {name}", self.id),
        }
    }

    /// What was published, in words, to the last digit.
    pub fn published_in_words(&self) -> String {
        let number = |number| self.kind.in_full(number);
        let published = match self.published {
            None if self.kind == Kind::Property => "holds".to_owned(),
            None => String::new(),
            Some(Published::Number(only)) => number(only),
            Some(Published::Range([low, high])) => format!("{} to {}", number(low), number(high)),
            Some(Published::Order(expected)) => expected.words().to_owned(),
        };
        self.bound.map_or("", Bound::words).to_owned() + &published
    }

    /// Whether the figure was computed without a run.
    pub fn is_computed(&self) -> bool {
        self.measured.is_some() && self.seeds.is_none()
    }

    /// Whether each of several seeds gives the same figure, as where nothing is random.
    pub fn is_same_in_every_seed(&self) -> bool {
        let (Some(figure), Some((low, high))) = (self.measured, self.interval) else {
            return false;
        };
        let size = figure.abs() + if self.kind.compares() { 1.0 } else { 0.0 };
        self.seeds.is_some_and(|seeds| seeds > 1) && high - low <= ROUNDING * size
    }

    /// The measured figure in words, with its interval unless every seed gives the same figure or no run was needed.
    /// The numbers have enough digits to differ from the published one. For a property, says in which seeds it holds.
    pub fn figure_in_words(&self) -> String {
        if let (Kind::Property, Some(share), Some(seeds)) = (self.kind, self.measured, self.seeds) {
            return match (share * seeds as f64).round() {
                held if held == seeds as f64 => "holds in every seed".to_owned(),
                held => format!("holds in {held} of {seeds} seeds"),
            };
        }
        let more = self.more_digits();
        let number = |number| self.kind.with_digits(number, more);
        let is_exact = self.is_computed() || self.is_same_in_every_seed();
        let interval = self.interval.filter(|_| !is_exact);
        let interval = interval
            .map_or(String::new(), |(low, high)| format!(" [{}, {}]", number(low), number(high)));
        self.measured.map_or(String::new(), |figure| number(figure) + &interval)
    }

    /// How many digits the measured figure and its interval have beyond the usual ones. With them, the figure has two
    /// significant digits, and none of these numbers is printed like the published one unless they are equal.
    fn more_digits(&self) -> usize {
        let Some(figure) = self.measured else { return 0 };
        let ends = self.interval.into_iter().flat_map(|(low, high)| [low, high]);
        let measured: Vec<f64> = ends.chain([figure]).filter(|number| number.is_finite()).collect();
        let published = self.published.and_then(Published::ends);
        let published: Vec<f64> =
            published.into_iter().flat_map(|(low, high)| [low, high]).collect();
        let tells = |more: &usize| {
            let said = |number| self.kind.with_digits(number, *more);
            let is_told = |one: &f64| {
                published.iter().all(|other| {
                    (one - other).abs() <= ROUNDING * other.abs() || said(*one) != said(*other)
                })
            };
            self.kind.has_two_digits(figure, *more) && measured.iter().all(is_told)
        };
        (0..=MOST_MORE_DIGITS).find(tells).unwrap_or_default()
    }

    /// What was measured, in words, with its interval or the reason why it has none.
    pub fn measured_in_words(&self) -> String {
        let same = if self.is_same_in_every_seed() { ", every seed gives the same" } else { "" };
        self.figure_in_words() + same
    }

    /// The scale and the number of seeds: `paper, 5 seeds`. Without seeds it is the scale of the runs, which lack the
    /// figure; `computed` if nothing had to be run; empty if nothing was.
    pub fn runs_in_words(&self) -> String {
        let seeds = |seeds| {
            format!("{}, {seeds} {}", self.scale, if seeds == 1 { "seed" } else { "seeds" })
        };
        match self.seeds {
            None if self.is_computed() => "computed".to_owned(),
            None if self.cpu_s.is_some() => self.scale.clone(),
            known => known.map_or(String::new(), seeds),
        }
    }

    /// The cost of the row's runs on one processor, such as `12 s`.
    pub fn cost_in_words(&self) -> String {
        let cost = |cost: f64| match cost {
            ..1.0 => "< 1 s".to_owned(),
            _ => format!("{cost:.0} s"),
        };
        self.cpu_s.map_or(String::new(), cost)
    }

    /// The verdict, and the reason if there is no figure or it does not count.
    pub fn verdict_in_words(&self) -> String {
        match &self.reason {
            Some(reason) => format!("{}: {reason}", self.verdict.words()),
            None => self.verdict.words().to_owned(),
        }
    }
}

#[cfg(test)]
impl Row {
    /// A row with a verdict and nothing else.
    pub(crate) fn without_figures(kind: Kind, verdict: Verdict) -> Row {
        Row {
            id: String::new(),
            value: String::new(),
            kind,
            bound: None,
            published: None,
            measured: None,
            interval: None,
            extremes: None,
            verdict,
            reason: None,
            scale: String::new(),
            seeds: None,
            cpu_s: None,
            experiment_hash: None,
            curve: None,
            schemes: Vec::new(),
            drawings: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::{At, OnCurve};

    #[test]
    fn a_figure_that_every_seed_gives_has_no_interval_in_words() {
        let of = |interval, seeds| Row {
            measured: Some(-0.341),
            interval: Some(interval),
            seeds: Some(seeds),
            ..Row::without_figures(Kind::Gap, Verdict::Reproduced)
        };
        let same = of((-0.341, -0.341 + 1e-16), 5);
        assert_eq!(same.figure_in_words(), "-34.1%");
        assert_eq!(same.measured_in_words(), "-34.1%, every seed gives the same");
        let differs = of((-0.3412, -0.3408), 5);
        assert_eq!(differs.measured_in_words(), "-34.1% [-34.1%, -34.1%]");
        assert!(!of((-0.341, -0.341), 1).is_same_in_every_seed());
    }

    #[test]
    fn a_measured_figure_has_the_digits_that_tell_it_from_the_published_one() {
        let said = |kind, published, figure, interval| {
            let published = Some(Published::Number(published));
            let (measured, interval, seeds) = (Some(figure), Some(interval), Some(5));
            let row = Row {
                published,
                measured,
                interval,
                seeds,
                ..Row::without_figures(kind, Verdict::Undecided)
            };
            row.figure_in_words()
        };
        let reduction =
            |published, figure, interval| said(Kind::Reduction, published, figure, interval);
        assert_eq!(reduction(0.001, 0.00082, (0.00078, 0.00086)), "0.082% [0.078%, 0.086%]");
        assert_eq!(reduction(0.3, 0.312, (0.309, 0.315)), "31.2% [30.9%, 31.5%]");
        assert_eq!(reduction(0.3, 0.312, (0.3004, 0.324)), "31.20% [30.04%, 32.40%]");
        assert_eq!(reduction(0.3, 0.3, (0.29, 0.31)), "30.0% [29.0%, 31.0%]");
        assert_eq!(said(Kind::Value, 160.0, 160.3, (150.0, 170.0)), "160.3 [150.0, 170.0]");
        assert_eq!(reduction(0.3, 1e-9, (0.0, 2e-9)), "0.0% [0.0%, 0.0%]", "it is nothing");
    }

    #[test]
    fn a_property_says_in_which_seeds_it_holds() {
        let row = |share, seeds| Row {
            measured: Some(share),
            seeds: Some(seeds),
            ..Row::without_figures(Kind::Property, Verdict::Undecided)
        };
        assert_eq!(row(1.0, 5).measured_in_words(), "holds in every seed");
        assert_eq!(row(0.6, 5).measured_in_words(), "holds in 3 of 5 seeds");
        assert_eq!(row(0.6, 5).published_in_words(), "holds");
    }

    #[test]
    fn tables_without_the_curves_of_schemes_can_be_read() {
        let empty = Row::without_figures(Kind::Order, Verdict::NotRun);
        let old = serde_json::to_value(&empty).unwrap();
        assert!(old.get("schemes").is_none(), "{old}");
        assert_eq!(serde_json::from_value::<Row>(old).unwrap(), empty);
        let old =
            r#"{"key": "workload.load", "points": [{"at": 0.5, "measured": 2, "interval": null}]}"#;
        let points = vec![OnCurve { at: At::Number(0.5), measured: 2.0, interval: None }];
        let curve = Curve { scheme: String::new(), key: "workload.load".to_owned(), points };
        assert_eq!(serde_json::from_str::<Curve>(old).unwrap(), curve);
    }
}
