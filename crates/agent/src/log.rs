//! The log on standard error: one line per message, from a level on. The journal gets the level as
//! a prefix (sd-daemon(3)).

use std::fmt::{self, Display};
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use clap::ValueEnum;
use nix::sys::stat::fstat;

/// How much matters; the numbers are syslog's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[repr(u8)]
pub(crate) enum Level {
    /// What the agent could not do.
    Error = 3,
    /// What the operator should look at.
    Warn = 4,
    /// What has changed.
    Info = 6,
    /// Every step.
    Debug = 7,
}

static MOST: AtomicU8 = AtomicU8::new(Level::Info as u8);

/// Sets the least severe level that is logged from now on.
pub(crate) fn limit(level: Level) {
    MOST.store(level as u8, Ordering::Relaxed);
}

pub(crate) fn error(text: impl Display) {
    say(Level::Error, text);
}

pub(crate) fn warn(text: impl Display) {
    say(Level::Warn, text);
}

pub(crate) fn info(text: impl Display) {
    say(Level::Info, text);
}

pub(crate) fn debug(text: impl Display) {
    say(Level::Debug, text);
}

fn say(level: Level, text: impl Display) {
    if level as u8 <= MOST.load(Ordering::Relaxed) {
        eprint!("{}", Message { level, text: &text.to_string(), to_journal: to_journal() });
    }
}

/// Whether standard error goes to the journal.
fn to_journal() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let Ok(found) = fstat(std::io::stderr().as_fd()) else { return false };
        let expected = format!("{}:{}", found.st_dev, found.st_ino);
        std::env::var("JOURNAL_STREAM").is_ok_and(|stream| stream == expected)
    })
}

struct Message<'a> {
    level: Level,
    text: &'a str,
    to_journal: bool,
}

impl Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.to_journal {
            // The journal takes each line as a message of its own.
            return self
                .text
                .lines()
                .try_for_each(|line| writeln!(f, "<{}>{line}", self.level as u8));
        }
        let label = match self.level {
            Level::Error => "error: ",
            Level::Warn => "warning: ",
            Level::Info | Level::Debug => "",
        };
        writeln!(f, "flowsched agent: {label}{}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_gets_the_level_on_every_line() {
        let text = "refused:\nno such key";
        let message = |to_journal| Message { level: Level::Warn, text, to_journal }.to_string();
        assert_eq!(message(true), "<4>refused:\n<4>no such key\n");
        assert_eq!(message(false), "flowsched agent: warning: refused:\nno such key\n");
    }
}
