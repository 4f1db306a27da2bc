//! Errors of the controller's commands.

use std::path::PathBuf;

use flowsched_fleet::Refused;
use thiserror::Error;

/// Why a command failed.
#[derive(Debug, Error)]
pub enum ControllerError {
    /// A file could not be read or written.
    #[error("{path}: {reason}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A setting that makes no sense.
    #[error(transparent)]
    Setting(#[from] Refused),
    /// The configuration is no TOML of the right form.
    #[error("{path}: {message}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, column and what is wrong.
        message: String,
    },
    /// A command line that asks for what there is not.
    #[error("{0}")]
    Usage(String),
    /// What the controller needs failed.
    #[error("{0}")]
    Failed(String),
}

impl ControllerError {
    /// The exit code: 2 for a mistake in the input, 1 for anything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            ControllerError::Setting(_) | ControllerError::Syntax { .. } => 2,
            ControllerError::Usage(_) => 2,
            ControllerError::File { .. } | ControllerError::Failed(_) => 1,
        }
    }

    /// A file at `path` failed.
    pub(crate) fn file(path: impl Into<PathBuf>, reason: impl std::fmt::Display) -> Self {
        ControllerError::File { path: path.into(), reason: reason.to_string() }
    }
}
