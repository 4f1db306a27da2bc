//! The comparison table of a terminal.

use std::fmt::Write as _;

use flowsched_experiment::results::{
    Change, Figure, OrderFound, OrderVerdict, Point, SizeClass, Summary,
};

use crate::format::{change, count, count_or_dash, duration, interval, plural, share};
use crate::lab;
use crate::overview::{
    CLASSES, Row, against, class_title, fct, interval_note, left_out, partial_note, rows, seeds,
};
use crate::parts::{Line, Part, QUERY_NOTE, has_queries, parts};
use crate::text::{aligned, cut, needed, wrap};

/// Columns that are shown only if there is room.
#[derive(Clone, Copy)]
struct Optional {
    /// The 99.9th percentile.
    p999: bool,
    /// The interval of the change of the 99th percentile.
    p99_interval: bool,
}

/// The choices of optional columns, the most columns first.
const OPTIONAL: [Optional; 3] = [
    Optional { p999: true, p99_interval: true },
    Optional { p999: true, p99_interval: false },
    Optional { p999: false, p99_interval: false },
];

/// The figures of a study as text for a terminal of `width` columns: for every point, FCT by size
/// class with the change against the first scheme, then what did not go well, and warnings at the
/// end. The text fits 80 columns. If there are more columns, it has more figures.
pub fn terminal(summary: &Summary, width: usize) -> String {
    let mut text = String::new();
    let mut line = |content: &str| _ = writeln!(text, "{}", content.trim_end());
    for part in wrap(&summary.name, width) {
        line(&part);
    }
    if summary.runs.is_empty() {
        line("There are no runs.");
        return text;
    }
    for part in partial_note(summary).iter().flat_map(|note| wrap(note, width)) {
        line(&part);
    }
    for point in summary.points() {
        line("");
        if !point.is_empty() {
            line(&format!("{point}"));
        }
        point_lines(summary, point, width).iter().for_each(|content| line(content));
    }
    if !summary.orders.is_empty() {
        line("");
        line("Orders that are stated, the lowest FCT first:");
        for part in orders(summary).iter().flat_map(|order| wrap(order, width)) {
            line(&part);
        }
    }
    if !summary.lab.is_empty() {
        line(&lab::lab(summary, width));
    }
    line("");
    for note in notes(summary) {
        wrap(&note, width).iter().for_each(|part| line(part));
    }
    for warning in &summary.warnings {
        line("");
        wrap(&format!("Warning: {warning}"), width).iter().for_each(|part| line(part));
    }
    text
}

/// A line for each order at each point.
fn orders(summary: &Summary) -> Vec<String> {
    let found = summary.orders.iter().map(|order| {
        let verdict = match order.verdict {
            OrderVerdict::Holds => "holds",
            OrderVerdict::Reversed => "reversed",
            OrderVerdict::Undecided => "undecided",
        };
        let figure = match order.figure {
            Figure::Mean => "mean",
            Figure::P99 => "p99",
        };
        let by = order.change.change.map_or("nothing to compare".to_owned(), change);
        let within = interval(&order.change).unwrap_or_default();
        let at =
            if order.point.is_empty() { String::new() } else { format!(" at {}", order.point) };
        let OrderFound { class, lower, higher, .. } = order;
        format!("  {verdict:<9}  {lower} < {higher}, {figure} of {class}{at}: {by} {within}")
    });
    found.collect()
}

fn point_lines(summary: &Summary, point: &Point, width: usize) -> Vec<String> {
    let rows = rows(summary, point);
    let mut lines = aligned(&figures(summary, &rows, width), width);
    lines.push(String::new());
    let parts = parts(&rows);
    if !parts.is_empty() {
        lines.extend(aligned(&part_table(&parts, width), width));
        if has_queries(&parts) {
            lines.extend(wrap(QUERY_NOTE, width));
        }
        lines.push(String::new());
    }
    let heading = ["", "unfinished", "timeouts", "resent", "drops", "marks"];
    let mut table = vec![heading.map(str::to_owned).to_vec()];
    table.extend(rows.iter().map(trouble));
    if rows.iter().any(|row| row.deadlines_met().is_some()) {
        table[0].push("deadlines met".to_owned());
        for (cells, row) in table[1..].iter_mut().zip(&rows) {
            cells.push(row.deadlines_met().map(share).unwrap_or_default());
        }
    }
    if rows.iter().any(|row| row.convergence_us().is_some()) {
        table[0].push("converged in".to_owned());
        for (cells, row) in table[1..].iter_mut().zip(&rows) {
            cells.push(row.convergence_us().map_or("-".to_owned(), |found| duration(found.mean)));
        }
    }
    lines.extend(aligned(&table, width));
    let left_out = left_out(&rows);
    if left_out > 0 {
        let flows = count(left_out);
        lines.push(format!("Left out of changes, as not finished under both schemes: {flows}"));
    }
    for note in rows.iter().filter_map(Row::schedule_note) {
        lines.extend(wrap(&note, width));
    }
    lines
}

