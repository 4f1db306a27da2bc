//! Writes and reads one run: its tables and its figures, in a folder of its own. The folder is
//! either complete or missing, whatever happens to the program.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::convergence::Convergence;
use super::files::{FLOWS_FILE, PORTS_FILE, PROBE_FLOWS_FILE, PROBE_PORTS_FILE, sync, write_whole};
use super::outcomes::Outcomes;
use super::port_watch::{PortFigures, PortWatch};
use super::probe_writer::ProbeWriter;
use super::probed::{ProbedFlow, ProbedPort};
use super::read::TableReader;
use super::run_start::RunStart;
use super::table::TableWriter;
use super::varied::VariedKey;
use super::{
    FLOWS, PORTS, PortRow, PortsOfRun, Program, ResultsError, RunRecord, RunSummary, TableFile,
    Tables, World,
};

const FIGURES_FILE: &str = "run.json";
/// A row group of port samples is written when it has at least this many rows. It consists of whole
/// sample times, and takes about ten megabytes of memory.
const ROWS_OF_GROUP: usize = 1 << 17;

/// The content of [`FIGURES_FILE`].
#[derive(Serialize, Deserialize)]
struct Figures {
    program: Program,
    summary: RunSummary,
    tables: Tables,
}

/// A run being written. If it is dropped before [`RunWriter::finish`], nothing is left of it.
pub struct RunWriter {
    place: Place,
    keys: Vec<VariedKey>,
    program: Program,
    ports: TableWriter<File, PortsOfRun>,
    /// Samples that are not written yet.
    pending: PortsOfRun,
    watch: PortWatch,
    probe: Option<ProbeWriter>,
}

/// The extension of the folder of a run that is being written.
const PARTIAL: &str = "partial";
/// The extension of the folder of a run that was cut short.
const CUT_SHORT: &str = "cut";

/// The folder in which a run is written, and the folders that it may have in the end.
struct Place {
    partial: PathBuf,
    finished: PathBuf,
    cut_short: PathBuf,
}

impl Place {
    fn new(finished: PathBuf) -> Result<Place, ResultsError> {
        let [partial, cut_short] = [PARTIAL, CUT_SHORT].map(|end| finished.with_extension(end));
        remove_folder(&partial)?;
        fs::create_dir_all(&partial).map_err(ResultsError::write(&partial))?;
        Ok(Place { partial, finished, cut_short })
    }

    /// Renames the folder, which makes the run visible.
    fn put(&self, is_cut_short: bool) -> Result<(), ResultsError> {
        let place = if is_cut_short { &self.cut_short } else { &self.finished };
        remove_folder(&self.finished)?;
        remove_folder(&self.cut_short)?;
        sync(&self.partial)?;
        fs::rename(&self.partial, place).map_err(ResultsError::write(place))?;
        sync(place.parent().unwrap_or(place))
    }
}

impl Drop for Place {
    /// Removes an unfinished run, to free its disk space. The folder of a finished run has another name.
    fn drop(&mut self) {
        // If this fails, the next study in the folder removes the rest.
        let _ = fs::remove_dir_all(&self.partial);
    }
}

impl RunWriter {
    /// Begins to write a run whose folder will be `finished`.
    pub(super) fn new(
        finished: PathBuf,
        start: RunStart,
        keys: &[VariedKey],
        program: &Program,
    ) -> Result<RunWriter, ResultsError> {
        let place = Place::new(finished)?;
        let path = place.partial.join(PORTS_FILE);
        let table = || TableWriter::new(File::create(&path)?, keys, PORTS);
        let watch = PortWatch::new(&start);
        let RunStart { key, ports, has_probe, .. } = start;
        let probe = || ProbeWriter::new(&place.partial, keys, &key, &ports);
        Ok(RunWriter {
            probe: has_probe.then(probe).transpose()?,
            ports: table().map_err(ResultsError::write(&path))?,
            place,
            keys: keys.to_vec(),
            program: program.clone(),
            watch,
            pending: PortsOfRun { run: key, ports, samples: Vec::new() },
        })
    }

