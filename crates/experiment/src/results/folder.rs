//! A results folder: written run by run, read back as a whole or table by table.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::outcomes::Outcomes;
use super::read::TableReader;
use super::table::TableWriter;
use super::{
    FLOWS, FlowsOfRun, Order, PORTS, PortsOfRun, ResultsError, RunRecord, RunSummary, Summary,
    TableFile, Tables,
};

const FLOWS_FILE: &str = "flows.parquet";
const PORTS_FILE: &str = "ports.parquet";
const SUMMARY_FILE: &str = "summary.json";
const EXPERIMENT_FILE: &str = "experiment.toml";
const RESERVE_FILE: &str = "reserve";
/// Bytes kept on the disk while runs are added, so that the ends of the tables and the summary
/// find room on a disk that a run has filled.
const RESERVE: usize = 1 << 20;

/// What is known of a study before its first run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The experiment's name.
    pub name: String,
    /// The resolved experiment file: every key, defaults filled in.
    pub experiment: String,
    /// The varied keys, in the order of every run's point.
    pub keys: Vec<String>,
    /// The orders of schemes to report on.
    pub orders: Vec<Order>,
}

/// How a study ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every run is there.
    Complete,
    /// Some are missing: it was interrupted, or a run failed.
    Stopped,
}

/// Refuses a folder that holds the results of something else than `experiment`, the resolved
/// file. Results of the same experiment may be replaced: they would be the same.
///
/// # Errors
/// [`ResultsError::Occupied`], or [`ResultsError::Read`] if the folder cannot be looked into.
pub fn check_free(dir: &Path, experiment: &str) -> Result<(), ResultsError> {
    let files = [SUMMARY_FILE, FLOWS_FILE, PORTS_FILE];
    if !files.iter().any(|file| dir.join(file).exists()) {
        return Ok(());
    }
    match fs::read(dir.join(EXPERIMENT_FILE)) {
        Ok(found) if found == experiment.as_bytes() => Ok(()),
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(ResultsError::Read { path: dir.join(EXPERIMENT_FILE), source })
        }
        _ => Err(ResultsError::Occupied { path: dir.to_owned() }),
    }
}

/// Writes all `runs` of a study to `dir` and summarises them.
///
/// # Errors
/// As [`Writer`]'s; what was written before the error stays, marked as incomplete.
pub fn write(
    dir: &Path,
    meta: &Meta,
    runs: impl IntoIterator<Item = RunRecord>,
) -> Result<Summary, ResultsError> {
    let mut writer = Writer::create(dir, meta)?;
    for run in runs {
        if let Err(error) = writer.add(&run) {
            writer.finish(Ending::Stopped)?;
            return Err(error);
        }
    }
    writer.finish(Ending::Complete)
}

/// Writes a results folder run by run.
///
/// Files have temporary names (`.partial`) until [`Writer::finish`], which must be called
/// however the study ends: without it there is nothing to read.
pub struct Writer {
    dir: PathBuf,
    flows: TableWriter<File>,
    ports: TableWriter<File>,
    summary: Summary,
    outcomes: Vec<Outcomes>,
    orders: Vec<Order>,
}

impl Writer {
    /// Makes the folder if it is not there.
    ///
    /// # Errors
    /// As [`check_free`], or [`ResultsError::Write`].
    pub fn create(dir: &Path, meta: &Meta) -> Result<Writer, ResultsError> {
        fs::create_dir_all(dir).map_err(ResultsError::write(dir))?;
        check_free(dir, &meta.experiment)?;
        replace(dir, EXPERIMENT_FILE, &meta.experiment)?;
        let reserve = partial(dir, RESERVE_FILE);
        fs::write(&reserve, vec![0; RESERVE]).map_err(ResultsError::write(&reserve))?;
        let table = |file, columns| {
            let path = partial(dir, file);
            let create = || TableWriter::new(File::create(&path)?, &meta.keys, columns);
            create().map_err(ResultsError::write(&path))
        };
        Ok(Writer {
            dir: dir.to_owned(),
            flows: table(FLOWS_FILE, FLOWS)?,
            ports: table(PORTS_FILE, PORTS)?,
            summary: Summary { name: meta.name.clone(), ..Summary::default() },
            outcomes: Vec::new(),
            orders: meta.orders.clone(),
        })
    }

    /// Adds a run. The tables are in the order of these calls: for the same tables every time,
    /// add the runs in the order of the experiment, not in that in which they finish. The
    /// first scheme of each point is the one that others are compared with.
    ///
    /// # Errors
    /// [`ResultsError::Twice`], or [`ResultsError::Write`]; after the latter nothing more can
    /// be added, and [`Writer::finish`] keeps the runs before it.
    ///
    /// # Panics
    /// If the run's point does not have the keys of [`Meta::keys`], or a sample names a port
    /// that is not there: mistakes of the engine.
    pub fn add(&mut self, run: &RunRecord) -> Result<(), ResultsError> {
        self.refuse_twice(run)?;
        let before = self.summary.runs.len();
        let flows = self.flows.append(run, run.flows.len());
        let written =
            flows.map_err(ResultsError::write(&partial(&self.dir, FLOWS_FILE))).and_then(|()| {
                let ports = self.ports.append(run, run.samples.len());
                ports.map_err(ResultsError::write(&partial(&self.dir, PORTS_FILE)))
            });
        if let Err(error) = written {
            // The first error says more than one of taking back.
            let _ = self.flows.keep(before);
            let _ = self.ports.keep(before);
            return Err(error);
        }
        self.summary.runs.push(RunSummary::of(run));
        self.outcomes.push(Outcomes::of(run));
        Ok(())
    }

