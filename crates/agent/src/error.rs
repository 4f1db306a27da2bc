//! Errors, each with what an operator can do about it.

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
        /// Why.
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
    /// A value that makes no sense.
    #[error(transparent)]
    Setting(#[from] Refused),
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
    /// The kernel refused another request.
    #[error("{action}: {reason}")]
    Kernel {
        /// What was tried.
        action: String,
        /// The answer.
        reason: String,
    },
    /// Another agent runs.
    #[error("an agent runs already{}; stop it with `flowsched agent stop`", process(*pid))]
    Running {
        /// Its process id, if it answers.
        pid: Option<u32>,
    },
    /// The command line contradicts itself, or what is on the machine.
    #[error("{0}")]
    Usage(String),
    /// No tagger is installed.
    #[error("{0}")]
    NotInstalled(String),
    /// The process lacks capabilities, or is another user's.
    #[error("{0}")]
    Denied(String),
    /// Something on the machine prevents it.
    #[error("{0}")]
    Refused(String),
    /// A signal or a command ended the agent before it was ready.
    #[error("the agent ended before it was ready")]
    Ended,
    /// What the command needs is not there.
    #[error("{0}")]
    Missing(String),
}

/// ` (process 7)`.
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

    /// `key` was given as `found` where only `allowed` makes sense.
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
