//! What the readings of claims change, as a file: the variants, and when, how and where they were measured.

use flowsched_experiment::results::Program;
use serde::{Deserialize, Serialize};

use crate::exploration::Explored;

/// What `flowsched reproduce --explore --format json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExploredTable {
    /// The day, `"2026-11-23"`.
    pub date: String,
    /// What measured it.
    pub program: Program,
    /// The machine: processor, cores, operating system.
    pub machine: String,
    /// The values, each with all its variants; the first is the experiment as it is.
    pub explored: Vec<Vec<Explored>>,
}

impl ExploredTable {
    /// As JSON text, ending with a line break.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self);
        json.expect("texts and numbers can be written as JSON") + "\n"
    }

    /// The values of a claim.
    pub fn of_claim(&self, id: &str) -> Vec<&[Explored]> {
        let is_of_claim = |value: &&Vec<Explored>| value.iter().all(|one| one.row.id == id);
        self.explored.iter().filter(is_of_claim).map(Vec::as_slice).collect()
    }
}
