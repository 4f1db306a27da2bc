//! The page's tables: the comparison of schemes, counts of trouble, and the runs.

use flowsched_experiment::results::{Point, SizeClass, Summary};
use maud::{Markup, html};

use crate::format::{change, count, count_or_dash, duration, interval, plural, share};
use crate::overview::{
    CLASSES, Row, against, class_title, fct, interval_note, left_out, rows, seeds,
};
use crate::parts::{QUERY_NOTE, has_queries, parts};

/// The comparison of the schemes at one point.
pub(super) fn comparison(summary: &Summary, point: &Point) -> Markup {
    let rows = rows(summary, point);
    let left_out = left_out(&rows);
    html! {
        p.note {
            (fct(summary)) " of the flows that finished, mean over "
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
                        th scope="col" { "99.9th percentile" }
                        th scope="col" { "Largest" }
                    }
                }
                @for class in CLASSES { (class_rows(&rows, class)) }
            }
        }
        (part_table(&rows))
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
            tr.class { th colspan="9" scope="rowgroup" { (class_title(class)) } }
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
                    td { (figure(|d| d.p999).unwrap_or_default()) }
                    td { (figure(|d| d.max).unwrap_or_default()) }
                }
            }
        }
    }
}

/// The table of the parts of the workload; empty if the workload is not divided.
fn part_table(rows: &[Row<'_>]) -> Markup {
    let parts = parts(rows);
    let queries = has_queries(&parts);
    let time = |found: Option<f64>| found.map(duration).unwrap_or_default();
    html! {
        @if !parts.is_empty() {
            p.note {
                "FCT by part of the workload."
                @if queries { " " (QUERY_NOTE) }
            }
            div.scroll tabindex="0" role="region" aria-label="Parts of the workload" {
                table aria-label="FCT by part and scheme" {
                    thead {
                        tr {
                            th scope="col" { "Scheme" }
                            th scope="col" { "Flows" }
                            th scope="col" { "Mean" }
                            th scope="col" { "99th percentile" }
                            @if queries {
                                th scope="col" { "Query, mean" }
                                th scope="col" { "Query, 99th percentile" }
                            }
                        }
                    }
                    @for part in &parts {
                        tbody {
                            tr.class {
                                th colspan=(if queries { 6 } else { 4 }) scope="rowgroup" { (part.name) }
                            }
                            @for line in &part.lines {
                                tr {
                                    th scope="row" { (line.scheme) }
                                    td { (count(line.finished())) }
                                    td { (time(line.fct_us(|d| d.mean))) }
                                    td { (time(line.fct_us(|d| d.p99))) }
                                    @if queries {
                                        td { (time(line.query_us(|d| d.mean))) }
                                        td { (time(line.query_us(|d| d.p99))) }
                                    }
                                }
                            }
                        }
                    }
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
                            td { (count_or_dash(row.counted(|run| run.timeouts))) }
                            td { (count_or_dash(row.counted(|run| run.retransmissions))) }
                            td { (count_or_dash(row.counted(|run| run.drops))) }
                            td { (count_or_dash(row.counted(|run| run.ecn_marks))) }
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

/// What each run did and cost.
pub(super) fn runs(summary: &Summary) -> Markup {
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
