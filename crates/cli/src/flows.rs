//! `flowsched flows`: summarises a packet capture to a trace of flows.

use std::fs::{self, File};
use std::path::Path;

use flowsched_experiment::{Mistake, Mistakes, Place};
use flowsched_workload::{Capture, read_capture, write_trace};

use crate::arguments::Flows;
use crate::failure::Failure;
use crate::output::print;
use crate::progress::say;

/// Reads the capture, and writes or prints its flows.
pub fn flows(wanted: &Flows) -> Result<(), Failure> {
    check_outputs(wanted)?;
    let place = Place::Argument(wanted.capture.display().to_string());
    let file = File::open(&wanted.capture).map_err(|error| {
        let found = format!("no readable file ({error})");
        Mistakes::from(Mistake::found(&place, "", found, "a packet capture"))
    })?;
    let capture = read_capture(file, wanted.idle)
        .map_err(|error| Mistakes::from(Mistake::new(&place, "", error.to_string())))?;
    let trace = write_trace(&capture.flows);
    match &wanted.out {
        Some(path) => write(path, &trace)?,
        None => print(&trace)?,
    }
    if let Some(path) = &wanted.hosts {
        let rows = capture.hosts.iter().enumerate();
        let rows: String = rows.map(|(host, address)| format!("{host},{address}\n")).collect();
        write(path, &format!("host,address\n{rows}"))?;
    }
    say(&summary(&capture));
    Ok(())
}

/// Refuses output files that would overwrite others, before anything is read.
fn check_outputs(wanted: &Flows) -> Result<(), Failure> {
    let outputs = [("--out", &wanted.out), ("--hosts", &wanted.hosts)];
    for (option, path) in outputs {
        let Some(path) = path else { continue };
        let place = Place::Argument(format!("{option} {}", path.display()));
        let refuse = |problem: &str| Err(Mistakes::from(Mistake::new(&place, "", problem)).into());
        if path.is_file() && !wanted.force {
            return refuse("the file exists. Name another one, or replace it with --force.");
        }
        if *path == wanted.capture {
            return refuse("this is the capture itself. Name another file.");
        }
    }
    if wanted.out.is_some() && wanted.out == wanted.hosts {
        let place = Place::Argument("--out and --hosts".to_owned());
        let problem = "both name the same file. Name two files.";
        return Err(Mistakes::from(Mistake::new(&place, "", problem)).into());
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|source| {
        let what = format!("write {}", path.display());
        Failure::System { what, source }
    })
}

fn summary(capture: &Capture) -> String {
    let Capture { flows, hosts, packets, others, is_cut_off } = capture;
    let cut_off = if *is_cut_off { "; the capture ends in the middle of one" } else { "" };
    let (flows, hosts) = (flows.len(), hosts.len());
    format!(
        "{flows} flows between {hosts} hosts, from {packets} packets, {others} of them \
         ignored{cut_off}"
    )
}
