//! Writes a study. Its runs are written one by one, in the order in which they finish. Then their
//! tables are concatenated in the order of the experiment.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::files::{
    EXPERIMENT_FILE, FLOWS_FILE, PORTS_FILE, PROBE_FLOWS_FILE, PROBE_PORTS_FILE, RUNS_FOLDER,
    SUMMARY_FILE, partial, put_in_place, remove, replace,
};
use super::lock::Lock;
use super::outcomes::Outcomes;
use super::probed::{PROBE_FLOWS, PROBE_PORTS, ProbedFlows, ProbedPorts};
use super::run_folder::{RunFolder, RunWriter, remove_folder, remove_leftovers};
use super::run_start::RunStart;
use super::table::TableWriter;
use super::varied::VariedKey;
use super::{
    Column, FLOWS, Folder, Order, PORTS, PortsOfRun, Program, ResultsError, RunKey, RunRecord,
    Summary, TableFile, Tables,
};

const RESERVE_FILE: &str = "reserve";
/// Bytes that are reserved on the disk while runs are written. They make room for the ends of the
/// tables and the summary on a disk that a run has filled.
const RESERVE: usize = 1 << 20;

/// What is known about a study before its first run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The experiment's name.
    pub name: String,
    /// The resolved experiment file: every key, with defaults filled in.
    pub experiment: String,
    /// The varied keys, in the order of the points.
    pub keys: Vec<VariedKey>,
    /// The orders of schemes to check.
    pub orders: Vec<Order>,
    /// The program that runs the study.
    pub program: Program,
    /// Whether ports or flows are recorded over time.
    pub has_probe: bool,
}

/// What happens to the finished runs of an interrupted study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// They are discarded and run again.
    Discarded,
    /// They are kept if the same program ran them.
    Kept,
}

/// How a study ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All runs were written.
    Complete,
    /// Some runs are missing, because the study was interrupted or a run failed.
    Stopped,
}

