//! The HTML page: its sections, and what is above and below them.

mod figures;
mod lab;
mod size_bins;
mod tables;

use flowsched_experiment::results::{Folder, Placed, Point, SizeBin, Summary, slowdown_by_size};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::chart::Figure;
use crate::charts::over_time::OverTime;
use crate::charts::ports::{self, Ports};
use crate::charts::{distribution, fct, sweep};
use crate::error::ReportError;
use crate::format::plural;
use crate::gathered::ByScheme;
use crate::lab::lab_warnings;
use crate::overview::{against, partial_note, seeds};
use crate::style;
use crate::svg::swatch;
use crate::sweep::{Sweep, spread};
use figures::figures;
use lab::lab;
use size_bins::size_bins;
use tables::{comparison, runs};

/// The most points of a sweep that have sections of their own, so that the page stays small.
const MOST_POINTS: usize = 6;

/// The only script of the page: it saves charts, and zooms those over time.
const SCRIPT: &str = include_str!("../script.js");
/// The script's SHA-256 in base64. The browser runs no other script. If this value is wrong, the
/// browser names the right one on its console.
const SCRIPT_HASH: &str = "Y3QmMA5QiDOMb12ETWxwbggkbBKO5+eDqiw44Gng2ic=";

type Part = Result<Markup, ReportError>;

/// What was read from the tables of the folder.
struct Tables<'a> {
    gathered: &'a ByScheme,
    over_time: OverTime,
    bins: Vec<SizeBin>,
}

/// The points that have sections of their own: all, or some from the first to the last.
pub(crate) fn detailed(summary: &Summary) -> Vec<&Point> {
    let points = summary.points();
    spread(points.len(), MOST_POINTS).into_iter().map(|place| points[place]).collect()
}

/// The whole page as text.
pub(crate) fn page(folder: &Folder, gathered: &ByScheme) -> Result<String, ReportError> {
    let summary = folder.summary();
    let tables = &Tables {
        gathered,
        over_time: OverTime::read(folder, &detailed(summary))?,
        bins: slowdown_by_size(&[Placed { folder, point: None }])?,
    };
    let sweep = Sweep::from_summary(summary);
    let policy =
        format!("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{SCRIPT_HASH}'");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(policy);
                title { (summary.name) }
                style { (PreEscaped(style::sheet())) }
            }
            body {
                (header(summary, sweep.as_ref()))
                main {
                    @if summary.runs.is_empty() { p.empty { "There are no runs." } }
                    @match &sweep {
                        Some(sweep) => (swept(summary, tables, sweep)?),
                        None => @for point in summary.points() { (single(summary, tables, point)?) },
                    }
                    @if !summary.lab.is_empty() { (lab(summary)) }
                    (runs(summary))
                    section #experiment {
                        h2 { "Experiment" }
                        p { "The experiment file with every default filled in; running it again "
                            "gives the same tables." }
                        pre tabindex="0" { code { (folder.experiment()) } }
                    }
                }
                footer { p { "Made by flowsched from flows.parquet, ports.parquet and summary.json "
                    "in the folder of this page." } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    Ok(page.into_string())
}

fn header(summary: &Summary, sweep: Option<&Sweep<'_>>) -> Markup {
    let schemes = summary.schemes();
    html! {
        header {
            h1 { (summary.name) }
            p {
                (plural(schemes.len(), "scheme")) " · " (plural(seeds(summary), "seed"))
                @if let Some(sweep) = sweep {
                    " · " (plural(summary.points().len(), "point")) " of " code { (sweep.keys()) }
                }
                " · " (plural(summary.runs.len(), "run"))
            }
            @if let Some(note) = partial_note(summary) { p.warning role="status" { (note) } }
            @for warning in summary.warnings.iter().chain(&lab_warnings(summary)) {
                p.warning role="status" { b { "Warning: " } (warning) }
            }
            ul.legend aria-label="Schemes" {
                @for (place, scheme) in schemes.iter().enumerate() {
                    li { (swatch(place)) (scheme) }
                }
            }
        }
    }
}

