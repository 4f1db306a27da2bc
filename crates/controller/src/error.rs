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
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// A setting has an invalid value.
    #[error(transparent)]
    Setting(#[from] Refused),
    /// The configuration file is not valid TOML, or has an unknown or missing key.
    #[error("{path}: {message}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, column and what is wrong.
        message: String,
    },
    /// Settings that are missing or contradict each other.
    #[error("{0}")]
    Usage(String),
    /// Something that the controller depends on failed, such as a socket or a server.
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

    /// An error about the file at `path`.
    pub(crate) fn file(path: impl Into<PathBuf>, reason: impl std::fmt::Display) -> Self {
        ControllerError::File { path: path.into(), reason: reason.to_string() }
    }
}
