//! Errors of generating traffic and of reading its results.

use std::io;
use std::path::{Path, PathBuf};

use flowsched_experiment::results::ResultsError;
use thiserror::Error;

/// An error of generating traffic or of reading its results.
#[derive(Debug, Error)]
pub enum TrafficError {
    /// A line of a file is invalid, or the file lacks something.
    #[error("{path}:{line}: {problem}")]
    Line {
        /// Which file.
        path: PathBuf,
        /// The line, from 1; 0 if the error concerns the whole file.
        line: usize,
        /// What is wrong and what to do, as sentences.
        problem: String,
    },
    /// A file cannot be read or written.
    #[error("cannot {what} {path}: {source}")]
    File {
        /// What was tried, as a verb.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A server does not answer before the first request.
    #[error(
        "cannot connect to {server}: {source}. Start `flowsched traffic server` there, and check \
         address and port."
    )]
    NoServer {
        /// Its address.
        server: String,
        /// What the system says.
        source: io::Error,
    },
    /// A system call failed.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// Results cannot be written.
    #[error(transparent)]
    Results(#[from] ResultsError),
}

impl TrafficError {
    pub(crate) fn system(what: &'static str, source: impl Into<io::Error>) -> TrafficError {
        TrafficError::System { what, source: source.into() }
    }

    pub(crate) fn file(what: &'static str, path: &Path, source: io::Error) -> TrafficError {
        TrafficError::File { what, path: path.to_owned(), source }
    }
}
