//! Why a command fails, and the exit status that says so.

use std::io;
use std::path::Path;

use flowsched_experiment::results::ResultsError;
use flowsched_experiment::{Mistake, Mistakes, Place};
use flowsched_papers::RepositoryError;
use flowsched_report::ReportError;
use flowsched_run::{SettingError, TooLarge};
use flowsched_workload::LONGEST_RUN;
use thiserror::Error;

/// Why a command fails.
#[derive(Debug, Error)]
pub enum Failure {
    /// The input has mistakes.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
    /// The file of claims cannot be read.
    #[error(transparent)]
    Claims(RepositoryError),
    /// A results folder cannot be read or written.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A report cannot be written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// Standard output cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
    /// The lab cannot continue.
    #[error(transparent)]
    World(Box<dyn std::error::Error + Send + Sync>),
    /// The system refused another request.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// The experiment does not fit this machine.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A run reached the end of simulated time.
    #[error(
        "a run was cut short at {LONGEST_RUN} of simulated time, the most that results can hold; \
         {folder} has the results until then, marked as incomplete"
    )]
    TooLong {
        /// The results folder.
        folder: String,
    },
    /// No flow of the traffic finished.
    #[error(
        "none of the {flows} flows finished, and the connections of {broken} broke. Check that \
         `flowsched traffic server` runs on each server, with the same version, and that --wait is long \
         enough."
    )]
    NoFlow {
        /// Flows that the client asked for.
        flows: u64,
        /// Flows whose connection broke.
        broken: u64,
    },
    /// Ctrl-C, or a termination signal.
    #[error(
        "interrupted; {folder} has the results until then, marked as incomplete; `--resume` runs the \
         rest"
    )]
    Interrupted {
        /// The results folder.
        folder: String,
    },
    /// Ctrl-C, or a termination signal, while `flowsched reproduce` measured claims.
    #[error("interrupted; run the same command again to continue")]
    ReproductionInterrupted,
}

impl From<RepositoryError> for Failure {
    fn from(error: RepositoryError) -> Failure {
        match error {
            RepositoryError::Mistakes(mistakes) => Failure::Mistakes(mistakes),
            error => Failure::Claims(error),
        }
    }
}

impl Failure {
    /// 2 for a mistake in the input, 1 for anything else.
    pub fn exit_status(&self) -> u8 {
        match self {
            Failure::Mistakes(_) | Failure::TooLarge(_) => 2,
            Failure::Results(error) | Failure::Report(ReportError::Results(error)) => match error {
                ResultsError::Occupied { .. }
                | ResultsError::OfWorld { .. }
                | ResultsError::NotResults { .. } => 2,
                _ => 1,
            },
            _ => 1,
        }
    }
}

/// The failure if there is no command `name` to print the manual page of.
pub fn unknown_command<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Failure {
    let place = Place::Argument(format!("man {name}"));
    Mistakes::from(Mistake::unknown(&place, "", name, names)).into()
}

/// The failure for a mistake that shows only when all flows of a seed are drawn.
pub fn unforeseen(file: &Path, error: &SettingError) -> Failure {
    let place = Place::Argument(file.display().to_string());
    Mistakes::from(Mistake::new(&place, &error.key, &error.problem)).into()
}
