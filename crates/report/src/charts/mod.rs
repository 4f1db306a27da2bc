//! The charts. Each has a title, a caption that says what is plotted, and a plot.
//!
//! A whisker is a 95% confidence interval over seeds in every chart, and nothing else is drawn
//! as a whisker.

pub(crate) mod distribution;
pub(crate) mod fct;
pub(crate) mod over_time;
pub(crate) mod ports;
pub(crate) mod sweep;

use flowsched_experiment::results::{Distribution, Point, SizeClass, Summary};

use crate::chart::{Figure, Plot};
use crate::format::{duration, short, size};
use crate::gathered::{ByScheme, Gathered};
use crate::scale::{Axis, Quantity, Scale};

const NO_FLOWS: &str = "No flow of this class finished under any scheme.";

/// A figure of a distribution: its short name, its long one, its name in data, and the figure.
struct Drawn {
    short: &'static str,
    long: &'static str,
    column: &'static str,
    figure: fn(&Distribution) -> Option<f64>,
}

const FCTS: [Drawn; 3] = [
    Drawn { short: "Mean FCT", long: "Mean FCT", column: "mean_fct_us", figure: |d| d.mean },
    Drawn {
        short: "p99 FCT",
        long: "99th percentile of FCT",
        column: "p99_fct_us",
        figure: |d| d.p99,
    },
    Drawn {
        short: "p99.9 FCT",
        long: "99.9th percentile of FCT",
        column: "p999_fct_us",
        figure: |d| d.p999,
    },
];

/// The figures of FCT that the results have. Older results have no 99.9th percentile.
fn fct_figures(summary: &Summary) -> impl Iterator<Item = &'static Drawn> {
    let known = |drawn: &Drawn| {
        let mut distributions = summary.runs.iter().map(|run| &run.fct_us.all);
        distributions.all(|all| all.count == 0 || (drawn.figure)(all).is_some())
    };
    FCTS.iter().filter(move |drawn| known(drawn))
}

pub(crate) fn microseconds(value: f64) -> String {
    short(duration(value))
}

pub(crate) fn bytes(value: f64) -> String {
    short(size(value))
}

pub(crate) fn percent(value: f64) -> String {
    short(format!("{:.3} ", value * 100.0)) + "%"
}

pub(crate) fn times(value: f64) -> String {
    short(format!("{value:.2} "))
}

/// A number with enough digits to tell neighbouring ticks apart.
pub(crate) fn plain(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A share on a logarithmic axis: `0.1`, and `1e-6` where that is shorter.
fn small_share(value: f64) -> String {
    if value < 0.9e-3 { format!("{value:.0e}") } else { short(format!("{value:.4} ")) }
}

pub(crate) fn quantity(
    title: impl Into<String>,
    column: &str,
    label: fn(f64) -> String,
) -> Quantity {
    Quantity { title: title.into(), column: column.to_owned(), label }
}

fn class_noun(class: Option<SizeClass>) -> String {
    let name = class.map_or("all", SizeClass::name);
    format!("{name} flows")
}

/// The noun for a class of flows, with the bounds of their sizes.
fn class_bounds(class: Option<SizeClass>) -> String {
    let bounds = class.map(|class| format!(" ({})", class.bounds())).unwrap_or_default();
    class_noun(class) + &bounds
}

/// A chart of values over seeds, whose caption ends with what its whiskers mean.
fn over_seeds(
    title: String,
    point: Option<&Point>,
    caption: String,
    plot: Result<Plot, &'static str>,
) -> Figure {
    let note = plot.as_ref().map(Plot::whisker_note).unwrap_or_default();
    Figure { title, context: context(point), caption: caption + note, plot }
}

/// The point of a chart in words.
fn context(point: Option<&Point>) -> String {
    point.map(Point::to_string).unwrap_or_default()
}

/// An axis for changes that holds `changes` with their whiskers. Wild ends of whiskers do not
/// stretch it: they are drawn as arrows.
fn change_axis(title: &str, changes: impl Iterator<Item = (f64, Option<(f64, f64)>)>) -> Axis {
    let ends = changes.flat_map(|(value, whisker)| {
        let (low, high) = whisker.unwrap_or((value, value));
        [value, low.max(value.min(0.0) * 2.0 - 0.2), high.min(value.max(0.0) * 2.0 + 0.2)]
    });
    Axis::holding(quantity(title, "change", percent), Scale::Linear, ends)
}

/// How far an axis from zero reaches for a value: past its whisker, but not beyond twice the
/// value.
fn reach(value: f64, whisker: Option<(f64, f64)>) -> f64 {
    whisker.map_or(value, |(_, high)| high.min(2.0 * value))
}

/// A scheme's place in the experiment, its name, and what was gathered about it.
type Named<'a> = (usize, &'a str, &'a Gathered);

/// What was gathered about the schemes at `point`.
fn at<'a>(summary: &'a Summary, gathered: &'a ByScheme, point: &Point) -> Vec<Named<'a>> {
    let named = |(place, scheme): (usize, &'a str)| {
        Some((place, scheme, gathered.get(&(point.clone(), scheme.to_owned()))?))
    };
    summary.schemes().into_iter().enumerate().filter_map(named).collect()
}
