//! What a probe recorded over time: a chart for each port or flow and each figure that was recorded of it.
//!
//! What lives here: reading the probe's tables into curves of bounded length. What may not: drawing curves.

use std::collections::BTreeMap;
use std::fmt;

use flowsched_experiment::results::{
    Folder, Point, ProbedFlow, ProbedPort, ResultsError, RunKey, Summary,
};

use super::{bytes, context, plain, quantity, times};
use crate::chart::{Figure, Plot};
use crate::curves::{Curves, Dot, Panel, Series, Steps};
use crate::scale::{Axis, Quantity, Scale};
use crate::thinned::Thinned;

/// The most charts of one point: a page with more is slow to draw.
const MOST_CHARTS: usize = 60;

/// The curve of each scheme.
type OfSchemes = BTreeMap<String, Thinned>;
/// The charts of one point.
type Charts = BTreeMap<(Subject, Recorded), OfSchemes>;

/// What a probe recorded, by point.
#[derive(Debug, Default)]
pub(crate) struct OverTime(BTreeMap<Point, Charts>);

/// The port or flow that a chart is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Port { owner: String, peer: String },
    Flow(u64),
}

/// The figure that was recorded of a port or flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Recorded {
    Queue,
    Rate,
    Marks,
    Window,
    Alpha,
    Priority,
    InFlight,
}

impl OverTime {
    /// Reads what the probe recorded at `points`, under each scheme with its first seed.
    pub(crate) fn read(folder: &Folder, points: &[&Point]) -> Result<OverTime, ResultsError> {
        let mut all = OverTime::default();
        let is_drawn = |run: &RunKey| {
            let mut runs = folder.summary().runs.iter();
            let first = runs.find(|one| one.point == run.point && one.scheme == run.scheme);
            points.contains(&&run.point) && first.is_some_and(|first| first.seed == run.seed)
        };
        folder.probe_ports(|piece| {
            for row in piece.rows.iter().filter(|_| is_drawn(&piece.run)) {
                let port = &piece.ports[row.port.port as usize];
                let (owner, peer) = (port.owner.clone(), port.peer.clone());
                all.add_port(&piece.run, Subject::Port { owner, peer }, row);
            }
        })?;
        folder.probe_flows(|piece| {
            let drawn = piece.rows.iter().filter(|_| is_drawn(&piece.run));
            drawn.for_each(|row| all.add_flow(&piece.run, row));
        })?;
        Ok(all)
    }

    fn add_port(&mut self, run: &RunKey, port: Subject, row: &ProbedPort) {
        let mut add = |recorded, value: Option<f64>| {
            self.add(run, (port.clone(), recorded), row.port.time.as_us_f64() / 1e3, value);
        };
        add(Recorded::Queue, Some(row.port.queue_bytes as f64));
        add(Recorded::Rate, row.rate_bps.map(|bps| bps / 1e9));
        add(Recorded::Marks, Some(row.port.ecn_marks as f64));
    }

    fn add_flow(&mut self, run: &RunKey, row: &ProbedFlow) {
        let count = |value: Option<u64>| value.map(|value| value as f64);
        let mut add = |recorded, value: Option<f64>| {
            let flow = Subject::Flow(row.flow);
            self.add(run, (flow, recorded), row.time.as_us_f64() / 1e3, value);
        };
        add(Recorded::Window, count(row.window_bytes));
        add(Recorded::Rate, row.rate_bps.map(|bps| bps / 1e9));
        add(Recorded::Alpha, row.alpha);
        add(Recorded::Priority, count(row.priority));
        add(Recorded::InFlight, count(row.in_flight_bytes));
    }

    fn add(&mut self, run: &RunKey, of: (Subject, Recorded), ms: f64, value: Option<f64>) {
        let Some(value) = value else { return };
        let charts = self.0.entry(run.point.clone()).or_default();
        charts.entry(of).or_default().entry(run.scheme.clone()).or_default().push((ms, value));
    }