/// The sections of results without a sweep: everything about the only point.
fn single(summary: &Summary, tables: &Tables<'_>, point: &Point) -> Part {
    Ok(html! {
        section #comparison {
            h2 { "Comparison" }
            (comparison(summary, point))
        }
        @if against(summary).is_some() {
            (section("change", "Change of mean FCT", summary, &fct::changes(summary, point))?)
        }
        (section("fct", "FCT by size class", summary, &fct::bars(summary, point))?)
        (distributions(summary, tables, point, "")?)
    })
}

/// The sections of results with a sweep: figures along it, then everything about its points.
fn swept(summary: &Summary, tables: &Tables<'_>, sweep: &Sweep<'_>) -> Part {
    let points = summary.points();
    let shown = detailed(summary);
    Ok(html! {
        @if let Some(note) = sweep.panels_note() { p.note { (note) } }
        (section(
            "fct",
            &format!("FCT by size class against {}", sweep.key),
            summary,
            &sweep::fct(summary, sweep),
        )?)
        @if against(summary).is_some() {
            (section(
                "change",
                &format!("Change of mean FCT against {}", sweep.key),
                summary,
                &sweep::changes(summary, sweep),
            )?)
        }
        section #comparison {
            h2 { "Comparison" }
            @for point in &points {
                h3 { code { (point) } }
                (comparison(summary, point))
            }
        }
        section #points {
            h2 { "Each point" }
            @if shown.len() < points.len() {
                p { "Charts of " (shown.len()) " of the " (points.len()) " points; the tables of "
                    "the folder have them all." }
            }
            @for (place, point) in shown.into_iter().enumerate() {
                details open[place == 0] {
                    summary { code { (point) } }
                    (distributions(summary, tables, point, &format!("-{place}"))?)
                }
            }
        }
    })
}

/// The sections that come from the tables. `mark` tells their names from those of other points.
fn distributions(summary: &Summary, tables: &Tables<'_>, point: &Point, mark: &str) -> Part {
    let Tables { gathered, over_time, bins } = tables;
    let figures = over_time.figures(summary, point);
    let of_ports = |ports| ports::bars(summary, gathered, point, ports);
    let slowdowns = || {
        let mut all = distribution::slowdown_by_size(summary, gathered, point);
        all.extend(distribution::slowdown_tails(summary, gathered, point));
        all
    };
    let sections = [
        ("distribution", "Distribution of FCT", distribution::fct(summary, gathered, point)),
        ("tail", "Tail of FCT", distribution::fct_tails(summary, gathered, point)),
        ("slowdown", "Slowdown", slowdowns()),
        ("queues", "Queue length", ports::queues(summary, gathered, point)),
        ("utilisation", "Utilisation", of_ports(Ports::Utilisation)),
        ("drops", "Drops", of_ports(Ports::Drops)),
        ("marks", "ECN marks", of_ports(Ports::Marks)),
    ];
    let sections =
        sections.map(|(id, title, all)| section(&(id.to_owned() + mark), title, summary, &all));
    let sections = sections.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(html! {
        @for section in sections { (section) }
        section id={ "sizes" (mark) } {
            h2 { "Slowdown by flow size" }
            (size_bins(summary, bins, point))
        }
        @if !figures.is_empty() {
            (section(&("time".to_owned() + mark), "Over time", summary, &figures)?)
            p.note {
                "Charts over time zoom: after a click on one, the wheel and + and - zoom along time, dragging \
                 and arrows move, a double click and 0 show everything."
            }
            @if over_time.left_out(point) > 0 {
                p.note { "There are " (over_time.left_out(point)) " more charts; the tables have all values." }
            }
        }
    })
}

fn section(id: &str, title: &str, summary: &Summary, all: &[Figure]) -> Part {
    let figures = figures(&summary.name, all)?;
    Ok(html! {
        section id=(id) {
            h2 { (title) }
            (figures)
        }
    })
}
