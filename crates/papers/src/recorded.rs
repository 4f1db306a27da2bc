//! A table as a file: the rows, and when, how and where they were measured.

use flowsched_experiment::results::Program;
use serde::{Deserialize, Serialize};

use crate::row::Row;
use crate::verdict::Verdict;

/// What `flowsched reproduce --format json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// The day, `"2026-11-23"`.
    pub date: String,
    /// What measured it.
    pub program: Program,
    /// The machine: processor, cores, operating system.
    pub machine: String,
    /// The rows, in the order of the claims.
    pub claims: Vec<Row>,
}

impl Recorded {
    /// As JSON text, ending with a line break.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self);
        json.expect("texts and numbers can be written as JSON") + "\n"
    }

    /// The row of a claim's value.
    pub fn row(&self, id: &str, value: &str) -> Option<&Row> {
        self.claims.iter().find(|row| row.id == id && row.value == value)
    }
}

/// For every row of `quick` the one of `paper` if that was measured, otherwise itself.
pub fn largest_scale(quick: &Recorded, paper: Option<&Recorded>) -> Vec<Row> {
    let larger = |row: &Row| {
        let found = paper.and_then(|paper| paper.row(&row.id, &row.value));
        found.filter(|row| row.verdict != Verdict::NotRun).unwrap_or(row).clone()
    };
    quick.claims.iter().map(larger).collect()
}