    /// The charts of a point, those of ports first.
    pub(crate) fn figures(&self, summary: &Summary, point: &Point) -> Vec<Figure> {
        let charts = self.0.get(point).into_iter().flatten().take(MOST_CHARTS);
        let draw = |((subject, recorded), of_schemes): (&(Subject, Recorded), &OfSchemes)| {
            figure(summary, point, subject, *recorded, of_schemes)
        };
        charts.map(draw).collect()
    }

    /// How many charts of a point are left out, so that the page stays quick.
    pub(crate) fn left_out(&self, point: &Point) -> usize {
        self.0.get(point).map_or(0, |charts| charts.len().saturating_sub(MOST_CHARTS))
    }
}

fn figure(
    summary: &Summary,
    point: &Point,
    subject: &Subject,
    recorded: Recorded,
    of_schemes: &OfSchemes,
) -> Figure {
    let curves: BTreeMap<&str, Vec<(f64, f64)>> =
        of_schemes.iter().map(|(scheme, curve)| (scheme.as_str(), curve.points())).collect();
    let all = || curves.values().flatten();
    let time = quantity("Time (ms)", "time_ms", plain);
    let x = Axis::between(time, Scale::Linear, ends(all().map(|(ms, _)| *ms)));
    let y = Axis::holding(recorded.quantity(), Scale::Linear, all().map(|(_, value)| *value));
    let series = summary.schemes().into_iter().enumerate().filter_map(|(place, scheme)| {
        let points = curves.get(scheme)?.iter().copied().map(Dot::plain).collect();
        Some(Series { scheme: scheme.to_owned(), place, points })
    });
    let panels = vec![Panel { keys: Vec::new(), series: series.collect() }];
    let steps = Some(recorded.steps(subject));
    Figure {
        title: format!("{}, {subject}", recorded.title()),
        context: context(Some(point)),
        caption: format!("{} over time with the first seed.", recorded.title()),
        plot: Ok(Plot::Curves(Curves { x, y, panels, marked: false, steps })),
    }
}

/// The first and the last time. If these are equal, returns the times half a unit before and after.
pub(crate) fn ends(times: impl Iterator<Item = f64>) -> (f64, f64) {
    let (first, last) = times.fold((f64::INFINITY, f64::NEG_INFINITY), |(first, last), time| {
        (first.min(time), last.max(time))
    });
    if first < last { (first, last) } else { (first - 0.5, first + 0.5) }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Port { owner, peer } => write!(f, "{owner} to {peer}"),
            Subject::Flow(flow) => write!(f, "flow {flow}"),
        }
    }
}

impl Recorded {
    fn title(self) -> &'static str {
        match self {
            Recorded::Queue => "Queue",
            Recorded::Rate => "Rate",
            Recorded::Marks => "Packets marked",
            Recorded::Window => "Window",
            Recorded::Alpha => "Alpha",
            Recorded::Priority => "Priority",
            Recorded::InFlight => "Bytes in flight",
        }
    }

    fn quantity(self) -> Quantity {
        match self {
            Recorded::Queue => quantity("Queue", "queue_bytes", bytes),
            Recorded::Rate => quantity("Rate (Gbit/s)", "rate_gbps", plain),
            Recorded::Marks => quantity("Packets marked so far", "ecn_marks", plain),
            Recorded::Window => quantity("Window", "window_bytes", bytes),
            Recorded::Alpha => quantity("Alpha", "alpha", times),
            Recorded::Priority => quantity("Priority, 0 the highest", "priority", plain),
            Recorded::InFlight => quantity("Bytes in flight", "in_flight_bytes", bytes),
        }
    }

    fn steps(self, subject: &Subject) -> Steps {
        match (self, subject) {
            (Recorded::Rate, Subject::Port { .. }) => Steps::SinceTheLast,
            _ => Steps::UntilTheNext,
        }
    }
}
