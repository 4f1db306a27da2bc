//! Errors, each with what an operator can do.

use std::path::PathBuf;

use flowsched_fleet::Refused;
use thiserror::Error;

/// An error of the agent.
#[derive(Debug, Error)]
pub enum AgentError {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The configuration cannot be read, is not TOML, or a key is unknown or missing.
    #[error("{path}: {message}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, column and what is wrong.
        message: String,
    },
    /// A value is invalid.
    #[error(transparent)]
    Setting(#[from] Refused),
    /// The kernel refused the program.
    #[error("the kernel does not load the tagger: {reason}\n{advice}\n{log}")]
    Load {
        /// libbpf's error.
        reason: String,
        /// What to do about it.
        advice: &'static str,
        /// The output of libbpf and the verifier.
        log: String,
    },
    /// The kernel refused another request.
    #[error("{action}: {reason}")]
    Kernel {
        /// What was tried.
        action: String,
        /// The kernel's answer.
        reason: String,
    },
    /// Another agent is running.
    #[error("an agent runs already{}; stop it with `flowsched agent stop`", process(*pid))]
    Running {
        /// Its process ID, if it answers.
        pid: Option<u32>,
    },
    /// The command line contradicts itself or the state of the machine.
    #[error("{0}")]
    Usage(String),
    /// No tagger is installed.
    #[error("{0}")]
    NotInstalled(String),
    /// The process lacks capabilities, or belongs to another user.
    #[error("{0}")]
    Denied(String),
    /// Something on the machine prevents the action.
    #[error("{0}")]
    Refused(String),
    /// A signal or a command ended the agent before it was ready.
    #[error("the agent ended before it was ready")]
    Ended,
    /// Something that the command needs is missing.
    #[error("{0}")]
    Missing(String),
}

/// Returns text such as ` (process 7)`.
fn process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

impl AgentError {
    /// The exit code of a command that ends with this error, as the reference lists them.
    pub fn exit_code(&self) -> u8 {
        match self {
            AgentError::Syntax { .. } | AgentError::Setting(_) | AgentError::Usage(_) => 2,
            AgentError::NotInstalled(_) => 3,
            AgentError::Denied(_) => 4,
            _ => 1,
        }
    }

    /// An error about `key`, which has the value `found`. `allowed` describes the allowed values.
    pub(crate) fn setting(
        key: impl Into<String>,
        found: impl std::fmt::Display,
        allowed: impl Into<String>,
    ) -> AgentError {
        Refused::new(key, found, allowed).into()
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
