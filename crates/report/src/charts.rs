//! Which charts there are: each a title, a caption that says what is plotted, and a drawing.

use flowsched_experiment::results::{Change, Distribution, Point, SizeClass, Summary};

use crate::ReportError;
use crate::bins::{cumulative, cumulative_counts, slowdown_by_size};
use crate::chart::{Bar, Series, bars, curves};
use crate::format::{change, duration, share, short, size};
use crate::gather::{ByScheme, Gathered, PortClass};
use crate::overview::{CLASSES, OverSeeds, Row, rows};
use crate::scale::{Axis, Scale};

/// A chart, or why there is none.
pub(crate) struct Figure {
    pub title: String,
    pub caption: String,
    pub drawing: Result<String, &'static str>,
}

type Figures = Result<Vec<Figure>, ReportError>;

const NO_FLOWS: &str = "No flow of this class finished under any scheme.";

/// A scheme's place in the experiment, name and tables.
type Named<'a> = (usize, &'a str, &'a Gathered);

fn microseconds(value: f64) -> String {
    short(duration(value))
}

fn bytes(value: f64) -> String {
    short(size(value))
}

fn percent(value: f64) -> String {
    short(format!("{:.3} ", value * 100.0)) + "%"
}

fn times(value: f64) -> String {
    short(format!("{value:.2} "))
}

/// How schemes are coloured: by their place in the experiment.
fn colour(summary: &Summary, scheme: &str) -> usize {
    summary.schemes().iter().position(|name| *name == scheme).unwrap_or(0)
}

fn class_noun(class: Option<SizeClass>) -> String {
    let name = class.map_or("all", SizeClass::name);
    format!("{name} flows")
}

/// The same with its bounds.
fn class_bounds(class: Option<SizeClass>) -> String {
    let bounds = class.map(|class| format!(" ({})", class.bounds())).unwrap_or_default();
    class_noun(class) + &bounds
}

/// What is drawn of a distribution: its short name, its long one, and the figure.
type Drawn = (&'static str, &'static str, fn(&Distribution) -> Option<f64>);
const MEAN: Drawn = ("Mean FCT", "Mean FCT", |distribution| distribution.mean);
const P99: Drawn = ("p99 FCT", "99th percentile of FCT", |distribution| distribution.p99);
const SLOWDOWNS: [Drawn; 2] =
    [("Median", "Median", |d| d.p50), ("99th percentile", "99th percentile", |d| d.p99)];

/// Mean and 99th percentile of FCT at one point, a chart a class.
pub(crate) fn fct_bars(summary: &Summary, point: &Point) -> Figures {
    let rows = rows(summary, point);
    let mut figures = Vec::new();
    for (what, long, figure) in [MEAN, P99] {
        for class in CLASSES {
            let bar = |row: &Row<'_>| {
                let of = row.fct_us(class, figure)?;
                Some(Bar {
                    name: name(row.scheme),
                    colour: colour(summary, row.scheme),
                    value: of.mean,
                    whisker: (of.low < of.high).then_some((of.low, of.high)),
                    figure: duration(of.mean),
                })
            };
            let all: Vec<Bar> = rows.iter().filter_map(bar).collect();
            let largest = all.iter().map(|bar| bar.whisker.map_or(bar.value, |ends| ends.1));
            let x = Axis::holding(what, Scale::Linear, largest, microseconds);
            figures.push(Figure {
                title: format!("{what}, {}", class_noun(class)),
                caption: format!(
                    "{long} at the sender of {}, mean over seeds. Whiskers: lowest and highest seed.",
                    class_bounds(class)
                ),
                drawing: drawn(all.is_empty(), NO_FLOWS, || bars(what, &x, &all, false))?,
            });
        }
    }
    Ok(figures)
}

/// The change of mean FCT against the first scheme at one point, a chart a class.
pub(crate) fn change_bars(summary: &Summary, point: &Point) -> Figures {
    let rows = rows(summary, point);
    let Some(first) = crate::overview::against(summary) else { return Ok(Vec::new()) };
    let figure = |class| {
        let bar = |row: &Row<'_>| {
            let of = row.comparison?.fct.get(class).mean;
            Some(Bar {
                name: name(row.scheme),
                colour: colour(summary, row.scheme),
                value: of.change?,
                whisker: of.low.zip(of.high),
                figure: change(of.change?),
            })
        };
        let all: Vec<Bar> = rows.iter().filter_map(bar).collect();
        let title = format!("Mean FCT against {}", name(first));
        let x = change_axis(title.clone(), all.iter().map(|bar| (bar.value, bar.whisker)));
        Ok(Figure {
            title: capital(class_noun(class)),
            caption: format!(
                "Change of mean FCT of {} against {first}, same flows. Whiskers: 95% interval.",
                class_bounds(class)
            ),
            drawing: drawn(all.is_empty(), NO_FLOWS, || bars(&title, &x, &all, true))?,
        })
    };
    CLASSES.into_iter().map(figure).collect()
}

