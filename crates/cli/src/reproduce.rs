//! `flowsched reproduce`: measures what the papers publish, and prints verdicts.

mod drawings;
#[cfg(feature = "lab")]
mod in_lab;
mod record;
mod time_left;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use flowsched_experiment::results::World;
use flowsched_experiment::{Mistake, Mistakes, Place};
use flowsched_papers::{
    CLAIMS, Claim, Claims, Explored, Repository, Resolved, Row, Runs, RunsOfStudies, Scale, Study,
    Tables, as_table, as_text, explanation, explore, parameters, studies, studies_in_lab,
    studies_of,
};
use flowsched_run::{Progress, Store, experiment_hash};

use crate::arguments::{Format, Reproduce};
use crate::failure::Failure;
use crate::output::print;
use crate::program::program;
use crate::progress::say;
use crate::run::{complete, threads};
use crate::signals::Interrupts;

pub use record::write_pages;
use time_left::TimeLeft;

/// Measures the claims that are asked for, and prints a row for each of their values.
pub fn reproduce(wanted: &Reproduce) -> Result<(), Failure> {
    let claims = Repository::here().claims()?;
    let asked = claims.asked_for(&wanted.claims)?;
    let asked: Vec<&Claim> = asked.iter().collect();
    #[cfg(feature = "lab")]
    if wanted.lab {
        return in_lab::reproduce(wanted, &asked);
    }
    if wanted.explore {
        return explore_all(wanted, &claims, &asked);
    }
    let Results { runs, folders } = run_all(wanted, &claims, studies_of(&asked))?;
    let scale = wanted.scale.to_string();
    let values = asked.iter().flat_map(|claim| claim.values.iter().map(|value| (*claim, value)));
    let rows = values.map(|(claim, value)| (Row::new(claim, value, &runs, &scale), value));
    print(&match wanted.format {
        Format::Json => {
            let rows = rows.map(|(row, value)| drawings::with_drawings(row, value, &folders));
            record::record(rows.collect::<Result<_, _>>()?, World::Simulator).to_json()
        }
        Format::Table => {
            as_table(&rows.map(|(row, _)| row).collect::<Vec<_>>(), textwrap::termwidth())
        }
    })
}

/// The runs of each study, and the folder of their tables.
#[derive(Default)]
struct Results {
    runs: RunsOfStudies,
    folders: BTreeMap<Study, PathBuf>,
}

/// Measures the claims under all readings of what their papers leave open.
fn explore_all(wanted: &Reproduce, claims: &Claims, asked: &[&Claim]) -> Result<(), Failure> {
    let open: Vec<&Claim> =
        asked.iter().copied().filter(|claim| !claim.assumptions.is_empty()).collect();
    if open.is_empty() {
        let problem = format!(
            "None of these claims lists an [[claim.assumption]] in {CLAIMS}, so that there is nothing \
             to explore."
        );
        let place = Place::Argument("--explore".to_owned());
        return Err(Mistakes::from(Mistake::new(&place, "explore", problem)).into());
    }
    let needed = open.iter().flat_map(|claim| studies(claim)).collect();
    let Results { runs, .. } = run_all(wanted, claims, needed)?;
    let scale = wanted.scale.to_string();
    let explored: Vec<Vec<Explored>> = open
        .iter()
        .flat_map(|claim| claim.values.iter().map(|value| (*claim, value)))
        .map(|(claim, value)| explore(claim, value, &runs, &scale))
        .filter(|variants| !variants.is_empty())
        .collect();
    print(&match wanted.format {
        Format::Json => record::record_explored(explored).to_json(),
        Format::Table => explored.iter().map(|one| as_text(one)).collect::<Vec<_>>().join("\n"),
    })
}

