//! Rows as text for a terminal.

use std::fmt::Write;

use crate::kind::Kind;
use crate::row::Row;
use crate::verdict::Verdict;

/// The headers of a row's columns.
const HEADERS: [&str; 5] = ["published", "measured", "verdict", "scale", "CPU time"];
/// The indentation of columns and reasons.
const INDENT: &str = "  ";

/// All rows, and the number of rows with each verdict. Each row is two lines, the value's name and its columns. A
/// reason follows in lines of at most `width` columns.
pub fn as_table(rows: &[Row], width: usize) -> String {
    let headers = HEADERS.map(str::to_owned);
    let cells: Vec<[String; 5]> = rows.iter().map(cells).collect();
    let all = || cells.iter().chain([&headers]);
    let widths: [usize; 5] = std::array::from_fn(|column| {
        all().map(|row| row[column].chars().count()).max().unwrap_or_default()
    });
    let line = |cells: &[String; 5]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{INDENT}{}", padded.collect::<Vec<_>>().join("  ")).trim_end().to_owned()
    };
    let mut text = format!("value\n{}\n\n", line(&headers));
    for (row, cells) in rows.iter().zip(&cells) {
        let _ = writeln!(text, "{}\n{}", row.name(), line(cells));
        if let Some(reason) = &row.reason {
            let wrap =
                textwrap::Options::new(width).initial_indent(INDENT).subsequent_indent(INDENT);
            let _ = writeln!(text, "{}", textwrap::fill(reason, wrap));
        }
    }
    let _ = writeln!(text, "\n{}", totals(rows));
    text
}

/// A row's columns.
fn cells(row: &Row) -> [String; 5] {
    [
        row.published_in_words(),
        row.measured_in_words(),
        row.verdict.words().to_owned(),
        row.runs_in_words(),
        row.cost_in_words(),
    ]
}

/// The number of rows with each verdict: `Of 142 published values: 10 reproduced, ... Of 12 published orders: ...
/// Of 3 published properties: ...`. Orders and properties are counted apart, because they are easier to reproduce
/// than numbers.
pub fn totals(rows: &[Row]) -> String {
    let of = |is_of: fn(Kind) -> bool| rows.iter().filter(|row| is_of(row.kind)).collect();
    let groups: [(Vec<&Row>, &str, &str); 3] = [
        (of(|kind| !matches!(kind, Kind::Order | Kind::Property)), "value", "values"),
        (of(|kind| kind == Kind::Order), "order", "orders"),
        (of(|kind| kind == Kind::Property), "property", "properties"),
    ];
    let sentence = |rows: &[&Row], what: &str| {
        let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
        let counted = Verdict::ALL.into_iter().filter(|verdict| count(*verdict) > 0);
        let counted: Vec<String> =
            counted.map(|verdict| format!("{} {}", count(verdict), verdict.words())).collect();
        format!("Of {} published {what}: {}.", rows.len(), counted.join(", "))
    };
    let stated = groups.iter().filter(|(rows, ..)| !rows.is_empty());
    let sentences =
        stated.map(|(rows, one, more)| sentence(rows, if rows.len() == 1 { one } else { more }));
    sentences.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::Published;

    fn row(kind: Kind, verdict: Verdict) -> Row {
        Row::without_figures(kind, verdict)
    }

    #[test]
    fn orders_and_properties_count_apart() {
        let rows = [
            row(Kind::Gap, Verdict::Reproduced),
            row(Kind::Value, Verdict::NotRun),
            row(Kind::Order, Verdict::Reproduced),
            row(Kind::Property, Verdict::Reproduced),
            row(Kind::Property, Verdict::NotRun),
        ];
        let expected = "Of 2 published values: 1 reproduced, 1 not run. Of 1 published order: 1 reproduced. \
                        Of 2 published properties: 1 reproduced, 1 not run.";
        assert_eq!(totals(&rows), expected);
        assert_eq!(totals(&[]), "");
    }

    #[test]
    fn rows_have_scale_and_cost_and_fit_a_hundred_columns() {
        let measured = Row {
            id: "pias.table1".to_owned(),
            published: Some(Published::Range([-0.123, -0.1])),
            measured: Some(-0.725),
            interval: Some((-0.725, -0.725)),
            scale: "lab, paper".to_owned(),
            seeds: Some(20),
            cpu_s: Some(86_400.0),
            ..row(Kind::Gap, Verdict::NotReproduced)
        };
        let reason = "the runs do not have the figure ".repeat(5);
        let idle = Row { reason: Some(reason), ..row(Kind::Value, Verdict::NotRun) };
        let text = as_table(&[measured, idle], 100);
        let columns = "-12.3% to -10%  -72.5%, every seed gives the same  not reproduced  lab, paper, 20 seeds  86400 s";
        assert!(text.contains(columns), "{text}");
        let (rows, _) = text.rsplit_once("\n\n").unwrap();
        assert!(rows.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}