/// Refuses a folder that holds the results of another experiment than `experiment`, the resolved file.
/// Results of the same experiment may be replaced, because they would be the same.
///
/// # Errors
/// [`ResultsError::Occupied`], or [`ResultsError::Read`] if the folder cannot be read.
pub fn check_free(dir: &Path, experiment: &str) -> Result<(), ResultsError> {
    let files = [SUMMARY_FILE, FLOWS_FILE, PORTS_FILE];
    if !files.iter().any(|file| dir.join(file).exists()) && folders_of_runs(dir).next().is_none() {
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

/// Refuses a folder with results from another world than `program`'s. The experiment alone does not
/// show the world.
///
/// # Errors
/// [`ResultsError::OfWorld`].
pub fn check_world(dir: &Path, program: &Program) -> Result<(), ResultsError> {
    let of_runs = || folders_of_runs(dir).filter_map(|run| RunFolder::open(&run).ok().flatten());
    let found = match Folder::open(dir) {
        Ok(folder) => Some(folder.summary().program.world),
        Err(_) => of_runs().map(|run| run.world()).next(),
    };
    match found {
        Some(found) if found != program.world => {
            Err(ResultsError::OfWorld { path: dir.to_owned(), found, wanted: program.world })
        }
        _ => Ok(()),
    }
}

/// The number of finished runs that an unfinished study has left in `dir`.
pub fn runs_left(dir: &Path) -> usize {
    folders_of_runs(dir).filter(|run| run.extension().is_none()).count()
}

/// The folders of runs in `dir`, whether finished or not.
fn folders_of_runs(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(dir.join(RUNS_FOLDER)).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir())
}

/// Writes all `runs` of a study, each with its port samples, to `dir`, and summarises them.
///
/// # Errors
/// As the methods of [`Writer`]. What was written before the error stays, marked as incomplete.
pub fn write(
    dir: &Path,
    meta: &Meta,
    runs: impl IntoIterator<Item = (RunRecord, PortsOfRun)>,
) -> Result<Summary, ResultsError> {
    let writer = Writer::create(dir, meta, Earlier::Discarded)?;
    for (place, (run, PortsOfRun { ports, samples, .. })) in runs.into_iter().enumerate() {
        let starts = || run.flows.iter().map(|flow| flow.start);
        let arrivals = starts().min().zip(starts().max());
        let load_ports = run.load.ports.clone();
        let random_starts = run.load.requested.is_some();
        let links = Vec::new();
        let has_probe = false;
        let start = RunStart {
            key: run.key(),
            ports,
            arrivals,
            random_starts,
            load_ports,
            links,
            has_probe,
        };
        let written = writer.begin(place, start).and_then(|mut writer| {
            for at_one_time in samples.chunk_by(|one, next| one.time == next.time) {
                writer.add_samples(at_one_time)?;
            }
            writer.finish(&run)
        });
        if let Err(error) = written {
            writer.finish(Ending::Stopped)?;
            return Err(error);
        }
    }
    writer.finish(Ending::Complete)
}

/// Writes a results folder.
///
/// Each run is written to a folder of its own, and survives as soon as it has finished.
/// [`Writer::finish`] concatenates the tables of all runs. It must be called however the study ends:
/// without it, the study can be resumed, but there are no results to read. A folder has one writer at a
/// time.
pub struct Writer {
    dir: PathBuf,
    runs: PathBuf,
    meta: Meta,
    begun: Mutex<BTreeSet<RunKey>>,
    _lock: Lock,
}

impl Writer {
    /// Creates the folder if it is missing, and locks it.
    ///
    /// # Errors
    /// As [`check_free`] and [`check_world`], [`ResultsError::Busy`] if another writer has the folder,
    /// or [`ResultsError::Write`].
    pub fn create(dir: &Path, meta: &Meta, earlier: Earlier) -> Result<Writer, ResultsError> {
        fs::create_dir_all(dir).map_err(ResultsError::write(dir))?;
        let runs = dir.join(RUNS_FOLDER);
        let lock = Lock::take(dir, &runs)?;
        check_free(dir, &meta.experiment)?;
        check_world(dir, &meta.program)?;
        replace(dir, EXPERIMENT_FILE, &meta.experiment)?;
        let reserve = partial(dir, RESERVE_FILE);
        fs::write(&reserve, vec![0; RESERVE]).map_err(ResultsError::write(&reserve))?;
        remove_leftovers(&runs)?;
        let writer = Writer {
            dir: dir.to_owned(),
            runs,
            meta: meta.clone(),
            begun: Mutex::new(BTreeSet::new()),
            _lock: lock,
        };
        writer.discard(earlier)?;
        Ok(writer)
    }

    /// Removes the earlier runs that are not kept.
    fn discard(&self, earlier: Earlier) -> Result<(), ResultsError> {
        for place in self.places()? {
            let is_kept = earlier == Earlier::Kept
                && matches!(self.run(place), Ok(Some(run)) if run.is_of(&self.meta.program));
            if !is_kept {
                remove_folder(&self.folder_of(place))?;
            }
        }
        Ok(())
    }

    /// The places of the runs that were written, in ascending order.
    ///
    /// # Errors
    /// [`ResultsError::Read`].
    pub fn places(&self) -> Result<BTreeSet<usize>, ResultsError> {
        let read = |source| ResultsError::Read { path: self.runs.clone(), source };
        let mut places = BTreeSet::new();
        for entry in fs::read_dir(&self.runs).map_err(read)? {
            let path = entry.map_err(read)?.path();
            let name = path.file_stem().filter(|_| path.is_dir());
            places.extend(name.and_then(|name| name.to_str()?.parse::<usize>().ok()));
        }
        Ok(places)
    }

    fn folder_of(&self, place: usize) -> PathBuf {
        self.runs.join(format!("{place:06}"))
    }

    fn run(&self, place: usize) -> Result<Option<RunFolder>, ResultsError> {
        RunFolder::open(&self.folder_of(place))
    }

    /// Begins the run whose place in the experiment is `place`. Tables are in the order of places.
    /// Other schemes are compared with the first scheme of each point.
    ///
    /// # Errors
    /// [`ResultsError::Twice`] if there is another run with the same key, or [`ResultsError::Write`].
    pub fn begin(&self, place: usize, start: RunStart) -> Result<RunWriter, ResultsError> {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if !begun.insert(start.key.clone()) {
            return Err(ResultsError::Twice { run: start.key });
        }
        RunWriter::new(self.folder_of(place), start, &self.meta.keys, &self.meta.program)
    }

    /// Concatenates the tables and returns the summary. The results are incomplete if `ending` says so
    /// or if a run was cut short. In that case the finished runs are kept for resuming.
    ///
    /// # Errors
    /// [`ResultsError`]. If a table could not be written, the folder has as many runs as fit, marked as
    /// incomplete.
    pub fn finish(&self, ending: Ending) -> Result<Summary, ResultsError> {
        remove(&partial(&self.dir, RESERVE_FILE))?;
        let mut put_together = PutTogether::new(&self.dir, &self.meta)?;
        let failure = self.put_together(&mut put_together).err();
        let is_whole = failure.is_none() && ending == Ending::Complete;
        let summary = put_together.finish(&self.dir, &self.meta, is_whole)?;
        remove_leftovers(&self.runs)?;
        if summary.complete {
            remove_folder(&self.runs)?;
        }
        failure.map_or(Ok(summary), Err)
    }

    fn put_together(&self, whole: &mut PutTogether) -> Result<(), ResultsError> {
        for place in self.places()? {
            if let Some(run) = self.run(place)? {
                whole.add(&self.dir, &run)?;
            }
        }
        Ok(())
    }
}

/// The tables of all runs, and the data for the summary.
struct PutTogether {
    flows: TableWriter<File, RunRecord>,
    ports: TableWriter<File, PortsOfRun>,
    probed: Option<Probed>,
    summary: Summary,
    outcomes: Vec<Outcomes>,
}

impl PutTogether {
    fn new(dir: &Path, meta: &Meta) -> Result<PutTogether, ResultsError> {
        Ok(PutTogether {
            flows: table(dir, FLOWS_FILE, &meta.keys, FLOWS)?,
            ports: table(dir, PORTS_FILE, &meta.keys, PORTS)?,
            probed: meta.has_probe.then(|| Probed::new(dir, &meta.keys)).transpose()?,
            summary: Summary {
                name: meta.name.clone(),
                program: meta.program.clone(),
                ..Summary::default()
            },
            outcomes: Vec::new(),
        })
    }

    /// Adds a run completely, or nothing of it.
    fn add(&mut self, dir: &Path, run: &RunFolder) -> Result<(), ResultsError> {
        let (flows, ports, outcomes) = (run.flows()?, run.ports()?, run.outcomes()?);
        let before = (self.flows.groups(), self.ports.groups());
        let added = flows
            .copy_to(&mut self.flows)
            .map_err(ResultsError::write(&partial(dir, FLOWS_FILE)))
            .and_then(|()| {
                let copied = ports.copy_to(&mut self.ports);
                copied.map_err(ResultsError::write(&partial(dir, PORTS_FILE)))
            })
            .and_then(|()| match &mut self.probed {
                Some(probed) => probed.add(dir, run),
                None => Ok(()),
            });
        if let Err(error) = added {
            // The first error is more useful than an error of undoing.
            let _ = self.flows.keep(before.0);
            let _ = self.ports.keep(before.1);
            return Err(error);
        }
        self.summary.runs.push(run.summary().clone());
        self.outcomes.push(outcomes);
        Ok(())
    }

    /// Finishes the files and renames them to their own names.
    fn finish(self, dir: &Path, meta: &Meta, is_whole: bool) -> Result<Summary, ResultsError> {
        let PutTogether { flows, ports, probed, mut summary, outcomes } = self;
        summary.complete = is_whole && summary.runs.iter().all(|run| run.complete);
        summary.compare(&outcomes, &meta.orders);
        remove(&dir.join(SUMMARY_FILE))?;
        let probed = probed.map(|probed| probed.finish(dir)).transpose()?;
        summary.tables = Tables {
            flows: finish(dir, FLOWS_FILE, flows)?,
            ports: finish(dir, PORTS_FILE, ports)?,
            probe_flows: probed.map(|[flows, _]| flows),
            probe_ports: probed.map(|[_, ports]| ports),
        };
        replace(dir, SUMMARY_FILE, &summary.to_json())?;
        Ok(summary)
    }
}

/// The tables of what probes recorded.
struct Probed {
    flows: TableWriter<File, ProbedFlows>,
    ports: TableWriter<File, ProbedPorts>,
}

impl Probed {
    fn new(dir: &Path, keys: &[VariedKey]) -> Result<Probed, ResultsError> {
        Ok(Probed {
            flows: table(dir, PROBE_FLOWS_FILE, keys, PROBE_FLOWS)?,
            ports: table(dir, PROBE_PORTS_FILE, keys, PROBE_PORTS)?,
        })
    }

    /// Adds a run completely, or nothing of it.
    fn add(&mut self, dir: &Path, run: &RunFolder) -> Result<(), ResultsError> {
        let Some([flows, ports]) = run.probed()? else { return Ok(()) };
        let before = (self.flows.groups(), self.ports.groups());
        let copied = flows.copy_to(&mut self.flows);
        let added =
            copied.map_err(ResultsError::write(&partial(dir, PROBE_FLOWS_FILE))).and_then(|()| {
                let copied = ports.copy_to(&mut self.ports);
                copied.map_err(ResultsError::write(&partial(dir, PROBE_PORTS_FILE)))
            });
        added.inspect_err(|_| {
            let _ = self.flows.keep(before.0);
            let _ = self.ports.keep(before.1);
        })
    }

    fn finish(self, dir: &Path) -> Result<[TableFile; 2], ResultsError> {
        let flows = finish(dir, PROBE_FLOWS_FILE, self.flows)?;
        Ok([flows, finish(dir, PROBE_PORTS_FILE, self.ports)?])
    }
}

fn table<R>(
    dir: &Path,
    file: &str,
    keys: &[VariedKey],
    columns: &'static [Column<R>],
) -> Result<TableWriter<File, R>, ResultsError> {
    let path = partial(dir, file);
    let create = || TableWriter::new(File::create(&path)?, keys, columns);
    create().map_err(ResultsError::write(&path))
}

fn finish<R>(
    dir: &Path,
    file: &str,
    table: TableWriter<File, R>,
) -> Result<TableFile, ResultsError> {
    let finished = table.finish_file(&partial(dir, file))?;
    put_in_place(dir, file)?;
    Ok(finished)
}
