//! A table of an experiment file, and how it is written.

use std::fmt::Write;

use flowsched_units::{Kind, Parameter};

/// A table of the file.
pub(super) struct Table {
    /// The header as the file has it, such as `[topology]`.
    pub(super) header: &'static str,
    /// The prefix of the table's keys on the command line, such as `topology.`.
    pub(super) path: String,
    pub(super) entries: Vec<Entry>,
}

/// A key with its value.
pub(super) struct Entry {
    pub(super) key: &'static str,
    pub(super) value: String,
    pub(super) kind: Kind,
}

impl Table {
    pub(super) fn new(header: &'static str, path: impl Into<String>) -> Table {
        Table { header, path: path.into(), entries: Vec::new() }
    }

    pub(super) fn set(&mut self, parameter: &Parameter, value: impl Into<String>) {
        let (key, kind) = (parameter.name, parameter.kind);
        self.entries.push(Entry { key, value: value.into(), kind });
    }

    pub(super) fn set_text(&mut self, key: &'static str, value: impl Into<String>) {
        self.entries.push(Entry { key, value: value.into(), kind: Kind::Text });
    }

    pub(super) fn write(&self, file: &mut String) {
        if !self.header.is_empty() {
            let _ = writeln!(file, "\n{}", self.header);
        }
        for Entry { key, value, kind } in &self.entries {
            let _ = match kind {
                Kind::Count { .. } | Kind::Number { .. } | Kind::Flag => {
                    writeln!(file, "{key} = {value}")
                }
                _ => writeln!(file, "{key} = \"{value}\""),
            };
        }
    }
}
