//! The tables that are kept in the repository, and the book's pages that are made from them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::arguments::Scale;
use crate::failure::Failure;
use crate::program::program;
use flowsched_experiment::results::World;
use flowsched_experiment::{Experiment, Mistake, Mistakes, Place};
use flowsched_papers::{
    Claim, ClaimedValue, Claims, Explored, ExploredTable, Recorded, Repository, Row, Study,
    TableError, Tables, totals,
};
use flowsched_report::{front_chart, paper_page};
use flowsched_run::{Size, machine_in_words};

/// The claim whose chart the front page shows.
const FRONT: &str = "pias.sim.oversubscribed";

/// The folders of what was measured, and of what the readings of claims change. Each file is the output of one
/// command.
const MEASURED: &str = "papers/measured";
const EXPLORED: &str = "papers/explored";

/// The rows, measured in `world`, with the day, the program and the machine.
pub fn record(rows: Vec<Row>, world: World) -> Recorded {
    let date = chrono::Utc::now().date_naive().to_string();
    let program = program().in_world(world);
    Recorded { date, program, machine: machine_in_words(), claims: rows }
}

/// The variants with the day, the program and the machine.
pub fn record_explored(explored: Vec<Vec<Explored>>) -> ExploredTable {
    let date = chrono::Utc::now().date_naive().to_string();
    ExploredTable { date, program: program(), machine: machine_in_words(), explored }
}

/// The tables of what was measured, with verdicts by these claims.
///
/// # Errors
/// If a table was changed after it was written, or two measured a value at the same scale on the same day.
pub fn tables(claims: &Claims) -> Result<Tables, Failure> {
    let refused = |problem: String| {
        Mistakes::from(Mistake::new(&Place::Argument(MEASURED.to_owned()), "claims", problem))
    };
    let read: Vec<(String, Recorded)> = read_all(MEASURED, Recorded::from_json)?;
    let judged = read.into_iter().map(|(file, table)| (file, table.judged(claims)));
    Ok(Tables::new(judged.collect()).map_err(refused)?)
}

/// The tables of a folder, each with its path, sorted by path; none if there is no folder.
fn read_all<T>(
    folder: &str,
    from_json: fn(&str) -> Result<T, TableError>,
) -> Result<Vec<(String, T)>, Failure> {
    files(folder)?.iter().map(|path| read(path, from_json)).collect()
}

/// The JSON files of a folder, sorted by path; none if there is no folder.
fn files(folder: &str) -> Result<Vec<PathBuf>, Failure> {
    let list = || -> io::Result<Vec<PathBuf>> {
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
    };
    let mut paths = match list() {
        Ok(paths) => paths,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Failure::System { what: format!("read {folder}"), source }),
    };
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort_unstable();
    Ok(paths)
}

/// A table with its path.
fn read<T>(
    path: &Path,
    from_json: fn(&str) -> Result<T, TableError>,
) -> Result<(String, T), Failure> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path)
        .map_err(|source| Failure::System { what: format!("read {name}"), source })?;
    match from_json(&text) {
        Ok(table) => Ok((name, table)),
        Err(refused) => {
            let place = Place::Argument(name);
            Err(Mistakes::from(Mistake::new(&place, "", refused.to_string())).into())
        }
    }
}

/// Writes a page for each paper, the line of totals and the chart of the front page to a folder.
pub fn write_pages(folder: &Path) -> Result<(), Failure> {
    let claims = Repository::here().claims()?;
    let tables = tables(&claims)?;
    let explored: Vec<(String, ExploredTable)> = read_all(EXPLORED, ExploredTable::from_json)?;
    let explored: Vec<ExploredTable> =
        explored.into_iter().map(|(_, table)| table.judged(&claims)).collect();
    let mut papers: BTreeMap<&str, Vec<&Claim>> = BTreeMap::new();
    for claim in &claims.all {
        papers.entry(&claim.paper).or_default().push(claim);
    }
    for (paper, claims) in papers {
        let about = about(&claims)?;
        let page = paper_page(paper, &claims, &tables, &explored, &about);
        write(folder, &format!("{paper}.md"), &page)?;
    }
    let values =
        claims.all.iter().flat_map(|claim| claim.values.iter().map(move |value| (claim, value)));
    let rows: Vec<Row> = values.map(|(claim, value)| tables.row_of(claim, value)).collect();
    write(folder, "totals.md", &(totals(&rows) + "\n"))?;
    let front = claims.all.iter().find(|claim| claim.id == FRONT);
    let chart = front.and_then(|claim| front_chart(claim, &tables));
    write(folder, "front.svg", &(chart.unwrap_or_default() + "\n"))
}

/// What the files of the claims' experiments say about themselves, by the names of the experiments.
fn about(claims: &[&Claim]) -> Result<BTreeMap<String, String>, Failure> {
    let values = claims.iter().flat_map(|claim| &claim.values);
    let measures = values.flat_map(|value| value.measure.iter().chain(&value.lab));
    let names: BTreeSet<&str> = measures.map(|measure| measure.experiment.as_str()).collect();
    let read = |name: &str| match Repository::here().about(name) {
        Ok(text) => Ok((name.to_owned(), text)),
        Err(source) => {
            Err(Failure::System { what: format!("read experiments/{name}.toml"), source })
        }
    };
    names.into_iter().map(read).collect()
}

/// All published values, each with its claim's id.
fn values(claims: &Claims) -> impl Iterator<Item = (&str, &ClaimedValue)> {
    claims.all.iter().flat_map(|claim| claim.values.iter().map(move |one| (claim.id.as_str(), one)))
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    let failed = |source| Failure::System { what: format!("write {}", path.display()), source };
    fs::write(&path, text).map_err(failed)
}

/// The cost of each seed of a study when a table was recorded, in seconds of one processor.
pub struct Costs(BTreeMap<Study, f64>);

/// The costs of the values of `claims` that are recorded at `scale`. They only serve to estimate the time left. A
/// table that is refused, such as one whose file is just being measured again, has no costs.
pub fn costs(claims: &Claims, scale: Scale) -> Costs {
    let files = files(MEASURED).unwrap_or_default();
    let read = files.iter().filter_map(|path| read(path, Recorded::from_json).ok());
    let judged = read.map(|(file, table)| (file, table.judged(claims)));
    let Ok(tables) = Tables::new(judged.collect()) else { return Costs(BTreeMap::new()) };
    let scale = scale.to_string();
    let cost = |(id, value): (&str, &ClaimedValue)| {
        let took = tables.cost_of_seed(id, &value.name, &scale)?;
        Some((value.measure.as_ref()?.study(), took))
    };
    Costs(values(claims).filter_map(cost).collect())
}

impl Costs {
    /// The time that a study takes on this many threads: as recorded, or otherwise as estimated.
    pub fn time(&self, study: &Study, experiment: &Experiment, threads: usize) -> Duration {
        let estimated = || Size::new(experiment, threads).map_or(0.0, |size| size.seconds());
        let recorded = self.0.get(study).map(|each| each * experiment.seeds as f64);
        let seconds = recorded.map_or_else(estimated, |all| all / threads as f64);
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }
}
