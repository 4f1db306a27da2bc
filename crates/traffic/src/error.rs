//! Why traffic cannot be made or read.

use std::io;
use std::path::{Path, PathBuf};

use flowsched_experiment::results::ResultsError;
use thiserror::Error;

/// Why traffic cannot be made or read.
#[derive(Debug, Error)]
pub enum TrafficError {
    /// A file says something that cannot be.
    #[error("{path}:{line}: {problem}")]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1; 0 for what the whole file lacks.
        line: usize,
        /// What is wrong and what to do, as a sentence.
        problem: String,
    },
    /// A file that cannot be read or written.
    #[error("cannot {what} {path}: {source}")]
    File {
        /// What was tried.
        what: &'static str,
        /// On which file or folder.
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
    /// Something else that the system refused.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// Results that cannot be written.
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
