//! Many cases side by side, and what is kept of those that fail.

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

/// What is run for how long.
#[derive(Clone, Debug)]
pub struct Soak {
    /// What is under test.
    pub subject: Subject,
    /// The seed of the first case; the others follow it.
    pub first_seed: u64,
    /// No case begins after this time.
    pub time: Duration,
    /// How many cases there are at most.
    pub cases: u64,
    /// How many cases are under way at a time.
    pub side_by_side: usize,
    /// Where failures are kept, a folder each.
    pub failures: PathBuf,
}

impl Soak {
    /// Runs the cases and shows each failure as it comes.
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

/// Writes down what is needed to see the failure again.
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
