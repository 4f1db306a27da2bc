//! What the readings of a claim change, as a table with a line for each variant and a column for each value.

use std::fmt::Write;

use flowsched_papers::{Assumption, Explored, ExploredTable, Row, Scale, Verdict};

/// The figures of the claim `id` under every variant, which values no variant reproduces, which readings of
/// `assumptions`, the claim's, were not run, and how the figures without a reading differ from `rows`, the claim's.
/// Empty if the claim was not explored with its present readings. Of several tables, one at paper scale is preferred,
/// then the newest, then the one with the most variants.
pub(super) fn readings(
    id: &str,
    assumptions: &[Assumption],
    rows: &[Row],
    tables: &[ExploredTable],
) -> String {
    let variants =
        |table: &&ExploredTable| table.of_claim(id).first().map_or(0, |variants| variants.len());
    let with_claim = tables.iter().filter(|table| variants(table) > 0);
    let known = names(assumptions);
    let with_claim = with_claim.filter(|table| {
        let mut readings = table.of_claim(id).into_iter().flatten().flat_map(|one| &one.readings);
        readings.all(|reading| known.contains(reading))
    });
    let is_paper = |table: &ExploredTable| {
        let mut rows = table.of_claim(id).into_iter().flatten().map(|one| &one.row);
        rows.any(|row| row.scale == Scale::Paper.to_string())
    };
    let counts = with_claim.max_by_key(|table| (is_paper(table), &table.date, variants(table)));
    counts.map_or(String::new(), |table| of_table(id, &known, rows, table))
}

/// What the readings are called in tables.
fn names(assumptions: &[Assumption]) -> Vec<String> {
    let named = assumptions.iter().flat_map(|one| {
        one.readings.iter().map(|reading| format!("{}: {}", one.name, reading.name))
    });
    named.collect()
}

fn of_table(id: &str, known: &[String], rows: &[Row], table: &ExploredTable) -> String {
    let values = table.of_claim(id);
    let Some((variants, first)) = values.first().and_then(|one| Some((one, one.first()?))) else {
        return String::new();
    };
    let ExploredTable { date, program, machine, .. } = table;
    let mut all = values.iter().copied().flatten();
    let same = match all.any(|one| one.row.is_same_in_every_seed()) {
        true => " Every seed gives the same figure where there is no interval.",
        false => "",
    };
    let mut text = format!(
        "**What the readings change {}.** {}{}{} Measured on {date} by flowsched {} (commit {}) with `{}` on {machine}. \
         In round brackets is how far one reading alone moves the figure.{same}\n\n",
        first.row.scale_in_words(),
        summary(&values),
        not_run(known, variants),
        unlike(&values, rows),
        program.version,
        program.commit,
        program.command
    );
    let names: Vec<&str> = values.iter().map(|value| name(value)).collect();
    let _ = writeln!(text, "| readings | {} |", names.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(values.len()));
    for (place, variant) in variants.iter().enumerate() {
        let cells: Vec<String> = values.iter().map(|value| cell(value, place)).collect();
        let _ = writeln!(text, "| {} | {} |", label(variant), cells.join(" | "));
    }
    text.push('\n');
    text
}

fn name(value: &[Explored]) -> &str {
    match value.first().map_or("", |one| one.row.value.as_str()) {
        "" => "the value",
        name => name,
    }
}

fn label(variant: &Explored) -> String {
    match &variant.readings[..] {
        [] => "as the experiment has it".to_owned(),
        readings => readings.join("; "),
    }
}

fn is_reproduced(one: &Explored) -> bool {
    one.row.verdict == Verdict::Reproduced
}

/// Says which readings are in no variant, or nothing.
fn not_run(known: &[String], variants: &[Explored]) -> String {
    let is_run = |name: &&String| variants.iter().any(|one| one.readings.contains(name));
    match &known.iter().filter(|name| !is_run(name)).cloned().collect::<Vec<_>>()[..] {
        [] => String::new(),
        missing => format!(" Not run yet: {}.", missing.join("; ")),
    }
}

/// Says for which values the interval without a reading does not meet that of the claim's row, or nothing.
fn unlike(values: &[&[Explored]], rows: &[Row]) -> String {
    let of_value = |value: &&[Explored]| {
        let base = &value.first()?.row;
        let row = rows.iter().find(|row| row.value == base.value)?;
        let ((low, high), (least, most)) = (base.interval?, row.interval?);
        let figures = [base.measured?, row.measured?].map(|figure| row.kind.in_words(figure));
        let name =
            if row.value.is_empty() { String::new() } else { format!(" of \"{}\"", row.value) };
        let differs = high < least || most < low;
        differs.then(|| format!("{}{name} instead of {}", figures[0], figures[1]))
    };
    match &values.iter().filter_map(of_value).collect::<Vec<_>>()[..] {
        [] => String::new(),
        all => format!(
            " Without any reading, these runs already differ from the rows above: {}.",
            all.join(", ")
        ),
    }
}

/// Says which values no variant reproduces, or that there are none.
fn summary(values: &[&[Explored]]) -> String {
    let never: Vec<String> = values
        .iter()
        .filter(|value| !value.iter().any(is_reproduced))
        .map(|value| format!("\"{}\"", name(value)))
        .collect();
    match (&never[..], values.len()) {
        ([], _) => "Every value is reproduced under some reading.".to_owned(),
        (_, 1) => "No reading in this table reproduces the value.".to_owned(),
        (never, all) if never.len() == all => {
            "No reading in this table reproduces any of the values.".to_owned()
        }
        (never, _) => format!("No reading in this table reproduces {}.", never.join(" or ")),
    }
}

