//! The HTML page, as text and in a real browser.

mod synthetic;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flowsched_experiment::results::{self, RunRecord};
use synthetic::Study;

/// Writes the study to a folder that stays, for a person to look at, and reports on it.
fn report(name: &str, study: &Study, change: impl FnOnce(&mut Vec<RunRecord>)) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if dir.exists() {
        fs::remove_dir_all(&dir).unwrap();
    }
    let mut runs = study.runs();
    change(&mut runs);
    results::write(&dir, &study.meta(), runs).unwrap();
    flowsched_report::html(&dir).unwrap()
}

fn sweep() -> Study {
    Study { loads: vec!["0.5", "0.6", "0.7", "0.8", "0.9"], flows: 800, ..Study::default() }
}

#[test]
fn a_single_point() {
    report("single", &Study::default(), |_| {});
}

#[test]
fn a_sweep() {
    report("sweep", &sweep(), |_| {});
}
