//! `flowsched reproduce --lab`: measures published values with real packets.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use flowsched_experiment::results::{LabRun, RunKey, Summary, World, runs_left};
use flowsched_experiment::{Experiment, Mistake, Mistakes, Place};
use flowsched_papers::{
    CLAIMS, Claim, LateRuns, Repository, Row, Runs, RunsOfStudies, Study, as_table, studies_in_lab,
};
use flowsched_run::{Progress, Store, experiment_hash};

use super::record;
use super::time_left::TimeLeft;
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

/// The measurements: the runs of each study, and the runs that decide nothing.
#[derive(Default)]
struct Measured {
    runs: RunsOfStudies,
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
    let Measured { runs, late } = run_all(wanted, &studies)?;
    let scale = format!("lab, {}", wanted.scale);
    let values = asked.iter().flat_map(|claim| claim.values.iter().map(|value| (*claim, value)));
    let rows: Vec<Row> = values
        .filter(|(_, value)| value.lab.is_some())
        .map(|(claim, value)| Row::in_lab(claim, value, &runs, &late, &scale))
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

/// A study that is to run in the lab.
struct Planned {
    experiment: Experiment,
    /// Where its results are or belong.
    dir: PathBuf,
    /// Its results, if every run of it is there.
    known: Option<Summary>,
    /// The time that its other runs take.
    takes: Duration,
}

impl Planned {
    fn new(study: &Study, wanted: &Reproduce, store: &Store) -> Result<Planned, Failure> {
        let name = &study.experiment;
        let experiment = Repository::here().experiment(study, wanted.scale.into(), wanted.seeds)?;
        check_machine(&experiment)?;
        check(&experiment).map_err(|error| unforeseen(Path::new(name), &error))?;
        let dir = store.folder_of(name, &experiment);
        let known = store.finished(name, &experiment);
        let takes = match known {
            Some(_) => Duration::ZERO,
            None => time_of_rest(&experiment, runs_left(&dir)),
        };
        Ok(Planned { experiment, dir, known, takes })
    }
}

/// The time that the other runs take once `done` of them are done. Real packets take as long as the network's time.
fn time_of_rest(experiment: &Experiment, done: usize) -> Duration {
    let runs = experiment.runs().len();
    let rest = runs.saturating_sub(done) as f64 / runs as f64;
    let seconds = experiment.estimate().map_or(0.0, |estimate| estimate.seconds);
    Duration::try_from_secs_f64(rest * seconds).unwrap_or_default()
}

/// Runs every study in the lab, one run after the other.
fn run_all(wanted: &Reproduce, studies: &[Study]) -> Result<Measured, Failure> {
    let store = Store::new(&wanted.out.join("lab"), program().in_world(World::Lab));
    // This comes before anything is written.
    let plan = |study| Planned::new(study, wanted, &store);
    let planned = studies.iter().map(plan).collect::<Result<Vec<_>, _>>()?;
    let progress = Arc::new(Progress::default());
    let interrupts = Interrupts::listen(&progress, "the same command")?;
    let mut time_left = TimeLeft::new(planned.iter().map(|study| study.takes));
    let started = Instant::now();
    let mut measured = Measured::default();
    for (place, (study, planned)) in studies.iter().zip(planned).enumerate() {
        let Planned { experiment, dir, known, takes } = planned;
        let name = &study.experiment;
        let left = time_left.after(started.elapsed());
        say(&format!("experiment {} of {}: {name}{left}", place + 1, studies.len()));
        time_left.has_done(takes);
        let experiment_hash = experiment_hash(&experiment);
        let summary = match known {
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
        measured.runs.insert(study.clone(), Runs { summary, experiment_hash });
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

#[cfg(test)]
mod tests {
    use std::io;

    use flowsched_experiment::{Arguments, Source};

    use super::*;

    /// Four runs, each of which ends after 3 s.
    const LONG: &str = "
        until = \"3s\"
        seeds = 2
        topology = { kind = \"star\", hosts = 3, host_link = \"10Mbps\" }
        workload = { sizes = \"fixed 10MB\", load = 0.5, flows = 10 }
        scheme = [{ preset = \"dctcp\" }, { preset = \"tcp\" }]
    ";

    #[test]
    fn runs_take_as_long_as_their_packets() {
        let no_inputs = |_: &str| Err(io::ErrorKind::NotFound.into());
        let read = |text| {
            Experiment::parse(&Source::new("a.toml", text), &Arguments::default(), &no_inputs)
        };
        let experiment = read(LONG).unwrap();
        let times = [0, 1, 4, 9].map(|done| time_of_rest(&experiment, done).as_secs());
        assert_eq!(times, [12, 9, 0, 0]);
    }
}