/// The figure, in bold type if it reproduces the value. For a single reading, also how far it moves the figure.
fn cell(value: &[Explored], place: usize) -> String {
    let Some(one) = value.get(place) else { return String::new() };
    let figure = one.row.figure_in_words().replace('|', "/");
    let figure = if is_reproduced(one) { format!("**{figure}**") } else { figure };
    let moved = match (one.readings.len(), one.row.measured.zip(value[0].row.measured)) {
        (1, Some((measured, base))) => format!(" ({})", signed(one, measured - base)),
        _ => String::new(),
    };
    figure + &moved
}

fn signed(one: &Explored, by: f64) -> String {
    let words = one.row.kind.in_words(by);
    if by > 0.0 { format!("+{words}") } else { words }
}

#[cfg(test)]
mod tests {
    use flowsched_papers::{Kind, Reading, Row, Setting};

    use super::*;

    fn explored(value: &str, readings: &[&str], measured: f64, verdict: Verdict) -> Explored {
        Explored {
            readings: readings.iter().map(|&name| name.to_owned()).collect(),
            row: Row {
                id: "a.b".to_owned(),
                value: value.to_owned(),
                kind: Kind::Value,
                bound: None,
                published: None,
                measured: Some(measured),
                interval: None,
                extremes: None,
                verdict,
                reason: None,
                scale: "quick".to_owned(),
                seeds: Some(5),
                cpu_s: None,
                experiment_hash: None,
                curve: None,
                schemes: Vec::new(),
                drawings: Vec::new(),
            },
        }
    }

    /// An assumption with these readings.
    fn assumption(name: &str, readings: &[&str]) -> Assumption {
        let reading = |name: &&str| Reading {
            name: (*name).to_owned(),
            set: Setting::new(),
            figure: None,
            inverse: false,
        };
        let readings = readings.iter().map(reading).collect();
        Assumption { name: name.to_owned(), why: String::new(), readings }
    }

    #[test]
    fn every_variant_is_a_line_and_every_value_a_column() {
        let value = |name, second| {
            vec![
                explored(name, &[], 2.0, Verdict::NotReproduced),
                explored(name, &["RTO: 1 ms"], 3.0, second),
                explored(name, &["RTO: 1 ms", "window: 2"], 1.0, Verdict::NotReproduced),
            ]
        };
        let table = ExploredTable {
            date: "2026-11-24".to_owned(),
            program: Default::default(),
            machine: String::new(),
            explored: vec![value("x", Verdict::Reproduced), value("y", Verdict::NotReproduced)],
        };
        let older = ExploredTable { date: "2026-11-23".to_owned(), ..table.clone() };
        let mut paper = older.clone();
        paper.explored.iter_mut().flatten().for_each(|one| one.row.scale = "paper".to_owned());
        let open = [assumption("RTO", &["1 ms", "5 ms"]), assumption("window", &["2"])];
        let at_paper_scale = readings("a.b", &open, &[], &[table.clone(), paper, older.clone()]);
        assert!(at_paper_scale.contains("change at paper scale.**"), "{at_paper_scale}");
        assert!(at_paper_scale.contains("Measured on 2026-11-23"), "{at_paper_scale}");
        let text = readings("a.b", &open, &[], &[table.clone(), older]);
        assert!(text.contains(" Not run yet: RTO: 5 ms. Measured"), "{text}");
        assert!(text.contains("change at quick scale.**"), "{text}");
        assert!(text.contains("Measured on 2026-11-24"), "{text}");
        assert!(text.contains("No reading in this table reproduces \"y\"."), "{text}");
        assert!(text.contains("| readings | x | y |"), "{text}");
        assert!(text.contains("| as the experiment has it | 2 | 2 |"), "{text}");
        assert!(text.contains("| RTO: 1 ms | **3** (+1) | 3 (+1) |"), "{text}");
        assert!(text.contains("| RTO: 1 ms; window: 2 | 1 | 1 |"), "{text}");
        assert_eq!(readings("a.c", &open, &[], std::slice::from_ref(&table)), "");
        assert_eq!(readings("a.b", &open[..1], &[], std::slice::from_ref(&table)), "", "no window");
        let never = |names: &[&'static str]| {
            let values = names.iter().map(|name| value(name, Verdict::Undecided)).collect();
            readings("a.b", &open, &[], &[ExploredTable { explored: values, ..table.clone() }])
        };
        assert!(never(&["y"]).contains("No reading in this table reproduces the value."));
        assert!(
            never(&["x", "y"]).contains("No reading in this table reproduces any of the values.")
        );
    }

    #[test]
    fn a_table_that_differs_from_the_rows_says_so() {
        let row = |measured, interval| Row {
            interval: Some(interval),
            ..explored("x", &[], measured, Verdict::Reproduced).row
        };
        let base = Explored { readings: Vec::new(), row: row(2.0, (1.0, 3.0)) };
        let said = |interval| unlike(&[std::slice::from_ref(&base)], &[row(7.0, interval)]);
        let words = " Without any reading, these runs already differ from the rows above: 2 of \"x\" instead of 7.";
        assert_eq!(said((6.0, 8.0)), words);
        assert_eq!(said((3.0, 8.0)), "", "the intervals meet");
    }
}
