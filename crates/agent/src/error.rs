//! What can go wrong, said so that an operator knows what to do.

use std::path::PathBuf;

use thiserror::Error;

/// An error of the agent.
#[derive(Debug, Error)]
pub enum AgentError {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The configuration is not TOML, or a key is unknown or missing.
    #[error("{path}: {message}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, column and what is wrong.
        message: String,
    },
    /// A value that makes no sense.
    #[error("{key}: found {found}, expected {allowed}")]
    Setting {
        /// The key in the configuration.
        key: String,
        /// What it was.
        found: String,
        /// What may be.
        allowed: String,
    },
    /// The kernel refused the program.
    #[error("the kernel does not load the tagger: {reason}\n{advice}\n{log}")]
    Load {
        /// libbpf's error.
        reason: String,
        /// What to do about it.
        advice: &'static str,
        /// What libbpf and the verifier said.
        log: String,
    },
    /// Something else that the kernel refused.
    #[error("{action}: {reason}")]
    Kernel {
        /// What was tried.
        action: String,
        /// The answer.
        reason: String,
    },
    /// Another agent runs.
    #[error("an agent runs already (process {pid}); stop it with `flowsched agent stop`")]
    Running {
        /// Its process id.
        pid: i32,
    },
    /// What the command needs is not there.
    #[error("{0}")]
    Missing(String),
}

impl AgentError {
    /// `key` was given as `found` where only `allowed` makes sense.
    pub(crate) fn setting(
        key: impl Into<String>,
        found: impl std::fmt::Display,
        allowed: impl Into<String>,
    ) -> AgentError {
        AgentError::Setting { key: key.into(), found: found.to_string(), allowed: allowed.into() }
    }

    /// `action` failed because of `reason`.
    pub(crate) fn kernel(action: impl Into<String>, reason: impl std::fmt::Display) -> AgentError {
        AgentError::Kernel { action: action.into(), reason: reason.to_string() }
    }

    /// A file error at `path`.
    pub(crate) fn file(path: impl Into<PathBuf>, source: std::io::Error) -> AgentError {
        AgentError::File { path: path.into(), source }
    }
}
