//! How a process ended, and whether it may end so.

use nix::sys::signal::Signal;

use crate::process::Ended;
use crate::violation::{Violation, Violations};

/// The outcome of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exit status 0.
    Done,
    /// Exit status 2: a mistake in the input.
    Refused,
    /// It stopped because a signal asked it to.
    Stopped,
    /// It was killed on purpose.
    Killed,
    /// Memory ran out, and the process reported it.
    OutOfMemory,
    /// The disk was full, and the process reported it.
    OutOfDisk,
    /// A run reached the longest simulated time that results can hold, and the process reported it.
    OutOfTime,
    /// Another error, or an ending that is not allowed.
    Failed,
}

/// Returns the outcome of the process, and what is wrong with it.
pub fn judge(ended: &Ended, what: &str) -> (Outcome, Vec<Violation>) {
    let mut found = Violations::default();
    let detail = || format!("{what}: {:?}\n{}", ended.status, ended.errors);
    found.require(!ended.is_late, "late stop", detail);
    if let Some(place) = panic_place(&ended.errors) {
        found.add(&format!("panic at {place}"), detail);
    }
    let outcome = outcome(ended);
    match (ended.died_of(), ended.status.code()) {
        _ if ended.is_late => {}
        (Some(signal), _) if outcome == Outcome::Failed => {
            found.add(&format!("died of signal {signal}{}", cause(&ended.errors)), detail);
        }
        (_, Some(0)) | (Some(_), _) => {}
        (_, Some(1 | 2)) => {
            found.require(names_cause(&ended.errors), "error without a cause", detail);
            let is_named = outcome != Outcome::Failed || panic_place(&ended.errors).is_some();
            found.require(is_named, "error without a limit or a signal", detail);
        }
        (_, status) => {
            found.add(&format!("exit status {}", status.unwrap_or(-1)), detail);
        }
    }
    (outcome, found.into_vec())
}

fn outcome(ended: &Ended) -> Outcome {
    if ended.is_late {
        return Outcome::Failed;
    }
    if let Some(signal) = ended.died_of() {
        // A signal ends the process if it comes before the process handles signals.
        return match ended.sent {
            Some(Signal::SIGKILL) => Outcome::Killed,
            Some(sent) if sent as i32 == signal => Outcome::Stopped,
            _ => Outcome::Failed,
        };
    }
    let says = |words: &[&str]| words.iter().any(|word| ended.errors.contains(word));
    match ended.status.code() {
        Some(0) => Outcome::Done,
        Some(2) => Outcome::Refused,
        Some(1) if says(&["File too large", "No space left"]) => Outcome::OutOfDisk,
        Some(1) if says(&["memory"]) => Outcome::OutOfMemory,
        Some(1) if says(&["a run was cut short at"]) => Outcome::OutOfTime,
        Some(1) if ended.sent.is_some() => Outcome::Stopped,
        _ => Outcome::Failed,
    }
}

/// Whether some line names a cause.
fn names_cause(errors: &str) -> bool {
    errors.lines().any(|line| line.strip_prefix("error: ").is_some_and(|cause| cause.len() > 3))
}

/// The file and line of a panic.
fn panic_place(errors: &str) -> Option<String> {
    let (_, after) = errors.split_once("panicked at ")?;
    let place: Vec<&str> = after.split(':').take(2).collect();
    Some(place.join(":"))
}

/// The cause of a crash that the process did not report as an error itself.
fn cause(errors: &str) -> &'static str {
    let causes = [
        ("memory allocation", ", memory"),
        ("stack overflow", ", stack"),
        ("capacity overflow", ", capacity"),
    ];
    causes.iter().find(|(words, _)| errors.contains(words)).map_or("", |(_, cause)| cause)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;
    use std::time::Duration;

    use super::*;

    /// The `wait` status of a signal is its number, that of an exit its status times 256.
    fn ended(wait: i32, errors: &str) -> Ended {
        Ended {
            status: ExitStatus::from_raw(wait),
            errors: errors.into(),
            wall: Duration::ZERO,
            sent: None,
            is_over_time: false,
            is_late: false,
        }
    }

    fn kinds(ended: &Ended) -> Vec<String> {
        judge(ended, "run").1.into_iter().map(|violation| violation.kind).collect()
    }

    #[test]
    fn good_ends_are_told_apart() {
        let stopped = Ended {
            sent: Some(Signal::SIGTERM),
            ..ended(256, "error: interrupted; the rest is in out")
        };
        let killed = Ended { sent: Some(Signal::SIGKILL), ..ended(9, "") };
        let early = Ended { sent: Some(Signal::SIGHUP), ..ended(1, "") };
        for (ended, outcome) in [
            (ended(0, ""), Outcome::Done),
            (ended(512, "error: a.toml:1:1: hosts: too many"), Outcome::Refused),
            (stopped, Outcome::Stopped),
            (early, Outcome::Stopped),
            (killed, Outcome::Killed),
            (ended(256, "error: out of memory: 3 GB for samples"), Outcome::OutOfMemory),
            (ended(256, "error: cannot write a: File too large"), Outcome::OutOfDisk),
            (ended(256, "error: a run was cut short at 9000000s of simulated"), Outcome::OutOfTime),
        ] {
            assert_eq!(judge(&ended, "run"), (outcome, vec![]));
        }
    }

    #[test]
    fn bad_ends_are_told() {
        assert_eq!(
            kinds(&ended(6, "memory allocation of 9 bytes failed")),
            ["died of signal 6, memory"]
        );
        assert_eq!(kinds(&ended(11, "")), ["died of signal 11"]);
        assert_eq!(kinds(&ended(3 << 8, "error: what")), ["exit status 3"]);
        assert_eq!(
            kinds(&ended(256, "")),
            ["error without a cause", "error without a limit or a signal"]
        );
        assert_eq!(kinds(&ended(256, "error: something")), ["error without a limit or a signal"]);
        let panic = "thread 'main' panicked at crates/sim/src/link.rs:12:5:\nwhat";
        assert_eq!(kinds(&ended(101 << 8, panic))[0], "panic at crates/sim/src/link.rs:12");
        let late = Ended { is_late: true, sent: Some(Signal::SIGTERM), ..ended(9, "") };
        assert_eq!(kinds(&late), ["late stop"]);
    }
}
