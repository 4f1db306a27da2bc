//! Why there is no report.

use std::io;
use std::path::PathBuf;

use flowsched_experiment::results::ResultsError;
use thiserror::Error;

/// A report that cannot be made.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The results cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The page cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The values of a chart cannot be written as text.
    #[error("cannot write the values of a chart: {0}")]
    Data(String),
}

impl ReportError {
    pub(crate) fn data(error: impl ToString) -> ReportError {
        ReportError::Data(error.to_string())
    }
}
