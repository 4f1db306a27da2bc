//! `flowsched reproduce --lab`: measures published values with real packets.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use flowsched_experiment::results::{LabRun, RunKey, Summary, World};
use flowsched_experiment::{Mistake, Mistakes, Place};
use flowsched_papers::{CLAIMS, Claim, LateRuns, Repository, Row, Study, as_table, studies_in_lab};
use flowsched_run::{Progress, Store};

use super::record;
use crate::arguments::{Format, Reproduce};
use crate::captures::Wanted;
use crate::failure::{Failure, unforeseen};
use crate::lab::conduct::{self, Conducts};
use crate::lab::{check, check_machine, simulator::simulator};
use crate::output::print;
use crate::program::program;
use crate::progress::say;
use crate::run::complete_by;
use crate::signals::Interrupts;

/// The most tries of a run in which the lab is late, because a machine may have something else to do for a
/// moment.
const TRIES: NonZeroU32 = NonZeroU32::new(3).unwrap();

/// The measurements: the summary of each study, and the runs that decide nothing.
#[derive(Default)]
struct Measured {
    summaries: BTreeMap<Study, Summary>,
    late: BTreeMap<Study, LateRuns>,
}

/// Measures the values that the lab can, and prints a row for each.
pub fn reproduce(wanted: &Reproduce, asked: &[&Claim]) -> Result<(), Failure> {
    if wanted.threads.is_some() {
        let problem = "The lab runs one run after the other, in real time. Leave --threads out.";
        return Err(refused("--threads", problem.to_owned()));
    }
    let studies = studies_in_lab(asked);
    if studies.is_empty() {
        let problem = format!(
            "None of these claims has a value with `lab` in {CLAIMS}: the lab does not measure them. Leave \
             --lab out."
        );
        return Err(refused("--lab", problem));
    }
    let Measured { summaries, late } = run_all(wanted, &studies)?;
    let scale = format!("lab, {}", wanted.scale);
    let values = asked.iter().flat_map(|claim| claim.values.iter().map(|value| (*claim, value)));
    let rows: Vec<Row> = values
        .filter(|(_, value)| value.lab.is_some())
        .map(|(claim, value)| Row::in_lab(claim, value, &summaries, &late, &scale))
        .collect();
    print(&match wanted.format {
        Format::Json => record::record(rows, World::Lab).to_json(),
        Format::Table => as_table(&rows, textwrap::termwidth()),
    })
}

/// The failure for an option that is refused.
fn refused(option: &str, problem: String) -> Failure {
    let place = Place::Argument(option.to_owned());
    Mistakes::from(Mistake::new(&place, option.trim_start_matches('-'), problem)).into()
}

/// Runs every study in the lab, one run after the other.
fn run_all(wanted: &Reproduce, studies: &[Study]) -> Result<Measured, Failure> {
    // This comes before anything is written.
    for study in studies {
        let experiment = Repository::here().experiment(study, wanted.scale.into(), wanted.seeds)?;
        check_machine(&experiment)?;
    }
    let store = Store::new(&wanted.out.join("lab"), program().in_world(World::Lab));
    let progress = Arc::new(Progress::default());
    let interrupts = Interrupts::listen(&progress, "the same command")?;
    let mut measured = Measured::default();
    for (place, study) in studies.iter().enumerate() {
        let name = &study.experiment;
        say(&format!("experiment {} of {}: {name}", place + 1, studies.len()));
        let experiment = Repository::here().experiment(study, wanted.scale.into(), wanted.seeds)?;
        check(&experiment).map_err(|error| unforeseen(Path::new(name), &error))?;
        let dir = store.folder_of(name, &experiment);
        let summary = match store.finished(name, &experiment) {
            Some(summary) => summary,
            None => {
                progress.finished_flows.store(0, Ordering::SeqCst);
                let simulator = simulator(Wanted::default(), Conducts::new(&dir, true), TRIES);
                let dir = (dir.as_path(), World::Lab);
                complete_by(Path::new(name), experiment, dir, &progress, 1, simulator)?
            }
        };
        if progress.stop.load(Ordering::SeqCst) {
            return Err(Failure::ReproductionInterrupted);
        }
        measured.late.insert(study.clone(), late_runs(&summary, &conduct::read(&dir)));
        measured.summaries.insert(study.clone(), summary);
    }
    interrupts.simulations_ended();
    Ok(measured)
}

/// The runs that are not valid, or that have no record of the lab's conduct.
fn late_runs(summary: &Summary, kept: &[LabRun]) -> LateRuns {
    let mut late = LateRuns::default();
    for run in &summary.runs {
        let (point, scheme) = (run.point.clone(), run.scheme.clone());
        let key = RunKey { point, scheme, seed: run.seed }.to_string();
        if !kept.iter().any(|kept| kept.valid && kept.run == key) {
            late.note(&run.scheme);
        }
    }
    late
}
