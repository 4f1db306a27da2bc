//! The tables that are kept in the repository, and the book's pages that are made of them.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use flowsched_papers::{
    Claim, ClaimedValue, Claims, Explored, ExploredTable, Recorded, Repository, Row, Study,
    largest_scale, totals,
};
use flowsched_report::{claim_chart, paper_page};
use flowsched_run::machine_in_words;
use serde::de::DeserializeOwned;

use crate::arguments::Scale;
use crate::failure::Failure;
use crate::program::program;

/// The claim whose chart the front page shows.
const FRONT: &str = "pias.sim.oversubscribed";

/// What the readings of claims change at quick scale.
const EXPLORED: &str = "papers/explored-quick.json";

/// The rows with the day, the program and the machine.
pub fn record(rows: Vec<Row>) -> Recorded {
    let date = chrono::Utc::now().date_naive().to_string();
    Recorded { date, program: program(), machine: machine_in_words(), claims: rows }
}

/// The variants with the day, the program and the machine.
pub fn record_explored(explored: Vec<Vec<Explored>>) -> ExploredTable {
    let date = chrono::Utc::now().date_naive().to_string();
    ExploredTable { date, program: program(), machine: machine_in_words(), explored }
}

/// The largest scale that is recorded of every value; nothing without a table.
pub fn recorded_rows() -> Result<Vec<Row>, Failure> {
    Ok(rows_of(&read(Scale::Quick)?, &read(Scale::Paper)?))
}

fn rows_of(quick: &Option<Recorded>, paper: &Option<Recorded>) -> Vec<Row> {
    quick.as_ref().map_or(Vec::new(), |quick| largest_scale(quick, paper.as_ref()))
}

fn read(scale: Scale) -> Result<Option<Recorded>, Failure> {
    read_json(&format!("papers/measured-{scale}.json"))
}

/// What the file at `path` says; nothing if there is none.
fn read_json<T: DeserializeOwned>(path: &str) -> Result<Option<T>, Failure> {
    let failed = |source| Failure::System { what: format!("read {path}"), source };
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| failed(error.into())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Writes a page for each paper, the line of totals and the chart of the front page to a folder.
pub fn write_pages(folder: &Path) -> Result<(), Failure> {
    let claims = Repository::here().claims()?;
    let (quick, paper) = (read(Scale::Quick)?, read(Scale::Paper)?);
    let explored: Option<ExploredTable> = read_json(EXPLORED)?;
    let rows = rows_of(&quick, &paper);
    let tables: Vec<&Recorded> = [&quick, &paper].into_iter().flatten().collect();
    let mut papers: BTreeMap<&str, Vec<&Claim>> = BTreeMap::new();
    for claim in &claims.all {
        papers.entry(&claim.paper).or_default().push(claim);
    }
    for (paper, claims) in papers {
        let page = paper_page(paper, &claims, &rows, &tables, explored.as_ref());
        write(folder, &format!("{paper}.md"), &page)?;
    }
    write(folder, "totals.md", &(totals(&rows) + "\n"))?;
    let front: Vec<&Row> = rows.iter().filter(|row| row.id == FRONT).collect();
    write(folder, "front.svg", &(claim_chart(&front).unwrap_or_default() + "\n"))
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    let failed = |source| Failure::System { what: format!("write {}", path.display()), source };
    fs::write(&path, text).map_err(failed)
}

/// What studies took when a table was recorded, in seconds of one processor.
pub struct Costs(BTreeMap<Study, f64>);

/// The costs of the table of `claims` that is recorded at `scale`.
pub fn costs(claims: &Claims, scale: Scale) -> Result<Costs, Failure> {
    let Some(table) = read(scale)? else { return Ok(Costs(BTreeMap::new())) };
    let values = claims.all.iter().flat_map(|claim| claim.values.iter().map(move |v| (claim, v)));
    let cost = |(claim, value): (&Claim, &ClaimedValue)| {
        let row = table.row(&claim.id, &value.name)?;
        Some((value.measure.as_ref()?.study(), row.cpu_s?))
    };
    Ok(Costs(values.filter_map(cost).collect()))
}

impl Costs {
    /// `, about 12 min left`; nothing if most of the studies' costs are unknown.
    pub fn time_left(&self, studies: &[Study], threads: usize) -> String {
        let known: Vec<f64> = studies.iter().filter_map(|one| self.0.get(one).copied()).collect();
        if known.len() * 2 < studies.len() {
            return String::new();
        }
        let each = known.iter().sum::<f64>() / known.len() as f64;
        let minutes = each * studies.len() as f64 / threads as f64 / 60.0;
        match minutes {
            ..1.0 => ", less than a minute left".to_owned(),
            _ => format!(", about {minutes:.0} min left"),
        }
    }
}