/// The table of figures with as many of the optional columns as `width` has room for.
fn figures(summary: &Summary, rows: &[Row<'_>], width: usize) -> Vec<Vec<String>> {
    let table = |optional: &Optional| {
        let mut table = vec![heading(summary, *optional)];
        for class in CLASSES {
            table.extend(class_lines(rows, class, against(summary).is_some(), *optional));
        }
        table
    };
    let mut tables = OPTIONAL.iter().map(table);
    let fits = |table: &Vec<Vec<String>>| needed(table) <= width;
    tables.find(fits).unwrap_or_else(|| table(&OPTIONAL[OPTIONAL.len() - 1]))
}

fn heading(summary: &Summary, optional: Optional) -> Vec<String> {
    let against = against(summary).map(|first| format!("vs {}", cut(first, 10)));
    let interval = |show| (show && against.is_some()).then(|| "[95%]".to_owned());
    let named = |name: &str| Some(name.to_owned());
    let cells = [named(""), named("flows"), named("mean"), against.clone(), interval(true)];
    let p999 = optional.p999.then(|| "p99.9".to_owned());
    let tail = [named("p99"), against.clone(), interval(optional.p99_interval), p999];
    cells.into_iter().chain(tail).flatten().collect()
}

/// The class's title, and a row for each scheme.
fn class_lines(
    rows: &[Row<'_>],
    class: Option<SizeClass>,
    compared: bool,
    optional: Optional,
) -> Vec<Vec<String>> {
    let mut lines = vec![vec![class_title(class)]];
    if rows.iter().all(|row| row.finished(class) == 0) {
        let is_empty = rows.iter().all(|row| row.total(|run| run.flows - run.finished) == 0);
        // The summary counts unfinished flows over all classes.
        let what = if is_empty { "  no flows" } else { "  no finished flows" };
        lines.push(vec![what.to_owned()]);
        return lines;
    }
    for row in rows {
        let figure =
            |figure| row.fct_us(class, figure).map_or("-".to_owned(), |f| duration(f.mean));
        let of = row.comparison.map(|comparison| comparison.fct.get(class));
        let change = |of: Option<&Change>| of.and_then(|of| of.change).map(change);
        let changed = |of: Option<&Change>| {
            let interval = of.and_then(interval).unwrap_or_default();
            [change(of).unwrap_or_default(), interval]
        };
        let mut cells = vec![format!("  {}", row.scheme), count(row.finished(class))];
        cells.push(figure(|d| d.mean));
        if compared {
            cells.extend(changed(of.map(|of| &of.mean)));
        }
        cells.push(figure(|d| d.p99));
        if compared {
            let beside = if optional.p99_interval { 2 } else { 1 };
            cells.extend(changed(of.map(|of| &of.p99)).into_iter().take(beside));
        }
        if optional.p999 {
            cells.push(figure(|d| d.p999));
        }
        lines.push(cells);
    }
    lines
}

/// The parts of the workload, with a row for each scheme. Queries have columns if there are any.
fn part_table(parts: &[Part<'_>], width: usize) -> Vec<Vec<String>> {
    let queries = has_queries(parts);
    let cells = |line: &Line<'_>| {
        let time = |found: Option<f64>| found.map_or("-".to_owned(), duration);
        let mut cells = vec![format!("  {}", line.scheme), count(line.finished())];
        cells.extend([line.fct_us(|d| d.mean), line.fct_us(|d| d.p99)].map(time));
        if queries {
            cells.extend([line.query_us(|d| d.mean), line.query_us(|d| d.p99)].map(time));
        }
        cells
    };
    let heading = ["", "flows", "mean", "p99", "mean query", "p99 query"];
    let columns = if queries { heading.len() } else { heading.len() - 2 };
    let mut table = vec![heading[..columns].iter().map(|name| (*name).to_owned()).collect()];
    for part in parts {
        table.push(vec![cut(&format!("Part {}", part.name), width)]);
        table.extend(part.lines.iter().map(cells));
    }
    table
}

fn trouble(row: &Row<'_>) -> Vec<String> {
    let totals = [
        Some(row.total(|run| run.flows - run.finished)),
        row.counted(|run| run.timeouts),
        row.counted(|run| run.retransmissions),
        row.counted(|run| run.drops),
        row.counted(|run| run.ecn_marks),
    ];
    std::iter::once(format!("  {}", row.scheme)).chain(totals.map(count_or_dash)).collect()
}

fn notes(summary: &Summary) -> Vec<String> {
    let mut notes = vec![format!(
        "{} of the flows that finished, mean over {}; counts are sums.",
        fct(summary),
        plural(seeds(summary), "seed")
    )];
    if let Some(note) = interval_note(summary) {
        notes.push(format!("Changes are of the same flows under both schemes, over several seeds the geometric mean; \
             [ ] is the {note}."));
    }
    notes
}
