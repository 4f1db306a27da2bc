//! A store: a folder of results folders, one for each experiment with all its values and each
//! version of the program.
//!
//! A folder's name ends with a key of the resolved experiment, its inputs and the program's version. What
//! lives here: names, what is there, and removing what is old. What may not: running experiments.

use std::fs::{self, File, TryLockError};
use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use flowsched_experiment::Experiment;
use flowsched_experiment::results::{Folder, Program, Summary};
use serde::Deserialize;

/// The end of the name of a folder that is being removed.
const REMOVED: &str = ".removed";

/// The extension of a folder with the dataset of a sweep: the same files under other names.
const SWEEP: &str = "sweep";

/// The file that says which program wrote a dataset.
const SWEEP_FILE: &str = "sweep.json";

/// A folder of results folders.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
    program: Program,
}

/// A results folder or the dataset of a sweep in a store.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where it is.
    pub dir: PathBuf,
    /// The experiment's name; empty if the folder cannot be read.
    pub name: String,
    /// Whether it says what wrote it. A folder from elsewhere does not, and neither does an experiment that has not
    /// ended yet or was killed.
    pub is_readable: bool,
    /// What wrote it.
    pub program: Program,
    /// Whether it has every run of its experiment.
    pub is_complete: bool,
    /// Whether another version of the program wrote it, so that nothing asks for it again.
    pub is_old: bool,
    /// Bytes on the disk.
    pub bytes: u64,
    /// How long ago it was written.
    pub age: Duration,
}

impl Store {
    /// The store in `dir`, which need not exist yet, as `program` uses it.
    pub fn new(dir: &Path, program: Program) -> Store {
        Store { dir: dir.to_owned(), program }
    }

    /// The folder where the results of `experiment` are or belong. `name` is the name of its file.
    pub fn folder_of(&self, name: &str, experiment: &Experiment) -> PathBuf {
        self.dir.join(format!("{name}-{:016x}", key(experiment, &self.program)))
    }

    /// The results of the experiment, if every run of it is there.
    pub fn finished(&self, name: &str, experiment: &Experiment) -> Option<Summary> {
        finished(&self.folder_of(name, experiment), experiment, &self.program)
    }

    /// Every results folder and dataset in the store, by name.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for dir in self.folders()? {
            entries.push(self.entry(dir)?);
        }
        entries.sort_by(|one, other| one.dir.cmp(&other.dir));
        Ok(entries)
    }

    /// Removes a results folder, unless a program writes to it. Returns whether the folder was removed. Renames the
    /// folder first, so that no reader sees half of it.
    ///
    /// # Errors
    /// If the folder cannot be removed.
    pub fn remove(&self, entry: &Entry) -> io::Result<bool> {
        let folder = File::open(&entry.dir)?;
        match folder.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let mut name = entry.dir.clone().into_os_string();
        name.push(REMOVED);
        fs::rename(&entry.dir, &name)?;
        fs::remove_dir_all(name)?;
        Ok(true)
    }

    /// Removes what is left of folders whose removal was interrupted.
    ///
    /// # Errors
    /// If the store cannot be read, or a folder cannot be removed.
    pub fn finish_removals(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.dir)? {
            let path = entry?.path();
            let name = path.to_str().and_then(|name| name.strip_suffix(REMOVED));
            if name.is_some_and(|name| has_key(Path::new(name))) {
                fs::remove_dir_all(path)?;
            }
        }
        Ok(())
    }

    fn folders(&self) -> io::Result<Vec<PathBuf>> {
        let mut folders = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let path = entry?.path();
            if path.is_dir() && has_key(&path) {
                folders.push(path);
            }
        }
        Ok(folders)
    }

    fn entry(&self, dir: PathBuf) -> io::Result<Entry> {
        let summary = match is_dataset(&dir) {
            true => dataset(&dir),
            false => Folder::open(&dir).ok().map(|folder| folder.summary().clone()),
        };
        let is_readable = summary.is_some();
        let Summary { name, program, complete, .. } = summary.unwrap_or_default();
        let written = fs::metadata(&dir)?.modified()?;
        Ok(Entry {
            is_old: is_readable && !program.is_same_code(&self.program),
            is_readable,
            name,
            program,
            is_complete: complete,
            bytes: size_of(&dir)?,
            age: SystemTime::now().duration_since(written).unwrap_or_default(),
            dir,
        })
    }
}

fn is_dataset(dir: &Path) -> bool {
    dir.extension().is_some_and(|extension| extension == SWEEP)
}

/// What is known of a dataset, as if it were a results folder; `None` if it cannot be read.
fn dataset(dir: &Path) -> Option<Summary> {
    #[derive(Deserialize)]
    struct Dataset {
        program: Program,
    }
    let text = fs::read_to_string(dir.join(SWEEP_FILE)).ok()?;
    let Dataset { program } = serde_json::from_str(&text).ok()?;
    let name = "dataset of a sweep".to_owned();
    Some(Summary { name, program, complete: true, ..Summary::default() })
}