    fn refuse_twice(&self, run: &RunRecord) -> Result<(), ResultsError> {
        let same = |known: &&RunSummary| {
            known.scheme == run.scheme && known.seed == run.seed && known.point == run.point
        };
        if self.summary.runs.iter().find(same).is_none() {
            return Ok(());
        }
        let at = if run.point.is_empty() { String::new() } else { format!(" at {}", run.point) };
        Err(ResultsError::Twice { scheme: run.scheme.clone(), seed: run.seed, point: at })
    }

    /// Gives the files their names and returns the summary. Incomplete if it ended so or a run
    /// was cut short.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn finish(self, ending: Ending) -> Result<Summary, ResultsError> {
        let Writer { dir, flows, ports, mut summary, outcomes, orders } = self;
        summary.complete = ending == Ending::Complete && summary.runs.iter().all(|r| r.complete);
        summary.compare(&outcomes, &orders);
        remove(&partial(&dir, RESERVE_FILE))?;
        remove(&dir.join(SUMMARY_FILE))?;
        summary.tables = Tables {
            flows: finish(&dir, FLOWS_FILE, flows)?,
            ports: finish(&dir, PORTS_FILE, ports)?,
        };
        replace(&dir, SUMMARY_FILE, &summary.to_json())?;
        Ok(summary)
    }
}

fn finish(dir: &Path, file: &str, table: TableWriter<File>) -> Result<TableFile, ResultsError> {
    let path = partial(dir, file);
    let finish = || {
        table.finish()?.sync_all()?;
        TableFile::of(&path)
    };
    let finished = finish().map_err(ResultsError::write(&path))?;
    rename(dir, file)?;
    Ok(finished)
}

fn remove(path: &Path) -> Result<(), ResultsError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(ResultsError::write(path)),
    }
}

fn partial(dir: &Path, file: &str) -> PathBuf {
    dir.join(format!("{file}.partial"))
}

fn rename(dir: &Path, file: &str) -> Result<(), ResultsError> {
    let path = dir.join(file);
    fs::rename(partial(dir, file), &path).map_err(ResultsError::write(&path))
}

/// Writes a whole file under a temporary name, then renames it: it is there in full or not.
fn replace(dir: &Path, file: &str, content: &str) -> Result<(), ResultsError> {
    let path = partial(dir, file);
    let write = || {
        let mut file = File::create(&path)?;
        io::Write::write_all(&mut file, content.as_bytes())?;
        file.sync_all()
    };
    write().map_err(ResultsError::write(&path))?;
    rename(dir, file)
}

/// A results folder that was written before.
#[derive(Clone, Debug)]
pub struct Folder {
    dir: PathBuf,
    summary: Summary,
    experiment: String,
}

impl Folder {
    /// Opens `dir` and reads its summary.
    ///
    /// # Errors
    /// [`ResultsError::NotResults`] if it is no such folder, [`ResultsError::Damaged`] if its
    /// summary cannot be understood, [`ResultsError::Read`] otherwise.
    pub fn open(dir: &Path) -> Result<Folder, ResultsError> {
        let path = dir.join(SUMMARY_FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(_) if !dir.exists() => return Err(no_results(dir, "it does not exist")),
            Err(_) if !dir.is_dir() => return Err(no_results(dir, "it is not a folder")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(no_results(dir, "there is no summary.json in it"));
            }
            Err(source) => return Err(ResultsError::Read { path, source }),
        };
        let summary =
            serde_json::from_str(&text).map_err(|error| ResultsError::damaged(&path, error))?;
        let path = dir.join(EXPERIMENT_FILE);
        let experiment =
            fs::read_to_string(&path).map_err(|source| ResultsError::Read { path, source })?;
        Ok(Folder { dir: dir.to_owned(), summary, experiment })
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The summary.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The resolved experiment file.
    pub fn experiment(&self) -> &str {
        &self.experiment
    }

    /// Hands the flows of each run that has any to `each`, one run at a time.
    ///
    /// # Errors
    /// [`ResultsError::Read`] or [`ResultsError::Damaged`].
    pub fn flows(&self, mut each: impl FnMut(FlowsOfRun)) -> Result<(), ResultsError> {
        let table = TableReader::open(&self.dir.join(FLOWS_FILE), self.summary.tables.flows)?;
        for run in 0..table.runs() {
            table.run(run)?.flows()?.into_iter().for_each(&mut each);
        }
        Ok(())
    }

    /// Hands the port samples of each run that has any to `each`, one run at a time.
    ///
    /// # Errors
    /// As [`Folder::flows`].
    pub fn ports(&self, mut each: impl FnMut(PortsOfRun)) -> Result<(), ResultsError> {
        let table = TableReader::open(&self.dir.join(PORTS_FILE), self.summary.tables.ports)?;
        for run in 0..table.runs() {
            table.run(run)?.ports()?.into_iter().for_each(&mut each);
        }
        Ok(())
    }
}

fn no_results(dir: &Path, reason: &str) -> ResultsError {
    ResultsError::NotResults { path: dir.to_owned(), reason: reason.to_owned() }
}
