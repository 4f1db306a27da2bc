//! The recorded tables that a page's rows are from, numbered for the page.

use std::collections::BTreeSet;
use std::fmt::Write;

use flowsched_papers::{Row, Tables};

/// The tables that a page cites.
pub(super) struct Sources<'a> {
    tables: &'a Tables,
    /// The places of the cited tables among all tables.
    cited: Vec<usize>,
}

impl<'a> Sources<'a> {
    /// The tables that measured these rows.
    pub fn new<'r>(tables: &'a Tables, rows: impl Iterator<Item = &'r Row>) -> Sources<'a> {
        let cited: BTreeSet<usize> = rows.filter_map(|row| tables.place_of(row)).collect();
        Sources { tables, cited: cited.into_iter().collect() }
    }

    /// The number of a row's table in brackets, after a blank; empty if nothing was measured.
    pub fn mark(&self, row: &Row) -> String {
        let number = self
            .tables
            .place_of(row)
            .and_then(|place| self.cited.iter().position(|cited| *cited == place));
        number.map_or(String::new(), |number| format!(" [{}]", number + 1))
    }

    /// The tables as a numbered list in Markdown: when, how and where each was measured.
    pub fn list(&self) -> String {
        let mut text = String::new();
        for (number, place) in self.cited.iter().enumerate() {
            let table = &self.tables.all()[*place];
            let scale = table.claims.first().map_or("", |row| row.scale.as_str());
            let _ = writeln!(
                text,
                "{}. Scale \"{scale}\": measured on {} by flowsched {} (commit {}) with `{}` on {}.",
                number + 1,
                table.date,
                table.program.version,
                table.program.commit,
                table.program.command,
                table.machine
            );
        }
        text
    }
}
