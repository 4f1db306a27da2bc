//! The figures of the parts of a workload at a point: what the terminal's and the page's table both show.

use flowsched_experiment::results::{Distribution, OverSeeds, PartSummary};

use crate::overview::Row;

/// What a query is, in words.
pub(crate) const QUERY_NOTE: &str = "Flows that start together to the same host are a query. It ends when the host has \
    the last byte of all of them, which their senders learn later.";

/// One part, with a line for each scheme.
pub(crate) struct Part<'a> {
    pub name: &'a str,
    pub lines: Vec<Line<'a>>,
}

/// One scheme's flows of one part, over the seeds.
pub(crate) struct Line<'a> {
    pub scheme: &'a str,
    parts: Vec<&'a PartSummary>,
}

/// The parts in the order of the experiment; none if its workload is not divided.
pub(crate) fn parts<'a>(rows: &[Row<'a>]) -> Vec<Part<'a>> {
    let Some(run) = rows.iter().find_map(|row| row.runs.first().copied()) else { return vec![] };
    let part = |name: &'a str| {
        let line = |row: &Row<'a>| {
            let all = row.runs.iter().flat_map(|run| &run.parts);
            Line { scheme: row.scheme, parts: all.filter(|part| part.name == name).collect() }
        };
        Part { name, lines: rows.iter().map(line).collect() }
    };
    run.parts.iter().map(|of| part(&of.name)).collect()
}

/// Whether hosts wait for several flows together.
pub(crate) fn has_queries(parts: &[Part<'_>]) -> bool {
    let waits = |part: &PartSummary| part.query_us.count > 0 && part.query_us.count < part.finished;
    parts.iter().flat_map(|part| &part.lines).flat_map(|line| &line.parts).any(|part| waits(part))
}

impl Line<'_> {
    /// Finished flows.
    pub fn finished(&self) -> u64 {
        self.parts.iter().map(|part| part.finished).sum()
    }

    /// A figure of the FCT in microseconds.
    pub fn fct_us(&self, figure: fn(&Distribution) -> Option<f64>) -> Option<f64> {
        self.over_seeds(|part| figure(&part.fct_us))
    }

    /// A figure of the time of queries in microseconds.
    pub fn query_us(&self, figure: fn(&Distribution) -> Option<f64>) -> Option<f64> {
        self.over_seeds(|part| figure(&part.query_us))
    }

    fn over_seeds(&self, figure: impl Fn(&PartSummary) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.parts.iter().filter_map(|part| figure(part)).collect();
        OverSeeds::from_values(&values).map(|found| found.mean)
    }
}