/// The summary in `dir` if it has every run of this very experiment, done by this very program.
pub fn finished(dir: &Path, experiment: &Experiment, program: &Program) -> Option<Summary> {
    let folder = Folder::open(dir).ok()?;
    let summary = folder.summary();
    let is_done = summary.complete
        && summary.program.is_same_code(program)
        && folder.experiment() == experiment.resolved();
    is_done.then(|| summary.clone())
}

/// The key of the resolved experiment, its inputs and the program's version.
fn key(experiment: &Experiment, program: &Program) -> u64 {
    let texts = [experiment.resolved(), &program.version, &program.commit];
    fnv(texts.into_iter().chain(inputs(experiment)))
}

/// The hash of the resolved experiment and its inputs. It is the same for every version of the program that resolves
/// the experiment to the same values.
pub fn experiment_hash(experiment: &Experiment) -> String {
    let texts = iter::once(experiment.resolved()).chain(inputs(experiment));
    format!("{:016x}", fnv(texts))
}

fn inputs(experiment: &Experiment) -> impl Iterator<Item = &str> {
    experiment.inputs.iter().map(|input| input.source.text.as_str())
}

/// The FNV-1a hash of the texts.
fn fnv<'a>(texts: impl Iterator<Item = &'a str>) -> u64 {
    texts.fold(0xcbf2_9ce4_8422_2325, |hash, text| {
        let bytes = text.bytes().chain([0xff]);
        bytes.fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    })
}

/// Whether the name ends with a key, as those of [`Store::folder_of`] do.
fn has_key(path: &Path) -> bool {
    let name = if is_dataset(path) { path.file_stem() } else { path.file_name() };
    let name = name.and_then(|name| name.to_str()).unwrap_or_default();
    let key = name.rsplit_once('-').map_or("", |(_, key)| key);
    key.len() == 16 && key.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn size_of(dir: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { size_of(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use flowsched_experiment::{Arguments, Source};

    use super::*;

    fn experiment(load: f64) -> Experiment {
        let text = format!(
            "topology = {{ kind = \"star\", hosts = 3 }}\n\
             workload = {{ sizes = \"fixed 100KB\", flows = 5, load = {load} }}\n\
             scheme = [{{ preset = \"dctcp\" }}]\n"
        );
        let open = |_: &str| Err(io::ErrorKind::NotFound.into());
        Experiment::parse(&Source::new("a.toml", text), &Arguments::default(), &open).unwrap()
    }

    fn program(version: &str) -> Program {
        Program { version: version.to_owned(), ..Program::default() }
    }

    fn run(store: &Store, experiment: Experiment) -> PathBuf {
        let dir = store.folder_of("a", &experiment);
        let program = store.program.clone();
        crate::run(experiment, &dir, program, |run| run.run()).unwrap();
        dir
    }

    #[test]
    fn what_is_there_is_found_by_experiment_and_version() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path(), program("1"));
        run(&store, experiment(0.5));
        assert!(store.finished("a", &experiment(0.5)).is_some());
        assert!(store.finished("a", &experiment(0.6)).is_none());
        assert!(Store::new(dir.path(), program("2")).finished("a", &experiment(0.5)).is_none());
    }

    #[test]
    fn the_hash_of_an_experiment_depends_on_its_values_and_inputs() {
        let hash = |load| experiment_hash(&experiment(load));
        assert_eq!(hash(0.5), hash(0.5));
        assert_ne!(hash(0.5), hash(0.6));
        let trace = |text: &str| {
            let file = "topology = { kind = \"star\", hosts = 3 }\nworkload = { trace = \"flows.csv\" }\n\
                        scheme = [{ preset = \"dctcp\" }]\n";
            let open = |name: &str| Ok(Source { name: name.to_owned(), text: text.to_owned() });
            let source = Source::new("a.toml", file);
            experiment_hash(&Experiment::parse(&source, &Arguments::default(), &open).unwrap())
        };
        let flows = "start_s,src,dst,size_bytes\n0,0,1,1000\n";
        assert_eq!(trace(flows), trace(flows));
        assert_ne!(trace(flows), trace(&flows.replace("1000", "2000")));
    }

    #[test]
    fn what_another_version_wrote_is_old_and_can_be_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) =
            (Store::new(dir.path(), program("1")), Store::new(dir.path(), program("2")));
        let (before, after) = (run(&old, experiment(0.5)), run(&new, experiment(0.5)));
        fs::create_dir(dir.path().join("notes")).unwrap();
        let entries = new.entries().unwrap();
        let is_old = |dir: &Path| entries.iter().find(|entry| entry.dir == dir).unwrap().is_old;
        assert_eq!((entries.len(), is_old(&before), is_old(&after)), (2, true, false));
        assert!(entries.iter().all(|entry| entry.is_complete && entry.bytes > 1000));
        for entry in entries.iter().filter(|entry| entry.is_old) {
            new.remove(entry).unwrap();
        }
        assert!(!before.exists() && after.exists() && dir.path().join("notes").exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