    /// Adds the samples of all ports at one time. Times must not decrease.
    ///
    /// # Errors
    /// [`ResultsError::Write`]. After an error, nothing more can be added.
    pub fn add_samples(&mut self, samples: &[PortRow]) -> Result<(), ResultsError> {
        self.watch.take(samples);
        self.pending.samples.extend_from_slice(samples);
        if self.pending.samples.len() >= ROWS_OF_GROUP { self.write_samples() } else { Ok(()) }
    }

    /// Adds what a probe recorded of a port. Times must not decrease.
    ///
    /// # Errors
    /// As [`RunWriter::add_samples`].
    pub fn add_probed_port(&mut self, port: ProbedPort) -> Result<(), ResultsError> {
        match &mut self.probe {
            Some(probe) => probe.add_port(&self.place.partial, port),
            None => Ok(()),
        }
    }

    /// Adds what a probe recorded of a flow. Times must not decrease.
    ///
    /// # Errors
    /// As [`RunWriter::add_samples`].
    pub fn add_probed_flow(&mut self, flow: ProbedFlow) -> Result<(), ResultsError> {
        match &mut self.probe {
            Some(probe) => probe.add_flow(&self.place.partial, flow),
            None => Ok(()),
        }
    }

    fn write_samples(&mut self) -> Result<(), ResultsError> {
        let rows = self.pending.samples.len();
        let written = self.ports.append(&self.pending.run.point, &self.pending, rows);
        self.pending.samples.clear();
        written.map_err(ResultsError::write(&self.place.partial.join(PORTS_FILE)))
    }

    /// Finishes the run. From then on it survives, whatever happens to the program. A run that was
    /// cut short is kept only until the study ends, because the rest of it is not known.
    ///
    /// # Errors
    /// [`ResultsError`] if the run could not be written. Nothing is left of it then.
    pub fn finish(mut self, run: &RunRecord) -> Result<RunSummary, ResultsError> {
        if !self.pending.samples.is_empty() {
            self.write_samples()?;
        }
        let flows = self.write_flows(run)?;
        let RunWriter { place, program, ports: table, pending, watch, probe, .. } = self;
        let path = place.partial.join(PORTS_FILE);
        let probed = probe.map(|probe| probe.finish(&place.partial)).transpose()?;
        let tables = Tables {
            flows,
            ports: table.finish_file(&path)?,
            probe_flows: probed.map(|[flows, _]| flows),
            probe_ports: probed.map(|[_, ports]| ports),
        };
        let convergence = Convergence::new(run, &pending.ports, watch.last());
        let figures = PortFigures {
            queue_bytes: watch.queue_bytes(),
            utilisation: watch.utilisation(),
            links: watch.links(),
            convergence_us: match convergence {
                None => None,
                Some(convergence) => look_again(convergence, &path, tables.ports)?,
            },
        };
        let figures = Figures { program, summary: RunSummary::new(run, &figures), tables };
        let json = serde_json::to_string(&figures).expect("texts and numbers can be written");
        write_whole(&place.partial.join(FIGURES_FILE), &json)?;
        place.put(run.stopped)?;
        Ok(figures.summary)
    }

    fn write_flows(&self, run: &RunRecord) -> Result<TableFile, ResultsError> {
        let path = self.place.partial.join(FLOWS_FILE);
        let write = || {
            let mut table = TableWriter::new(File::create(&path)?, &self.keys, FLOWS)?;
            table.append(&run.point, run, run.flows.len())?;
            Ok(table)
        };
        write().map_err(ResultsError::write(&path))?.finish_file(&path)
    }
}

/// Computes the convergence time from the samples in the table at `path`.
fn look_again(
    mut convergence: Convergence,
    path: &Path,
    table: TableFile,
) -> Result<Option<f64>, ResultsError> {
    let table = TableReader::open(path, table, Vec::new())?;
    for group in 0..table.groups() {
        if let Some(piece) = table.group(group)?.ports()? {
            convergence.take(&piece.samples);
        }
    }
    Ok(convergence.mean_us())
}

