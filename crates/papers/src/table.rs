//! Rows as text for a terminal.

use std::fmt::Write;

use crate::kind::Kind;
use crate::row::Row;
use crate::verdict::Verdict;

/// All rows as lines of at most `width` columns where they fit, and how many there are of each
/// verdict.
pub fn as_table(rows: &[Row], width: usize) -> String {
    let mut text = String::new();
    for row in rows {
        let (published, measured) = (row.published_in_words(), row.measured_in_words());
        let verdict = row.verdict_in_words();
        let line = format!("{:<47} {published:>16} {measured:>27}  {verdict}", row.name());
        match line.chars().count() <= width {
            true => writeln!(text, "{}", line.trim_end()),
            false => writeln!(text, "{}\n    {published}  {measured}  {verdict}", row.name()),
        }
        .unwrap_or_default();
    }
    let _ = writeln!(text, "\n{}", totals(rows));
    text
}

/// `Of 142 published values: 10 reproduced, ... Of 12 published orders: ...`; orders, which are easier
/// to reproduce than numbers, count apart.
pub fn totals(rows: &[Row]) -> String {
    let (orders, values): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.kind == Kind::Order);
    let sentence = |rows: &[&Row], what: &str| {
        let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
        let counted = Verdict::ALL.into_iter().filter(|verdict| count(*verdict) > 0);
        let counted: Vec<String> =
            counted.map(|verdict| format!("{} {}", count(verdict), verdict.words())).collect();
        format!("Of {} published {what}: {}.", rows.len(), counted.join(", "))
    };
    let both = [(&values, "values"), (&orders, "orders")];
    let stated = both.into_iter().filter(|(rows, _)| !rows.is_empty());
    stated.map(|(rows, what)| sentence(rows, what)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: Kind, verdict: Verdict) -> Row {
        Row::without_figures(kind, verdict)
    }

    #[test]
    fn orders_count_apart() {
        let rows = [
            row(Kind::Gap, Verdict::Reproduced),
            row(Kind::Value, Verdict::NotRun),
            row(Kind::Order, Verdict::Reproduced),
        ];
        let expected =
            "Of 2 published values: 1 reproduced, 1 not run. Of 1 published orders: 1 reproduced.";
        assert_eq!(totals(&rows), expected);
        assert_eq!(totals(&[]), "");
    }
}