/// An axis for changes; wild ends of intervals do not stretch it.
fn change_axis(title: String, changes: impl Iterator<Item = (f64, Option<(f64, f64)>)>) -> Axis {
    let ends = changes.flat_map(|(value, whisker)| {
        let (low, high) = whisker.unwrap_or((value, value));
        [value, low.max(value.min(0.0) * 2.0 - 0.2), high.min(value.max(0.0) * 2.0 + 0.2)]
    });
    Axis::holding(title, Scale::Linear, ends, percent)
}

/// The points of a sweep along an axis.
pub(crate) struct Sweep<'a> {
    points: Vec<&'a Point>,
    places: Vec<f64>,
    title: String,
}

impl<'a> Sweep<'a> {
    /// Of the results, if anything was varied.
    pub fn of(summary: &'a Summary) -> Option<Sweep<'a>> {
        let points = summary.points();
        let keys: Vec<&str> = points.first()?.keys().collect();
        if points.len() < 2 {
            return None;
        }
        let number = |point: &&Point| match point.0.as_slice() {
            [(_, value)] => value.parse().ok().filter(|value: &f64| value.is_finite()),
            _ => None,
        };
        let numbers: Option<Vec<f64>> = points.iter().map(number).collect();
        let places = numbers.unwrap_or_else(|| (0..points.len()).map(|p| p as f64).collect());
        Some(Sweep { title: keys.join(", "), places, points })
    }

    /// What is varied.
    pub fn keys(&self) -> &str {
        &self.title
    }

    fn axis(&self) -> Axis {
        let values = |point: &Point| {
            point.0.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ")
        };
        let are_places = self.places.iter().enumerate().all(|(i, place)| *place == i as f64);
        if are_places {
            let names = self.points.iter().map(|point| shortened(&values(point), 10)).collect();
            return Axis::of_names(&self.title, names);
        }
        let from = self.places.iter().copied().fold(f64::INFINITY, f64::min);
        let to = self.places.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let room = (to - from).max(f64::MIN_POSITIVE) * 0.05;
        let axis = Axis::between(&self.title, from - room, to + room, |value| format!("{value}"));
        if self.places.len() <= 12 { axis.with_ticks(self.places.clone()) } else { axis }
    }
}

/// FCT along a sweep, a chart a class.
pub(crate) fn fct_sweep(summary: &Summary, sweep: &Sweep<'_>) -> Figures {
    let mut figures = Vec::new();
    for (what, long, figure) in [MEAN, P99] {
        for class in CLASSES {
            let all = along(summary, sweep, |row| {
                row.fct_us(class, figure).map(|OverSeeds { mean, low, high }| (mean, low, high))
            });
            let values = all.iter().flat_map(|s| s.whiskers.iter().map(|w| w.2));
            let y = Axis::holding(what, Scale::Linear, values, microseconds);
            figures.push(Figure {
                title: format!("{what}, {}", class_noun(class)),
                caption: format!(
                    "{long} at the sender of {} against {}, mean over seeds. Whiskers: lowest and \
                     highest seed.",
                    class_bounds(class),
                    sweep.title
                ),
                drawing: drawn(all.is_empty(), NO_FLOWS, || curves(what, &sweep.axis(), &y, &all))?,
            });
        }
    }
    Ok(figures)
}

/// The change of mean FCT against the first scheme along a sweep, a chart a class.
pub(crate) fn change_sweep(summary: &Summary, sweep: &Sweep<'_>) -> Figures {
    let Some(first) = crate::overview::against(summary) else { return Ok(Vec::new()) };
    let figure = |class| {
        let all = along(summary, sweep, |row| {
            let Change { change, low, high } = row.comparison?.fct.get(class).mean;
            Some((change?, low.or(change)?, high.or(change)?))
        });
        let changes = all.iter().flat_map(|series| {
            series.points.iter().zip(&series.whiskers).map(|(p, w)| (p.1, Some((w.1, w.2))))
        });
        let title = format!("Mean FCT against {}", name(first));
        let y = change_axis(title.clone(), changes);
        Ok(Figure {
            title: capital(class_noun(class)),
            caption: format!(
                "Change of mean FCT of {} against {first}, same flows, along {}. \
                 Whiskers: 95% interval.",
                class_bounds(class),
                sweep.title
            ),
            drawing: drawn(all.is_empty(), NO_FLOWS, || curves(&title, &sweep.axis(), &y, &all))?,
        })
    };
    CLASSES.into_iter().map(figure).collect()
}

/// A curve a scheme along a sweep, of values with the ends of their whiskers.
fn along(
    summary: &Summary,
    sweep: &Sweep<'_>,
    value: impl Fn(&Row<'_>) -> Option<(f64, f64, f64)>,
) -> Vec<Series> {
    // Side by side, so that whiskers do not hide each other.
    let (from, to) = sweep.axis().ends();
    let shift = (to - from) * (0.03 / summary.schemes().len() as f64).min(0.008);
    let series = |(colour, scheme): (usize, &str)| {
        let mut points = Vec::new();
        let mut whiskers = Vec::new();
        for (point, at) in sweep.points.iter().zip(&sweep.places) {
            let row = rows(summary, point).into_iter().find(|row| row.scheme == scheme);
            if let Some((mean, low, high)) = row.and_then(|row| value(&row)) {
                let beside = at + shift * colour as f64;
                points.push((beside, mean));
                whiskers.push((beside, low, high));
            }
        }
        Series { colour, points, whiskers, marked: true }
    };
    let all = summary.schemes().into_iter().enumerate().map(series);
    all.filter(|series| !series.points.is_empty()).collect()
}

/// What the tables hold of the schemes at `point`.
fn at<'a>(summary: &'a Summary, gathered: &'a ByScheme, point: &Point) -> Vec<Named<'a>> {
    let named = |(place, scheme): (usize, &'a str)| {
        Some((place, scheme, gathered.get(&(point.clone(), scheme.to_owned()))?))
    };
    summary.schemes().into_iter().enumerate().filter_map(named).collect()
}

/// The distribution of FCT at one point, a chart a class.
pub(crate) fn fct_curves(summary: &Summary, gathered: &ByScheme, point: &Point) -> Figures {
    let schemes = at(summary, gathered, point);
    let figure = |class: Option<SizeClass>| {
        let series = |(colour, _, gathered): &Named<'_>| {
            let flows =
                gathered.flows.iter().filter(|flow| class.is_none_or(|c| c == flow.class()));
            plain(*colour, cumulative(flows.map(|flow| flow.fct_us).collect()))
        };
        let all: Vec<Series> = schemes.iter().map(series).filter(has_points).collect();
        let values = all.iter().flat_map(|series| series.points.iter().map(|point| point.0));
        let x = Axis::holding("FCT at the sender", Scale::Log, values, microseconds);
        let y = Axis::between("Share of flows", 0.0, 1.0, percent);
        Ok(Figure {
            title: capital(class_noun(class)),
            caption: format!(
                "Share of {} whose FCT at the sender is at most the time (logarithmic).",
                class_bounds(class)
            ),
            drawing: drawn(all.is_empty(), NO_FLOWS, || {
                curves(&format!("Distribution of FCT of {}", class_noun(class)), &x, &y, &all)
            })?,
        })
    };
    CLASSES.into_iter().map(figure).collect()
}

/// Slowdown by flow size at one point: median and 99th percentile.
pub(crate) fn slowdown_curves(summary: &Summary, gathered: &ByScheme, point: &Point) -> Figures {
    let schemes = at(summary, gathered, point);
    let figure = |(what, _, of): Drawn| {
        let series = |(colour, _, gathered): &Named<'_>| {
            let bins = slowdown_by_size(&gathered.flows).into_iter();
            let points = bins.filter_map(|(size, slowdown)| Some((size, of(&slowdown)?)));
            Series { marked: true, ..plain(*colour, points.collect()) }
        };
        let all: Vec<Series> = schemes.iter().map(series).filter(has_points).collect();
        let points = || all.iter().flat_map(|series| series.points.iter().copied());
        let x = Axis::holding("Flow size", Scale::Log, points().map(|point| point.0), bytes);
        let values = points().map(|point| point.1).chain([1.0]);
        let y = Axis::holding("Slowdown", Scale::Log, values, times);
        Ok(Figure {
            title: what.to_owned(),
            caption: format!(
                "{what} of FCT over ideal FCT (logarithmic, no unit) against flow size \
                 (logarithmic), for sizes of at least 20 flows."
            ),
            drawing: drawn(all.is_empty(), "Too few flows of one size finished.", || {
                curves(&format!("{what} slowdown by flow size"), &x, &y, &all)
            })?,
        })
    };
    SLOWDOWNS.into_iter().map(figure).collect()
}

