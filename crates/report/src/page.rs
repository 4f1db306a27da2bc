//! The HTML page: sections, tables and their wording.

use flowsched_experiment::results::{Folder, Point, SizeClass, Summary};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::ReportError;
use crate::charts::{self, Figure, Ports, Sweep};
use crate::format::{change, count, duration, interval, plural, share};
use crate::gather::ByScheme;
use crate::overview::{
    CLASSES, Row, against, class_title, interval_note, left_out, partial_note, rows, seeds,
};
use crate::style;

/// The most points of a sweep that have sections of their own, so that the page stays small.
const MOST_POINTS: usize = 6;

type Part = Result<Markup, ReportError>;

/// The whole page as text.
pub(crate) fn page(folder: &Folder, gathered: &ByScheme) -> Result<String, ReportError> {
    let summary = folder.summary();
    let sweep = Sweep::of(summary);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'";
                title { (summary.name) }
                style { (PreEscaped(style::sheet(summary.schemes().len()))) }
            }
            body {
                (header(summary, sweep.as_ref()))
                main {
                    @if summary.runs.is_empty() { p.empty { "There are no runs." } }
                    @match &sweep {
                        Some(sweep) => (swept(summary, gathered, sweep)?),
                        None => @for point in summary.points() { (single(summary, gathered, point)?) },
                    }
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
                    " · " (plural(summary.points().len(), "value")) " of " code { (sweep.keys()) }
                }
                " · " (plural(summary.runs.len(), "run"))
            }
            @if let Some(note) = partial_note(summary) { p.warning role="status" { (note) } }
            ul.legend aria-label="Schemes" {
                @for (place, scheme) in schemes.iter().enumerate() {
                    li { (PreEscaped(style::swatch(place))) (scheme) }
                }
            }
        }
    }
}

/// Without a sweep: everything of the one point.
fn single(summary: &Summary, gathered: &ByScheme, point: &Point) -> Part {
    Ok(html! {
        section #comparison {
            h2 { "Comparison" }
            (comparison(summary, point))
        }
        @if against(summary).is_some() {
            section #change {
                h2 { "Change of mean FCT" }
                (figures(charts::change_bars(summary, point)?))
            }
        }
        section #fct {
            h2 { "FCT by size class" }
            (figures(charts::fct_bars(summary, point)?))
        }
        (distributions(summary, gathered, point, "")?)
    })
}

/// With a sweep: figures along it, then everything of its points.
fn swept(summary: &Summary, gathered: &ByScheme, sweep: &Sweep<'_>) -> Part {
    let points = summary.points();
    let shown = spread(points.len());
    Ok(html! {
        section #fct {
            h2 { "FCT by size class against " code { (sweep.keys()) } }
            (figures(charts::fct_sweep(summary, sweep)?))
        }
        @if against(summary).is_some() {
            section #change {
                h2 { "Change of mean FCT by " code { (sweep.keys()) } }
                (figures(charts::change_sweep(summary, sweep)?))
            }
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
            @for place in shown {
                details open[place == 0] {
                    summary { code { (points[place]) } }
                    (distributions(summary, gathered, points[place], &format!("-{place}"))?)
                }
            }
        }
    })
}

/// Which of so many points to show: all, or some from the first to the last.
fn spread(count: usize) -> Vec<usize> {
    if count <= MOST_POINTS {
        return (0..count).collect();
    }
    (0..MOST_POINTS).map(|place| place * (count - 1) / (MOST_POINTS - 1)).collect()
}

/// The sections that come from the tables; `mark` tells their names from those of other points.
fn distributions(summary: &Summary, gathered: &ByScheme, point: &Point, mark: &str) -> Part {
    let mut ports = Vec::new();
    for (what, charts) in charts::port_bars(summary, gathered, point) {
        ports.push((what, charts?));
    }
    let of = |wanted: Ports, ports: &mut Vec<(Ports, Vec<Figure>)>| {
        let place = ports.iter().position(|(what, _)| *what == wanted);
        place.map(|place| ports.swap_remove(place).1).unwrap_or_default()
    };
    let utilisation = of(Ports::Utilisation, &mut ports);
    let drops = of(Ports::Drops, &mut ports);
    let marks = of(Ports::Marks, &mut ports);
    Ok(html! {
        section id={"distribution" (mark)} {
            h2 { "Distribution of FCT" }
            (figures(charts::fct_curves(summary, gathered, point)?))
        }
        section id={"slowdown" (mark)} {
            h2 { "Slowdown by flow size" }
            (figures(charts::slowdown_curves(summary, gathered, point)?))
        }
        section id={"queues" (mark)} {
            h2 { "Queue length" }
            (figures(charts::queue_curves(summary, gathered, point)?))
        }
        section id={"utilisation" (mark)} {
            h2 { "Utilisation" }
            (figures(utilisation))
        }
        section id={"drops" (mark)} {
            h2 { "Drops" }
            (figures(drops))
        }
        section id={"marks" (mark)} {
            h2 { "ECN marks" }
            (figures(marks))
        }
    })
}

fn figures(all: Vec<Figure>) -> Markup {
    html! {
        @if all.is_empty() { p.empty { "There is nothing to draw." } }
        div.figures {
            @for figure in all {
                figure {
                    h3 { (figure.title) }
                    @match figure.drawing {
                        Ok(svg) => (PreEscaped(svg)),
                        Err(why) => p.empty { (why) },
                    }
                    figcaption { (figure.caption) }
                }
            }
        }
    }
}

