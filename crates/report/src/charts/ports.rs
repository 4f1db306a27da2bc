//! Ports at one point: queue lengths, utilisation, drops and marks, a chart per class of ports.

use flowsched_experiment::results::{OverSeeds, Point, Summary};

use super::distribution::plotted;
use super::{Named, at, bytes, context, over_seeds, percent, quantity, reach};
use crate::bars::{Bar, Bars};
use crate::chart::{Figure, Plot};
use crate::format::share;
use crate::gathered::{ByScheme, Gathered, PortClass, PortsInRun};
use crate::scale::{Axis, Scale};

const NO_SAMPLES: &str = "No samples.";

/// The classes of ports that any scheme has at one point.
fn classes<'a>(schemes: &[Named<'a>]) -> Vec<&'a str> {
    let mut classes: Vec<&str> = Vec::new();
    for (_, _, gathered) in schemes {
        for class in &gathered.ports {
            if !classes.contains(&class.name.as_str()) {
                classes.push(&class.name);
            }
        }
    }
    classes
}

fn class_named<'a>(gathered: &'a Gathered, name: &str) -> Option<&'a PortClass> {
    gathered.ports.iter().find(|class| class.name == name)
}

/// The distribution of queue lengths at one point.
pub(crate) fn queues(summary: &Summary, gathered: &ByScheme, point: &Point) -> Vec<Figure> {
    let schemes = at(summary, gathered, point);
    let figure = |name: &str| {
        let curve = |named: &Named<'_>| {
            let corners = class_named(named.2, name)?.queues.cumulative();
            // The share of empty queues needs no line up to it.
            let points = corners.into_iter().filter(|corner| corner.1 > 0.0).collect::<Vec<_>>();
            (!points.is_empty()).then_some(points)
        };
        let curves: Vec<_> =
            schemes.iter().filter_map(|named| Some((*named, curve(named)?))).collect();
        let points = || curves.iter().flat_map(|(_, points)| points);
        let lengths = quantity("Queue length", "queue_bytes", bytes);
        let x = Axis::holding(lengths, Scale::Linear, points().map(|point| point.0));
        // Most ports are empty most of the time: start where the curves do.
        let lowest = points().map(|point| point.1).fold(1.0, f64::min);
        let from = (lowest * 10.0).floor().min(9.0) / 10.0;
        let shares = quantity("Share of samples", "share_of_samples", percent);
        let y = Axis::between(shares, Scale::Linear, (from, 1.0));
        Figure {
            title: format!("Queue length, ports {name}"),
            context: context(Some(point)),
            caption: "Share of samples, while flows arrive, with at most this many bytes waiting."
                .to_owned(),
            plot: plotted(x, y, curves, false, NO_SAMPLES),
        }
    };
    classes(&schemes).into_iter().map(figure).collect()
}

/// A figure of ports at one point.
pub(crate) fn bars(
    summary: &Summary,
    gathered: &ByScheme,
    point: &Point,
    ports: Ports,
) -> Vec<Figure> {
    let schemes = at(summary, gathered, point);
    let figure = |class: &str| {
        let bar = |(place, scheme, gathered): &Named<'_>| {
            ports.bar(*place, scheme, class_named(gathered, class)?)
        };
        let rows: Vec<Bar> = schemes.iter().filter_map(bar).collect();
        let ends = rows.iter().map(|bar| {
            reach(bar.value, bar.whisker).max(bar.extremes.map_or(0.0, |extremes| extremes.1))
        });
        let x =
            Axis::holding(quantity(ports.title(), ports.column(), percent), Scale::Linear, ends);
        let bars = Plot::Bars(Bars { x, rows, signed: false });
        let is_empty = matches!(&bars, Plot::Bars(bars) if bars.rows.is_empty());
        over_seeds(
            format!("{}, ports {class}", ports.title()),
            Some(point),
            ports.caption().to_owned(),
            if is_empty { Err(NO_SAMPLES) } else { Ok(bars) },
        )
    };
    classes(&schemes).into_iter().map(figure).collect()
}

/// The figures of ports that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ports {
    Utilisation,
    Drops,
    Marks,
}

impl Ports {
    fn title(self) -> &'static str {
        match self {
            Ports::Utilisation => "Utilisation",
            Ports::Drops => "Packets dropped",
            Ports::Marks => "Packets marked",
        }
    }

    fn column(self) -> &'static str {
        match self {
            Ports::Utilisation => "utilisation",
            Ports::Drops => "share_dropped",
            Ports::Marks => "share_marked",
        }
    }

    fn caption(self) -> &'static str {
        match self {
            Ports::Utilisation => {
                "Share of the links' capacity used while flows arrive, mean over ports and \
                 seeds. Circles: least and most used port of any seed."
            }
            Ports::Drops => {
                "Share of the packets that reached such a port and were dropped, mean over seeds."
            }
            Ports::Marks => {
                "Share of the packets sent by such a port that it marked by ECN, mean over seeds."
            }
        }
    }

    fn of_run(self, run: &PortsInRun) -> Option<f64> {
        match self {
            Ports::Utilisation => run.utilisation(),
            Ports::Drops => Some(run.dropped()),
            Ports::Marks => Some(run.marked()),
        }
    }

    fn bar(self, place: usize, scheme: &str, class: &PortClass) -> Option<Bar> {
        let values: Vec<f64> = class.runs.iter().filter_map(|run| self.of_run(run)).collect();
        let over = OverSeeds::of_shares(&values)?;
        let ports = || class.runs.iter().flat_map(PortsInRun::utilisations).copied();
        let extremes = || ports().reduce(f64::min).zip(ports().reduce(f64::max));
        Some(Bar {
            scheme: scheme.to_owned(),
            place,
            value: over.mean,
            whisker: over.interval,
            extremes: if self == Ports::Utilisation { extremes() } else { None },
            figure: share(over.mean),
        })
    }
}
