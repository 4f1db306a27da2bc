//! The figures of a scheme at a point over its seeds, which both tables and charts show.

use flowsched_experiment::results::{
    Comparison, Distribution, OneByOne, OverSeeds, Point, RunSummary, Schedule, SizeClass, Summary,
    World,
};

/// All flows, then each class: the order of tables.
pub(crate) const CLASSES: [Option<SizeClass>; 4] =
    [None, Some(SizeClass::Small), Some(SizeClass::Medium), Some(SizeClass::Large)];

/// The title of a class of flows.
pub(crate) fn class_title(class: Option<SizeClass>) -> String {
    match class {
        None => "All flows".to_owned(),
        Some(SizeClass::Small) => "Small flows, up to 100 KB".to_owned(),
        Some(SizeClass::Medium) => "Medium flows, 100 KB to 10 MB".to_owned(),
        Some(SizeClass::Large) => "Large flows, over 10 MB".to_owned(),
    }
}

/// One scheme at one point.
pub(crate) struct Row<'a> {
    pub scheme: &'a str,
    /// The scheme's runs, one per seed: those that are complete, or all if none is.
    pub runs: Vec<&'a RunSummary>,
    /// The comparison with the first scheme, which has none itself.
    pub comparison: Option<&'a Comparison>,
}

/// What the report says of a schedule if another one may be better.
const NO_BOUND: &str = "here a heuristic, not a bound";

/// The schemes at `point`, in the order of the experiment.
pub(crate) fn rows<'a>(summary: &'a Summary, point: &'a Point) -> Vec<Row<'a>> {
    let row = |scheme| {
        let runs: Vec<&RunSummary> = summary.runs_of(point, scheme).collect();
        let complete: Vec<&RunSummary> = runs.iter().copied().filter(|r| r.complete).collect();
        Row {
            scheme,
            runs: if complete.is_empty() { runs } else { complete },
            comparison: summary.comparison(point, scheme),
        }
    };
    summary.schemes().into_iter().map(row).filter(|row| !row.runs.is_empty()).collect()
}

impl Row<'_> {
    /// A figure of the FCT in microseconds; `None` if the class has no finished flow.
    pub fn fct_us(
        &self,
        class: Option<SizeClass>,
        figure: fn(&Distribution) -> Option<f64>,
    ) -> Option<OverSeeds> {
        let values = self.runs.iter().filter_map(|run| figure(run.fct_us.get(class)));
        OverSeeds::from_values(&values.collect::<Vec<_>>())
    }

    /// The sum of a count over the seeds.
    pub fn total(&self, count: impl Fn(&RunSummary) -> u64) -> u64 {
        self.runs.iter().map(|run| count(run)).sum()
    }

    /// The sum over the seeds of a count that some runs do not have; `None` if any run lacks it.
    pub fn counted(&self, count: impl Fn(&RunSummary) -> Option<u64>) -> Option<u64> {
        self.runs.iter().map(|run| count(run)).sum()
    }

    /// The share of deadlines that were met; `None` if no measured flow has one.
    pub fn deadlines_met(&self) -> Option<f64> {
        let flows = self.total(|run| run.deadline_flows);
        (flows > 0).then(|| self.total(|run| run.deadlines_met) as f64 / flows as f64)
    }

    /// The convergence time in microseconds; `None` in scenes that have none.
    pub fn convergence_us(&self) -> Option<OverSeeds> {
        let values = self.runs.iter().filter_map(|run| run.convergence_us);
        OverSeeds::from_values(&values.collect::<Vec<_>>())
    }

    /// The bound that a schedule gives, in words; `None` for schemes that are not schedules.
    pub fn schedule_note(&self) -> Option<String> {
        let first = self.runs.first()?.schedule?;
        let worth = match first {
            _ if self.runs.iter().any(|run| run.schedule != Some(first)) => NO_BOUND,
            Schedule::LeastMeanFct => "no scheme has a lower mean FCT",
            Schedule::MostDeadlinesMet => "no scheme meets more deadlines",
            Schedule::Heuristic => NO_BOUND,
        };
        Some(format!(
            "{} is a schedule of flows, without packets or headers: {worth}.",
            self.scheme
        ))
    }

    /// How single flows fare against the first scheme, in words; `None` for the first scheme.
    pub fn one_by_one_note(&self) -> Option<String> {
        let comparison = self.comparison?;
        let OneByOne { halved, longer, doubled, worst } = comparison.fct.all.one_by_one;
        Some(format!(
            "Flow by flow, under {} {:.1}% take at most half as long as under {}, {:.1}% longer, \
             {:.2}% at least twice as long; at worst {:.2} times as long.",
            self.scheme,
            100.0 * halved?,
            comparison.against,
            100.0 * longer?,
            100.0 * doubled?,
            worst?
        ))
    }

    /// Finished flows of a class, over the seeds.
    pub fn finished(&self, class: Option<SizeClass>) -> u64 {
        self.total(|run| run.fct_us.get(class).count)
    }
}

/// The name of the scheme that changes are relative to.
pub(crate) fn against(summary: &Summary) -> Option<&str> {
    summary.comparisons.first().map(|comparison| comparison.against.as_str())
}

/// The number of flows that comparisons at `point` leave out: the largest of any scheme.
pub(crate) fn left_out(rows: &[Row<'_>]) -> u64 {
    let comparisons = rows.iter().filter_map(|row| row.comparison);
    comparisons.map(|comparison| comparison.fct.all.left_out).max().unwrap_or(0)
}

/// The meaning of the intervals, in words; `None` if there are none.
pub(crate) fn interval_note(summary: &Summary) -> Option<String> {
    let compared = summary.comparisons.iter().map(|comparison| &comparison.fct.all);
    let seeds = compared.filter(|fct| !fct.nothing_is_random()).map(|fct| fct.seeds).max()?;
    Some(match seeds {
        0 => return None,
        1 => "95% confidence interval over the flows of one seed; more seeds give a better one"
            .to_owned(),
        _ => format!("95% confidence interval over {seeds} seeds"),
    })
}

/// What is missing from incomplete results, in words.
pub(crate) fn partial_note(summary: &Summary) -> Option<String> {
    if summary.complete {
        return None;
    }
    let stopped = summary.runs.iter().filter(|run| !run.complete).count();
    let whole = summary.runs.len() - stopped;
    Some(format!(
        "Partial results: the experiment was stopped. Runs that went to their end: {whole}; cut \
         short, and not compared: {stopped}. Others may be missing."
    ))
}

/// Where the flows' completion times end.
pub(crate) fn fct(summary: &Summary) -> &'static str {
    match summary.program.world {
        World::Simulator | World::Lab => "FCT at the sender",
        World::Machines => "FCT at the client",
    }
}

/// The largest number of seeds of any scheme at any point.
pub(crate) fn seeds(summary: &Summary) -> usize {
    let schemes = summary.schemes();
    let count = |point| {
        schemes.iter().map(|scheme| summary.runs_of(point, scheme).count()).max().unwrap_or(0)
    };
    summary.points().into_iter().map(count).max().unwrap_or(0)
}