fn comparison(summary: &Summary, point: &Point) -> Markup {
    let rows = rows(summary, point);
    let left_out = left_out(&rows);
    html! {
        p.note {
            "FCT at the sender of the flows that finished, mean over "
            (plural(seeds(summary), "seed")) ". "
            @if let Some(first) = against(summary) {
                "Changes are against " b { (first) } ", of the same flows. "
            }
            @if let Some(note) = interval_note(summary) { "In brackets the " (note) ", in %." }
        }
        div.scroll tabindex="0" role="region" aria-label="Comparison of schemes" {
            table aria-label="FCT by size class and scheme" {
                thead {
                    tr {
                        th scope="col" { "Scheme" }
                        th scope="col" { "Flows" }
                        th scope="col" { "Mean" }
                        th scope="col" { "Change" }
                        th scope="col" { "95th percentile" }
                        th scope="col" { "99th percentile" }
                        th scope="col" { "Change" }
                        th scope="col" { "Largest" }
                    }
                }
                @for class in CLASSES { (class_rows(&rows, class)) }
            }
        }
        (trouble(&rows))
        @if left_out > 0 {
            p.note { "Left out of changes, as not finished under both schemes: " (count(left_out)) "." }
        }
        @for note in rows.iter().filter_map(Row::one_by_one_note) { p.note { (note) } }
        @for note in rows.iter().filter_map(Row::schedule_note) { p.note { (note) } }
    }
}

fn class_rows(rows: &[Row<'_>], class: Option<SizeClass>) -> Markup {
    let changed =
        |row: &Row<'_>, figure: fn(&flowsched_experiment::results::ClassComparison) -> _| {
            let of: Option<flowsched_experiment::results::Change> =
                row.comparison.map(|comparison| figure(comparison.fct.get(class)));
            html! {
                @if let Some(value) = of.and_then(|of| of.change) {
                    b { (change(value)) }
                    @if let Some(interval) = of.as_ref().and_then(interval) { " " span.interval { (interval) } }
                }
            }
        };
    html! {
        tbody {
            tr.class { th colspan="8" scope="rowgroup" { (class_title(class)) } }
            @for row in rows {
                @let figure = |figure| row.fct_us(class, figure).map(|of| duration(of.mean));
                tr {
                    th scope="row" { (row.scheme) }
                    td { (count(row.finished(class))) }
                    td { (figure(|d| d.mean).unwrap_or("none".to_owned())) }
                    td { (changed(row, |of| of.mean)) }
                    td { (figure(|d| d.p95).unwrap_or_default()) }
                    td { (figure(|d| d.p99).unwrap_or_default()) }
                    td { (changed(row, |of| of.p99)) }
                    td { (figure(|d| d.max).unwrap_or_default()) }
                }
            }
        }
    }
}

fn trouble(rows: &[Row<'_>]) -> Markup {
    let deadlines = rows.iter().any(|row| row.deadlines_met().is_some());
    let convergence = rows.iter().any(|row| row.convergence_us().is_some());
    html! {
        p.note { "Counts, summed over seeds." }
        div.scroll tabindex="0" role="region" aria-label="Counts" {
            table aria-label="Counts by scheme" {
                thead {
                    tr {
                        th scope="col" { "Scheme" }
                        th scope="col" { "Flows" }
                        th scope="col" { "Unfinished" }
                        th scope="col" { "Timeouts" }
                        th scope="col" { "Retransmissions" }
                        th scope="col" { "Drops" }
                        th scope="col" { "ECN marks" }
                        @if deadlines { th scope="col" { "Deadlines met" } }
                        @if convergence { th scope="col" { "Converged in" } }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            th scope="row" { (row.scheme) }
                            td { (count(row.total(|run| run.flows))) }
                            td { (count(row.total(|run| run.flows - run.finished))) }
                            td { (count(row.total(|run| run.timeouts))) }
                            td { (count(row.total(|run| run.retransmissions))) }
                            td { (count(row.total(|run| run.drops))) }
                            td { (count(row.total(|run| run.ecn_marks))) }
                            @if deadlines { td { (row.deadlines_met().map(share).unwrap_or_default()) } }
                            @if convergence {
                                td { (row.convergence_us().map_or("-".to_owned(), |f| duration(f.mean))) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn runs(summary: &Summary) -> Markup {
    let rate = |hops: u64, seconds: f64| {
        let millions = hops as f64 / seconds / 1e6;
        if millions.is_finite() { format!("{millions:.1} M") } else { String::new() }
    };
    html! {
        section #runs {
            h2 { "Runs" }
            p.note { "What each run did and cost. A packet-hop is one packet, data or ACK, "
                "crossing one link." }
            div.scroll tabindex="0" role="region" aria-label="Runs" {
                table aria-label="Runs and their cost" {
                    thead {
                        tr {
                            @if summary.points().len() > 1 { th scope="col" { "Point" } }
                            th scope="col" { "Scheme" }
                            th scope="col" { "Seed" }
                            th scope="col" { "Flows" }
                            th scope="col" { "Finished" }
                            th scope="col" { "Packet-hops" }
                            th scope="col" { "Events" }
                            th scope="col" { "CPU" }
                            th scope="col" { "Hops a CPU second" }
                            th scope="col" { "Elapsed" }
                            th scope="col" { "Memory" }
                        }
                    }
                    tbody {
                        @for run in &summary.runs {
                            tr {
                                @if summary.points().len() > 1 { td.text { (run.point) } }
                                th scope="row" { (run.scheme) @if !run.complete { " (cut short)" } }
                                td { (run.seed) }
                                td { (count(run.flows)) }
                                td { (count(run.finished)) }
                                td { (count(run.packet_hops)) }
                                td { (count(run.events)) }
                                td { (duration(run.cpu_s * 1e6)) }
                                td { (rate(run.packet_hops, run.cpu_s)) }
                                td { (duration(run.wall_s * 1e6)) }
                                td { (crate::format::size(run.peak_rss_bytes as f64)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
