//! Why an experiment's runs fail.

use std::io;

use flowsched_experiment::results::ResultsError;
use flowsched_units::SettingError;
use thiserror::Error;

/// Why an experiment's runs fail.
#[derive(Debug, Error)]
pub enum RunError {
    /// Settings that do not fit each other, as found while drawing the flows of a seed or building a
    /// caller's own parts.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// Results cannot be written.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The lab cannot continue.
    #[error(transparent)]
    World(Box<dyn std::error::Error + Send + Sync>),
    /// The system gives no threads.
    #[error("cannot start threads: {0}")]
    Threads(#[source] io::Error),
}
