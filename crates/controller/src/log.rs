//! What the controller says on standard error while it works, a line a message.

use std::fmt::Display;

/// What the operator should look at.
pub fn warn(text: impl Display) {
    eprintln!("flowsched controller: warning: {text}");
}

/// What has changed.
pub fn info(text: impl Display) {
    eprintln!("flowsched controller: {text}");
}
