//! Findings of `check` and `start --dry-run`: one line for each thing that they examine.

use std::fmt;

use crate::error::AgentError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Ok,
    Warning,
    Error,
}

/// One line of the output.
#[derive(Debug)]
pub(crate) struct Finding {
    verdict: Verdict,
    about: &'static str,
    text: String,
}

impl Finding {
    pub(crate) fn ok(about: &'static str, text: String) -> Finding {
        Finding { verdict: Verdict::Ok, about, text }
    }

    pub(crate) fn warning(about: &'static str, text: String) -> Finding {
        Finding { verdict: Verdict::Warning, about, text }
    }

    pub(crate) fn error(about: &'static str, text: String) -> Finding {
        Finding { verdict: Verdict::Error, about, text }
    }

    /// Converts a result to a finding: `Ok` with its text, or `Error` with the error's message.
    pub(crate) fn new(about: &'static str, result: Result<String, AgentError>) -> Finding {
        match result {
            Ok(text) => Finding::ok(about, text),
            Err(error) => Finding::error(about, error.to_string()),
        }
    }

    pub(crate) fn is_error(&self) -> bool {
        self.verdict == Verdict::Error
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Warning => "warning",
            Verdict::Error => "error",
        };
        write!(f, "{verdict:<8} {:<16} {}", self.about, self.text)
    }
}
