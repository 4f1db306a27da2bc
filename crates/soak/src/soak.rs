//! Runs many cases in parallel, and keeps those that fail.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::generate::Case;
use crate::tally::Tally;
use crate::trial::{CaseReport, Subject, carry_out};

/// The settings of a soak.
#[derive(Clone, Debug)]
pub struct Soak {
    /// The binary under test.
    pub subject: Subject,
    /// The seed of the first case; the others follow it.
    pub first_seed: u64,
    /// New cases begin only before this time has passed.
    pub time: Duration,
    /// The largest number of cases.
    pub cases: u64,
    /// The number of cases that run at the same time.
    pub side_by_side: usize,
    /// The folder for failures. Each failure gets a folder in it.
    pub failures: PathBuf,
}

impl Soak {
    /// Runs the cases and calls `show` for each report as it comes.
    ///
    /// # Errors
    /// If a case cannot be written or started.
    pub fn run(&self, show: &(dyn Fn(u64, &CaseReport) + Sync)) -> io::Result<Tally> {
        let (start, next) = (Instant::now(), AtomicU64::new(0));
        let tally = Mutex::new(Tally::default());
        let work = || -> io::Result<()> {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= self.cases || start.elapsed() >= self.time {
                    return Ok(());
                }
                let seed = self.first_seed + index;
                let report = self.one(seed)?;
                show(seed, &report);
                tally.lock().unwrap_or_else(PoisonError::into_inner).add(seed, &report);
            }
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.side_by_side).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| match worker.join() {
                Ok(done) => done,
                Err(_) => Err(io::Error::other("a case ended the soak by a panic")),
            })
        })?;
        Ok(tally.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn one(&self, seed: u64) -> io::Result<CaseReport> {
        let case = Case::new(seed);
        let folder = tempfile::tempdir()?;
        let report = carry_out(&case, &self.subject, folder.path())?;
        if !report.violations.is_empty() {
            keep(&case, &report, &self.failures.join(seed.to_string()))?;
        }
        Ok(report)
    }
}

/// Writes what is needed to reproduce the failure.
fn keep(case: &Case, report: &CaseReport, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in &case.files {
        fs::write(folder.join(name), text)?;
    }
    let mut text = format!("flowsched-soak --seed {}\n\n", case.seed);
    for line in &report.commands {
        text += &format!("{line}\n");
    }
    for violation in &report.violations {
        text += &format!("\n{violation}\n");
    }
    fs::write(folder.join("failure.txt"), text)
}