/// Prints what a claim says, how it is measured, what the recorded tables say of it, and the parameters of its
/// runs at the scale of these tables.
pub fn explain(id: &str) -> Result<(), Failure> {
    let repository = Repository::here();
    let claims = repository.claims()?;
    let asked = claims.asked_for(&[id.to_owned()])?;
    let asked: Vec<&Claim> = asked.iter().collect();
    let recorded = record::tables(&claims)?;
    let texts = asked.iter().map(|claim| {
        let rows = claim.values.iter().flat_map(|value| {
            let row = recorded.row_of(claim, value);
            let beside = recorded.in_lab(&claim.id, &value.name).cloned();
            let beside = beside.filter(|_| !row.is_in_lab());
            [Some(row), beside].into_iter().flatten()
        });
        explanation(claim, &rows.collect::<Vec<_>>())
    });
    let mut text = texts.collect::<Vec<_>>().join("\n");
    let mut resolved = Vec::new();
    let simulated = studies_of(&asked).into_iter().map(|study| (study, false));
    let in_lab = studies_in_lab(&asked).into_iter().map(|study| (study, true));
    for (study, in_lab) in simulated.chain(in_lab) {
        let (scale, seeds) = size_of(&study, in_lab, &asked, &recorded);
        let experiment = repository.experiment(&study, scale, seeds)?;
        let (text, hash) = (experiment.resolved().to_owned(), experiment_hash(&experiment));
        resolved.push(Resolved { study, scale, in_lab, text, hash });
    }
    text.push_str(&parameters(&resolved));
    print(&text)
}

/// The scale and the number of seeds with which the tables have the values of a study. If they do not have them, these
/// are the paper's scale and the seeds of the study's file.
fn size_of(
    study: &Study,
    in_lab: bool,
    asked: &[&Claim],
    recorded: &Tables,
) -> (Scale, Option<u64>) {
    let values = asked.iter().flat_map(|claim| claim.values.iter().map(|value| (*claim, value)));
    let measured = values.filter(|(_, value)| {
        let measure = if in_lab { &value.lab } else { &value.measure };
        measure.as_ref().is_some_and(|measure| measure.study() == *study)
    });
    let rows = measured.filter_map(|(claim, value)| match in_lab {
        true => recorded.in_lab(&claim.id, &value.name),
        false => recorded.row(&claim.id, &value.name).filter(|row| !row.is_in_lab()),
    });
    let rows: Vec<&Row> = rows.collect();
    let is_quick = |row: &&&Row| row.scale.ends_with(&Scale::Quick.to_string());
    let seeds = |row: &&Row| row.seeds.map(|seeds| seeds as u64);
    match rows.iter().find(is_quick) {
        Some(row) => (Scale::Quick, seeds(row)),
        None => (Scale::Paper, rows.first().and_then(seeds)),
    }
}

/// Runs every study once, and returns the results.
fn run_all(
    wanted: &Reproduce,
    claims: &Claims,
    mut studies: Vec<Study>,
) -> Result<Results, Failure> {
    studies.sort_unstable();
    studies.dedup();
    let threads = threads(wanted.threads);
    let costs = record::costs(claims, wanted.scale);
    let store = Store::new(&wanted.out, program());
    let progress = Arc::new(Progress::default());
    let interrupts = Interrupts::listen(&progress, "the same command")?;
    let look_at = |study: &Study| {
        let experiment = Repository::here().experiment(study, wanted.scale.into(), wanted.seeds)?;
        let known = store.finished(&study.experiment, &experiment);
        let takes = match known {
            Some(_) => Duration::ZERO,
            None => costs.time(study, &experiment, threads),
        };
        Ok((experiment, known, takes))
    };
    let experiments = studies.iter().map(look_at).collect::<Result<Vec<_>, Mistakes>>()?;
    let mut time_left = TimeLeft::new(experiments.iter().map(|(.., takes)| *takes));
    let started = Instant::now();
    let mut results = Results::default();
    for (place, (study, (experiment, known, takes))) in studies.iter().zip(experiments).enumerate()
    {
        let name = &study.experiment;
        let left = time_left.after(started.elapsed());
        say(&format!("experiment {} of {}: {name}{left}", place + 1, studies.len()));
        time_left.has_done(takes);
        let dir = store.folder_of(name, &experiment);
        let experiment_hash = experiment_hash(&experiment);
        let summary = match known {
            Some(summary) => summary,
            None => {
                progress.finished_flows.store(0, Ordering::SeqCst);
                complete(Path::new(name), experiment, &dir, &progress, threads)?
            }
        };
        if progress.stop.load(Ordering::SeqCst) {
            return Err(Failure::ReproductionInterrupted);
        }
        results.runs.insert(study.clone(), Runs { summary, experiment_hash });
        results.folders.insert(study.clone(), dir);
    }
    interrupts.simulations_ended();
    Ok(results)
}