/// A run that was written before.
pub(super) struct RunFolder {
    dir: PathBuf,
    figures: Figures,
}

impl RunFolder {
    /// Opens the run in `dir`, or the part of it that was cut short. `None` if neither exists.
    ///
    /// # Errors
    /// [`ResultsError::Read`] or [`ResultsError::Damaged`].
    pub(super) fn open(dir: &Path) -> Result<Option<RunFolder>, ResultsError> {
        let Some(dir) =
            [dir.to_owned(), dir.with_extension(CUT_SHORT)].into_iter().find(|dir| dir.exists())
        else {
            return Ok(None);
        };
        let path = dir.join(FIGURES_FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(source) => return Err(ResultsError::Read { path, source }),
        };
        let figures =
            serde_json::from_str(&text).map_err(|error| ResultsError::damaged(&path, error))?;
        Ok(Some(RunFolder { dir, figures }))
    }

    /// The world that moved its packets.
    pub(super) fn world(&self) -> World {
        self.figures.program.world
    }

    /// Its figures.
    pub(super) fn summary(&self) -> &RunSummary {
        &self.figures.summary
    }

    /// Whether the run is complete, a build of the same code ran it in the same world, and its tables
    /// are undamaged.
    pub(super) fn is_of(&self, program: &Program) -> bool {
        let Figures { program: own, summary, .. } = &self.figures;
        let is_whole = || self.flows().is_ok() && self.ports().is_ok() && self.probed().is_ok();
        summary.complete && own.is_same_code(program) && is_whole()
    }

    /// Its table of flows.
    pub(super) fn flows(&self) -> Result<TableReader, ResultsError> {
        self.table(FLOWS_FILE, self.figures.tables.flows)
    }

    /// Its table of port samples.
    pub(super) fn ports(&self) -> Result<TableReader, ResultsError> {
        self.table(PORTS_FILE, self.figures.tables.ports)
    }

    /// Its tables of what a probe recorded, first of flows, then of ports; `None` without a probe.
    pub(super) fn probed(&self) -> Result<Option<[TableReader; 2]>, ResultsError> {
        let Tables { probe_flows, probe_ports, .. } = self.figures.tables;
        let Some((flows, ports)) = probe_flows.zip(probe_ports) else { return Ok(None) };
        Ok(Some([self.table(PROBE_FLOWS_FILE, flows)?, self.table(PROBE_PORTS_FILE, ports)?]))
    }

    /// The outcomes of its measured flows.
    pub(super) fn outcomes(&self) -> Result<Outcomes, ResultsError> {
        let table = self.flows()?;
        let flows = match table.groups() {
            0 => Vec::new(),
            _ => table.group(0)?.flows()?.map(|of_run| of_run.flows).unwrap_or_default(),
        };
        Ok(Outcomes::from_flows(&flows, self.summary().load.requested.is_some()))
    }

    fn table(&self, file: &str, expected: TableFile) -> Result<TableReader, ResultsError> {
        TableReader::open(&self.dir.join(file), expected, vec![self.summary().point.clone()])
    }
}

/// Removes the folder at `path`, if it is there.
pub(super) fn remove_folder(path: &Path) -> Result<(), ResultsError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(ResultsError::Write { path: path.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

/// Removes what is left of runs that did not finish, and of runs that were cut short.
pub(super) fn remove_leftovers(runs: &Path) -> Result<(), ResultsError> {
    for entry in fs::read_dir(runs).map_err(ResultsError::write(runs))? {
        let path = entry.map_err(ResultsError::write(runs))?.path();
        if path.extension().is_some_and(|end| end == PARTIAL || end == CUT_SHORT) {
            remove_folder(&path)?;
        }
    }
    Ok(())
}
