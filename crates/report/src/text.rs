//! Text in columns of a terminal: tables, and lines that are wrapped or cut.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The most columns of the terminal that [`needed`] counts for the first cell of a row, a name. [`aligned`] may cut it.
const NAME: usize = 20;

/// The width of each column, in columns of the terminal. A line of one cell is a title.
fn widths(table: &[Vec<String>]) -> Vec<usize> {
    let rows = || table.iter().filter(|cells| cells.len() > 1);
    let columns = rows().map(Vec::len).max().unwrap_or(0);
    (0..columns)
        .map(|column| rows().filter_map(|cells| cells.get(column)).map(|c| c.width()).max())
        .map(Option::unwrap_or_default)
        .collect()
}

/// The columns of the terminal that a table needs, with long names cut.
pub(crate) fn needed(table: &[Vec<String>]) -> usize {
    let widths = widths(table);
    let name = widths.first().copied().unwrap_or(0).min(NAME);
    name + widths.iter().skip(1).map(|width| width + 2).sum::<usize>()
}

/// Lays out columns side by side. The first one is aligned to the left, and cut if the line would
/// be too long. The others are aligned to the right. A line of one cell is a title and stays as it
/// is.
pub(crate) fn aligned(table: &[Vec<String>], width: usize) -> Vec<String> {
    let mut widths = widths(table);
    if let Some((first, others)) = widths.split_first_mut() {
        let others: usize = others.iter().map(|width| width + 2).sum();
        *first = (*first).min(width.saturating_sub(others).max(10));
    }
    let line = |cells: &Vec<String>| match cells.as_slice() {
        [title] => title.clone(),
        [first, others @ ..] => {
            let first = cut(first, widths[0]);
            let padding = widths[0] - first.width();
            let mut line = format!("{first}{}", " ".repeat(padding));
            for (cell, width) in others.iter().zip(&widths[1..]) {
                line.push_str(&" ".repeat(2 + width - cell.width()));
                line.push_str(cell);
            }
            line
        }
        [] => String::new(),
    };
    table.iter().map(line).collect()
}

/// The text, or its beginning and an ellipsis, in at most `width` columns.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.width() <= width {
        return text;
    }
    let mut cut = String::new();
    for character in text.chars() {
        if cut.width() + character.width().unwrap_or(0) + 1 > width {
            break;
        }
        cut.push(character);
    }
    cut + "…"
}

/// Lines of at most `width` columns, broken at blanks.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let word = cut(word, width);
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            *line = word;
        } else if line.width() + 1 + word.width() <= width {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_wide_text_is_cut_by_columns() {
        assert_eq!(cut("dctcp", 5), "dctcp");
        assert_eq!(cut("dctcp-plus", 6), "dctcp…");
        assert_eq!(cut("速い速い", 5), "速い…");
        assert_eq!(cut("a\nb", 5), "a b");
    }

    #[test]
    fn text_wraps_at_blanks() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("", 8), [""]);
    }
}