/// The classes of ports that any scheme has at one point.
fn port_classes<'a>(schemes: &[Named<'a>]) -> Vec<&'a str> {
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

fn port_class<'a>(gathered: &'a Gathered, name: &str) -> Option<&'a PortClass> {
    gathered.ports.iter().find(|class| class.name == name)
}

/// The distribution of queue lengths at one point, a chart a class of ports.
pub(crate) fn queue_curves(summary: &Summary, gathered: &ByScheme, point: &Point) -> Figures {
    let schemes = at(summary, gathered, point);
    let figure = |name: &str| {
        let series = |(colour, _, gathered): &Named<'_>| {
            let queues = port_class(gathered, name).map(|class| &class.queues);
            plain(*colour, queues.map(cumulative_counts).unwrap_or_default())
        };
        let all: Vec<Series> = schemes.iter().map(series).filter(has_points).collect();
        let points = || all.iter().flat_map(|series| series.points.iter().copied());
        let x = Axis::holding("Queue length", Scale::Linear, points().map(|p| p.0), bytes);
        // Most ports are empty most of the time: start where the curves do.
        let lowest = points().map(|point| point.1).fold(1.0, f64::min);
        let from = (lowest * 10.0).floor().min(9.0) / 10.0;
        let y = Axis::between("Share of samples", from, 1.0, percent);
        Ok(Figure {
            title: format!("Ports {name}"),
            caption: "Share of samples, while flows arrive, with at most so many bytes waiting."
                .to_owned(),
            drawing: drawn(all.is_empty(), "No samples.", || {
                curves(&format!("Distribution of queue length, ports {name}"), &x, &y, &all)
            })?,
        })
    };
    port_classes(&schemes).into_iter().map(figure).collect()
}

