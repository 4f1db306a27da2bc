//! The names of a results folder's files. Files are written so that they are either complete or
//! missing.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::ResultsError;

pub(super) const FLOWS_FILE: &str = "flows.parquet";
pub(super) const PORTS_FILE: &str = "ports.parquet";
pub(super) const PROBE_FLOWS_FILE: &str = "probe_flows.parquet";
pub(super) const PROBE_PORTS_FILE: &str = "probe_ports.parquet";
pub(super) const SUMMARY_FILE: &str = "summary.json";
pub(super) const EXPERIMENT_FILE: &str = "experiment.toml";
/// The folder of single runs, which exists until the study is complete.
pub(super) const RUNS_FOLDER: &str = "runs";

/// The temporary path of `file` while it is written.
pub(super) fn partial(dir: &Path, file: &str) -> PathBuf {
    dir.join(format!("{file}.partial"))
}

/// Renames a file from its temporary name to its own.
pub(super) fn put_in_place(dir: &Path, file: &str) -> Result<(), ResultsError> {
    let path = dir.join(file);
    fs::rename(partial(dir, file), &path).map_err(ResultsError::write(&path))
}

/// Writes a file under a temporary name, then renames it.
pub(super) fn replace(dir: &Path, file: &str, content: &str) -> Result<(), ResultsError> {
    write_whole(&partial(dir, file), content)?;
    put_in_place(dir, file)
}

/// Writes a file to the disk.
pub(super) fn write_whole(path: &Path, content: &str) -> Result<(), ResultsError> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(content.as_bytes())?;
        file.sync_all()
    };
    write().map_err(ResultsError::write(path))
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), ResultsError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(ResultsError::write(path)),
    }
}

/// Syncs the names of a folder's files to the disk.
pub(super) fn sync(dir: &Path) -> Result<(), ResultsError> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(ResultsError::write(dir))
}
