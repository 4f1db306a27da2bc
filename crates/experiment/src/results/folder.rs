//! Reads results folders, as a whole or table by table.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::files::{
    EXPERIMENT_FILE, FLOWS_FILE, PORTS_FILE, PROBE_FLOWS_FILE, PROBE_PORTS_FILE, SUMMARY_FILE,
    replace,
};
use super::probed::{ProbedFlows, ProbedPorts};
use super::read::TableReader;
use super::{FlowsOfRun, LabRun, Point, PortsOfRun, ResultsError, Summary, TableFile};

/// A results folder that is open for reading.
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
    /// - [`ResultsError::NotResults`] if `dir` is not a results folder.
    /// - [`ResultsError::Damaged`] if its summary is malformed.
    /// - [`ResultsError::Read`] otherwise.
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

    /// Adds the lab's lateness in each run, in the order of the runs, and the lab's scale to the summary.
    ///
    /// # Errors
    /// [`ResultsError::Write`].
    pub fn note_lab(
        &mut self,
        mut lab: Vec<LabRun>,
        scale: Vec<String>,
    ) -> Result<(), ResultsError> {
        let runs = &self.summary.runs;
        lab.sort_by_key(|one| {
            runs.iter().position(|run| {
                (&run.point, &run.scheme, run.seed) == (&one.point, &one.scheme, one.seed)
            })
        });
        (self.summary.lab, self.summary.scale) = (lab, scale);
        replace(&self.dir, SUMMARY_FILE, &self.summary.to_json())
    }

    /// The path of the folder.
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

    /// Passes the flows of each run that has any to `each`, one run at a time.
    ///
    /// # Errors
    /// [`ResultsError::Read`] or [`ResultsError::Damaged`].
    pub fn flows(&self, mut each: impl FnMut(FlowsOfRun)) -> Result<(), ResultsError> {
        let table = self.table(FLOWS_FILE, self.summary.tables.flows)?;
        for group in 0..table.groups() {
            table.group(group)?.flows()?.into_iter().for_each(&mut each);
        }
        Ok(())
    }

    /// Passes the port samples of each run that has any to `each`, in pieces. The pieces of a run follow each other,
    /// sorted by time.
    ///
    /// # Errors
    /// As [`Folder::flows`].
    pub fn ports(&self, mut each: impl FnMut(PortsOfRun)) -> Result<(), ResultsError> {
        let table = self.table(PORTS_FILE, self.summary.tables.ports)?;
        for group in 0..table.groups() {
            table.group(group)?.ports()?.into_iter().for_each(&mut each);
        }
        Ok(())
    }

    /// Passes what a probe recorded of flows to `each`, in pieces. Each piece belongs to one run.
    ///
    /// # Errors
    /// As [`Folder::flows`].
    pub fn probe_flows(&self, mut each: impl FnMut(ProbedFlows)) -> Result<(), ResultsError> {
        let Some(expected) = self.summary.tables.probe_flows else { return Ok(()) };
        let table = self.table(PROBE_FLOWS_FILE, expected)?;
        for group in 0..table.groups() {
            table.group(group)?.probed_flows()?.into_iter().for_each(&mut each);
        }
        Ok(())
    }

    /// Passes what a probe recorded of ports to `each`, in pieces. Each piece belongs to one run.
    /// [`ProbedPorts::ports`] has the names of the recorded ports.
    ///
    /// # Errors
    /// As [`Folder::flows`].
    pub fn probe_ports(&self, mut each: impl FnMut(ProbedPorts)) -> Result<(), ResultsError> {
        let Some(expected) = self.summary.tables.probe_ports else { return Ok(()) };
        let table = self.table(PROBE_PORTS_FILE, expected)?;
        for group in 0..table.groups() {
            table.group(group)?.probed_ports()?.into_iter().for_each(&mut each);
        }
        Ok(())
    }

    /// The path of the table `flows`, `ports`, `probe_flows` or `probe_ports`. Checks first that its file is the one
    /// that the summary describes.
    ///
    /// # Errors
    /// [`ResultsError::Read`], [`ResultsError::Damaged`] if it is another file, or [`ResultsError::NotResults`] if the
    /// experiment has no probe.
    #[doc(hidden)]
    pub fn checked_table(&self, name: &str) -> Result<PathBuf, ResultsError> {
        let (file, expected) = match name {
            "ports" => (PORTS_FILE, Some(self.summary.tables.ports)),
            "probe_flows" => (PROBE_FLOWS_FILE, self.summary.tables.probe_flows),
            "probe_ports" => (PROBE_PORTS_FILE, self.summary.tables.probe_ports),
            _ => (FLOWS_FILE, Some(self.summary.tables.flows)),
        };
        let expected =
            expected.ok_or_else(|| no_results(&self.dir, "the experiment has no [probe]"))?;
        self.table(file, expected)?;
        Ok(self.dir.join(file))
    }

    fn table(&self, file: &str, expected: TableFile) -> Result<TableReader, ResultsError> {
        let points: Vec<Point> = self.summary.points().into_iter().cloned().collect();
        TableReader::open(&self.dir.join(file), expected, points)
    }
}

fn no_results(dir: &Path, reason: &str) -> ResultsError {
    ResultsError::NotResults { path: dir.to_owned(), reason: reason.to_owned() }
}