/// Utilisation, drops and marks at one point, a chart a class of ports each.
pub(crate) fn port_bars(
    summary: &Summary,
    gathered: &ByScheme,
    point: &Point,
) -> Vec<(Ports, Figures)> {
    let schemes = at(summary, gathered, point);
    let of = |ports: Ports| {
        let figure = |class: &str| {
            let bar = |(colour, scheme, gathered): &Named<'_>| {
                let (value, whisker) = ports.value(port_class(gathered, class)?)?;
                Some(Bar {
                    name: name(scheme),
                    colour: *colour,
                    value,
                    whisker,
                    figure: share(value),
                })
            };
            let all: Vec<Bar> = schemes.iter().filter_map(bar).collect();
            let largest = all.iter().map(|bar| bar.whisker.map_or(bar.value, |ends| ends.1));
            let x = Axis::holding(ports.title(), Scale::Linear, largest, percent);
            Ok(Figure {
                title: format!("Ports {class}"),
                caption: ports.caption().to_owned(),
                drawing: drawn(all.is_empty(), "No samples.", || {
                    bars(ports.title(), &x, &all, false)
                })?,
            })
        };
        (ports, port_classes(&schemes).into_iter().map(figure).collect())
    };
    [Ports::Utilisation, Ports::Drops, Ports::Marks].map(of).into_iter().collect()
}

/// What is drawn of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ports {
    Utilisation,
    Drops,
    Marks,
}

impl Ports {
    pub fn title(self) -> &'static str {
        match self {
            Ports::Utilisation => "Utilisation",
            Ports::Drops => "Packets dropped",
            Ports::Marks => "Packets marked",
        }
    }

    fn caption(self) -> &'static str {
        match self {
            Ports::Utilisation => {
                "Share of the links' capacity used while flows arrive, mean over ports and \
                 seeds. Whiskers: least and most used port."
            }
            Ports::Drops => "Share of the packets that reached such a port and were dropped.",
            Ports::Marks => "Share of the packets sent by such a port that it marked by ECN.",
        }
    }

    fn value(self, class: &PortClass) -> Option<(f64, Option<(f64, f64)>)> {
        let of = |part: u64, all: u64| {
            let share = if all == 0 { 0.0 } else { part as f64 / all as f64 };
            Some((share, None))
        };
        match self {
            Ports::Drops => of(class.drops, class.packets + class.drops),
            Ports::Marks => of(class.marks, class.packets),
            Ports::Utilisation => {
                let used = || class.utilisation.iter().copied();
                let mean = used().sum::<f64>() / class.utilisation.len() as f64;
                let ends = used().reduce(f64::min).zip(used().reduce(f64::max));
                ends.map(|ends| (mean, Some(ends)))
            }
        }
    }
}

fn capital(text: String) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().collect::<String>());
    first.unwrap_or_default() + characters.as_str()
}

fn plain(colour: usize, points: Vec<(f64, f64)>) -> Series {
    Series { colour, points, whiskers: Vec::new(), marked: false }
}

fn has_points(series: &Series) -> bool {
    !series.points.is_empty()
}

/// A scheme's name, short enough for a chart.
fn name(scheme: &str) -> String {
    shortened(scheme, 14)
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

fn drawn(
    empty: bool,
    why: &'static str,
    draw: impl FnOnce() -> Result<String, ReportError>,
) -> Result<Result<String, &'static str>, ReportError> {
    if empty { Ok(Err(why)) } else { draw().map(Ok) }
}
