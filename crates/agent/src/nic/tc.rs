//! Calls of `tc`.

use std::process;

use crate::error::AgentError;
use crate::log;

/// The arguments of one call of `tc`.
pub(super) type Command = Vec<String>;

/// Splits a command at blanks.
pub(super) fn command(text: &str) -> Command {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Runs one command, and returns its output.
pub(super) fn run(arguments: &[String]) -> Result<String, AgentError> {
    log::debug(format_args!("tc {}", arguments.join(" ")));
    let output = process::Command::new("tc")
        .args(arguments)
        .output()
        .map_err(|e| AgentError::kernel("run tc (of iproute2)", e))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(AgentError::kernel(format!("tc {}", arguments.join(" ")), reason))
}
