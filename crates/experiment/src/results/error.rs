//! Errors about results folders.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use thiserror::Error;

use super::{RunKey, World};

/// A results folder that cannot be written or read.
#[derive(Debug, Error)]
pub enum ResultsError {
    /// The system refused to write: a full disk, a missing permission.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The system refused to read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The folder has the results of another experiment.
    #[error(
        "{} has the results of another experiment; name another folder, or remove this one",
        path.display()
    )]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has results of the same experiment from another world.
    #[error(
        "{} has results of `{}`, which `{}` would mix with its own. Name another folder with --out, or \
         remove this one.",
        path.display(), found.command(), wanted.command()
    )]
    OfWorld {
        /// The folder.
        path: PathBuf,
        /// The world of its results.
        found: World,
        /// The world whose results were to be added.
        wanted: World,
    },
    /// Another process writes to the folder.
    #[error(
        "{} is in use by another run{owner}; wait for it to end, or name another folder with --out",
        path.display()
    )]
    Busy {
        /// The folder.
        path: PathBuf,
        /// The process, in brackets after a space; empty if it is not known.
        owner: String,
    },
    /// Two runs have the same scheme, seed and point.
    #[error("there are two runs of {run}; give schemes distinct names")]
    Twice {
        /// The scheme, the seed and the point.
        run: RunKey,
    },
    /// The folder is not a results folder, or it lacks the table that was asked for.
    #[error("{} is not a results folder: {reason}; `flowsched run --out` writes one", path.display())]
    NotResults {
        /// The folder or file.
        path: PathBuf,
        /// What is missing or wrong.
        reason: String,
    },
    /// A file of the results is cut short or changed.
    #[error("{} is damaged: {reason}; run the experiment again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl ResultsError {
    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> ResultsError {
        let path = path.to_owned();
        move |source| ResultsError::Write { path, source }
    }

    pub(super) fn damaged(path: &Path, reason: impl ToString) -> ResultsError {
        ResultsError::Damaged { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// An error of the Parquet library as an I/O error.
pub(super) fn io_error(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
