//! `flowsched-soak`: runs random experiments for a while and reports their outcomes.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Parser;
use flowsched_soak::trial::CaseReport;
use flowsched_soak::{Soak, Subject};

/// Run random experiments with flowsched, and check what happens to them
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Repeat this one case
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How long to begin new cases
    #[arg(long, value_name = "N", default_value_t = 60)]
    minutes: u64,
    /// The seed of the first case
    #[arg(long, value_name = "N", default_value_t = 1)]
    first_seed: u64,
    /// The flowsched to test; by default the one beside this program
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Processor seconds after which a run is stopped
    #[arg(long, value_name = "N", default_value_t = 120)]
    cpu_seconds: u64,
    /// Where failures are kept, a folder each
    #[arg(long, value_name = "DIR", default_value = "soak-failures")]
    failures: PathBuf,
    /// Write the figures to this file
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the cases and writes the figures. Returns whether no case failed.
fn run(arguments: &Arguments) -> io::Result<bool> {
    let binary = match &arguments.binary {
        Some(binary) => binary.clone(),
        None => env::current_exe()?.with_file_name("flowsched"),
    };
    let subject = Subject::new(&binary, Duration::from_secs(arguments.cpu_seconds))
        .map_err(|error| io::Error::other(format!("cannot run {}: {error}", binary.display())))?;
    if !subject.can_resume {
        eprintln!("this flowsched has no --resume: runs that are cut short are not resumed");
    }
    let soak = Soak {
        subject,
        first_seed: arguments.seed.unwrap_or(arguments.first_seed),
        time: Duration::from_secs(60 * arguments.minutes),
        cases: if arguments.seed.is_some() { 1 } else { u64::MAX },
        side_by_side: 2,
        failures: arguments.failures.clone(),
    };
    let tally = soak.run(&show)?;
    let minutes = if arguments.seed.is_some() { 0 } else { arguments.minutes };
    let page = tally.page(&version_of(&binary)?, &today()?, minutes);
    match &arguments.page {
        Some(path) => write(path, &page)?,
        None => print!("{page}"),
    }
    Ok(!tally.has_failures())
}

fn show(seed: u64, report: &CaseReport) {
    for violation in &report.violations {
        eprintln!("seed {seed}: {}", violation.kind);
    }
}

fn write(path: &Path, page: &str) -> io::Result<()> {
    fs::write(path, page)
        .map_err(|error| io::Error::other(format!("cannot write {}: {error}", path.display())))
}

fn version_of(binary: &Path) -> io::Result<String> {
    let output = Command::new(binary).arg("--version").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn today() -> io::Result<String> {
    let output = Command::new("date").arg("+%F").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
