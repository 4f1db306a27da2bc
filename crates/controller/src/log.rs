//! The log: one line per message on standard error.

use std::fmt::Display;

/// Logs a problem that the operator should look at.
pub fn warn(text: impl Display) {
    eprintln!("flowsched controller: warning: {text}");
}

/// Logs a change.
pub fn info(text: impl Display) {
    eprintln!("flowsched controller: {text}");
}
