//! `flowsched switch-config`: prints what switches need for PIAS, from the file of an agent or of
//! an experiment, and checks whether a switch does it.

mod read;

pub use read::{read_toml, refused, unreadable};

use std::fs;

use flowsched_switches::compare;

use crate::arguments::{SwitchAction, SwitchCheck, SwitchConfig, SwitchPrint};
use crate::failure::Failure;
use crate::output::print;
use crate::progress::say;

/// Prints a configuration, or checks one.
pub fn run(wanted: &SwitchConfig) -> Result<(), Failure> {
    match (&wanted.action, &wanted.print) {
        (Some(SwitchAction::Check(check)), _) => compared(check),
        (None, Some(wanted)) => printed(wanted),
        (None, None) => {
            Err(read::refused("FILE", "nothing", "a file of an agent or an experiment"))
        }
    }
}

fn printed(wanted: &SwitchPrint) -> Result<(), Failure> {
    let request = read::request(&wanted.file, wanted.rate, wanted.ports.clone())?;
    let printed = wanted.platform.print(&request);
    for note in &printed.notes {
        say(&format!("note: {note}"));
    }
    print(&printed.text)
}

fn compared(wanted: &SwitchCheck) -> Result<(), Failure> {
    let request = read::request(&wanted.file, wanted.rate, vec!["any".into()])?;
    let path = &wanted.running;
    let running = fs::read_to_string(path).map_err(|e| read::unreadable(path, &e))?;
    let findings = compare(&request, wanted.platform, &running);
    for finding in &findings {
        let verdict = if finding.error.is_some() { "error" } else { "ok" };
        print(&format!("{verdict:<6} {}\n", finding.text))?;
    }
    match findings.iter().filter(|finding| finding.error.is_some()).count() {
        0 => Ok(()),
        errors => {
            let found = format!("{errors} differences from {}", wanted.file.display());
            Err(read::refused(&path.display().to_string(), &found, "the same on both sides"))
        }
    }
}
