//! The variants of claims as a file, with when, how and where they were measured.

use flowsched_experiment::results::Program;
use serde::{Deserialize, Serialize};

use crate::claim::Claims;
use crate::digest::{self, TableError};
use crate::exploration::Explored;

/// What `flowsched reproduce --explore --format json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExploredTable {
    /// The day, `"2026-11-23"`.
    pub date: String,
    /// The program that measured the values.
    pub program: Program,
    /// The machine: processor, cores, operating system.
    pub machine: String,
    /// The values, each with all its variants; the first is the experiment as it is.
    pub explored: Vec<Vec<Explored>>,
}

impl ExploredTable {
    /// The table as JSON text with its digest, ending with a line break.
    pub fn to_json(&self) -> String {
        digest::to_json(self)
    }

    /// Reads what [`to_json`](ExploredTable::to_json) wrote.
    ///
    /// # Errors
    /// If the text is not a table, or its digest is missing or not that of its content.
    pub fn from_json(text: &str) -> Result<ExploredTable, TableError> {
        digest::from_json(text)
    }

    /// The table with verdicts that follow from its figures and from the claims. Values that the claims no
    /// longer have are left out.
    pub fn judged(self, claims: &Claims) -> ExploredTable {
        let judge = |one: Explored| {
            let kind = one.row.kind;
            Some(Explored { row: one.row.judged_as(kind, claims)?, ..one })
        };
        let values = self.explored.into_iter();
        let judged = values.filter_map(|value| value.into_iter().map(judge).collect());
        ExploredTable { explored: judged.collect(), ..self }
    }

    /// The values of a claim.
    pub fn of_claim(&self, id: &str) -> Vec<&[Explored]> {
        let is_of_claim = |value: &&Vec<Explored>| value.iter().all(|one| one.row.id == id);
        self.explored.iter().filter(is_of_claim).map(Vec::as_slice).collect()
    }
}
