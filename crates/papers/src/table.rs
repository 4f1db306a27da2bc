//! Rows as text for a terminal.

use std::fmt::Write;

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

/// `Of 142 published values, 10 reproduced, ...`
pub fn totals(rows: &[Row]) -> String {
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let counted = Verdict::ALL.map(|verdict| format!("{} {}", count(verdict), verdict.words()));
    format!("Of {} published values: {}.", rows.len(), counted.join(", "))
}
