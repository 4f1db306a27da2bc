//! `flowsched reproduce`: measures what the papers publish, and says what the measurements say.

mod claims;
mod record;
mod store;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use flowsched_experiment::results::Summary;
use flowsched_experiment::{Arguments, Experiment, Place};
use flowsched_papers::{
    Claim, Claims, Explored, Row, Study, as_table, as_text, explanation, explore, studies,
};
use flowsched_run::Progress;

use crate::arguments::{Format, Reproduce, Scale};
use crate::failure::Failure;
use crate::output::print;
use crate::progress::say;
use crate::run::threads;
use crate::signals::Interrupts;

use claims::{CLAIMS, read_claims, refused};
pub use record::write_pages;

/// The experiments, from there.
const EXPERIMENTS: &str = "experiments";

/// The fewest seeds at quick scale: enough for an interval.
const QUICK_SEEDS: u64 = 5;

/// Measures the claims that are asked for, and prints a row for each of their values.
pub fn reproduce(wanted: &Reproduce) -> Result<(), Failure> {
    let claims = read_claims()?;
    let asked = asked_for(&claims, &wanted.claims)?;
    if wanted.explore {
        return explore_all(wanted, &claims, &asked);
    }
    let measures = asked.iter().flat_map(|claim| claim.values.iter());
    let studies = measures.filter_map(|value| value.measure.as_ref()).map(|one| one.study());
    let summaries = run_all(wanted, &claims, studies.collect())?;
    let scale = wanted.scale.to_string();
    let rows: Vec<Row> = asked
        .iter()
        .flat_map(|claim| claim.values.iter().map(|value| (*claim, value)))
        .map(|(claim, value)| Row::new(claim, value, &summaries, &scale))
        .collect();
    print(&match wanted.format {
        Format::Json => record::record(rows).to_json(),
        Format::Table => as_table(&rows, textwrap::termwidth()),
    })
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
        return Err(refused(&Place::Argument("--explore".to_owned()), "explore", &problem));
    }
    let needed = open.iter().flat_map(|claim| studies(claim)).collect();
    let summaries = run_all(wanted, claims, needed)?;
    let scale = wanted.scale.to_string();
    let explored: Vec<Vec<Explored>> = open
        .iter()
        .flat_map(|claim| claim.values.iter().map(|value| (*claim, value)))
        .map(|(claim, value)| explore(claim, value, &summaries, &scale))
        .filter(|variants| !variants.is_empty())
        .collect();
    print(&match wanted.format {
        Format::Json => record::record_explored(explored).to_json(),
        Format::Table => explored.iter().map(|one| as_text(one)).collect::<Vec<_>>().join("\n"),
    })
}

/// Prints what a claim says, how it is measured, and what the recorded tables say of it.
pub fn explain(id: &str) -> Result<(), Failure> {
    let claims = read_claims()?;
    let asked = asked_for(&claims, &[id.to_owned()])?;
    let known = record::recorded_rows()?;
    let texts = asked.into_iter().map(|claim| {
        let unmeasured = |value| Row::new(claim, value, &BTreeMap::new(), "");
        let rows = claim.values.iter().map(|value| {
            let found = known.iter().find(|row| row.id == claim.id && row.value == value.name);
            found.cloned().unwrap_or_else(|| unmeasured(value))
        });
        explanation(claim, &rows.collect::<Vec<_>>())
    });
    print(&texts.collect::<Vec<_>>().join("\n"))
}

/// The claims that the words name, each once, in the order of the file; all without words.
fn asked_for<'a>(claims: &'a Claims, words: &[String]) -> Result<Vec<&'a Claim>, Failure> {
    for word in words {
        if claims.named(word).next().is_none() {
            let problem = format!(
                "`{word}` names no claim. Give a claim such as \"pdq.convergence\", a paper (pias, \
                 pdq, slytherin, epn), a figure such as \"pias-fig15\" or an experiment such as \
                 \"slytherin-table1\"."
            );
            return Err(refused(&Place::Argument(word.clone()), "claim", &problem));
        }
    }
    let is_asked = |claim: &&Claim| {
        let is_named = |word: &String| claims.named(word).any(|named| named.id == claim.id);
        words.is_empty() || words.iter().any(is_named)
    };
    Ok(claims.all.iter().filter(is_asked).collect())
}

/// Runs every study, each once, and returns their summaries.
fn run_all(
    wanted: &Reproduce,
    claims: &Claims,
    mut studies: Vec<Study>,
) -> Result<BTreeMap<Study, Summary>, Failure> {
    studies.sort_unstable();
    studies.dedup();
    let threads = threads(wanted.threads);
    let costs = record::costs(claims, wanted.scale)?;
    let progress = Arc::new(Progress::default());
    let interrupts = Interrupts::listen(&progress, "the same command")?;
    let mut summaries = BTreeMap::new();
    for (place, study) in studies.iter().enumerate() {
        let left = costs.time_left(&studies[place..], threads);
        let name = &study.experiment;
        say(&format!("experiment {} of {}: {name}{left}", place + 1, studies.len()));
        let experiment = read_experiment(study, wanted)?;
        let summary = store::run(&wanted.out, name, experiment, &progress, threads)?;
        summaries.insert(study.clone(), summary);
    }
    interrupts.simulations_ended();
    Ok(summaries)
}

fn read_experiment(study: &Study, wanted: &Reproduce) -> Result<Experiment, Failure> {
    let quick = wanted.scale == Scale::Quick;
    let file = Path::new(EXPERIMENTS).join(&study.experiment).with_extension("toml");
    let set: Vec<String> = study.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let read = |seeds: Option<u64>| {
        let seeds = seeds.map(|seeds| format!("seeds={seeds}"));
        let set = set.iter().cloned().chain(seeds).collect();
        Experiment::read(&file, &Arguments { set, quick, ..Arguments::default() })
    };
    let experiment = read(wanted.seeds)?;
    match wanted.seeds.is_none() && quick && experiment.seeds < QUICK_SEEDS {
        true => Ok(read(Some(QUICK_SEEDS))?),
        false => Ok(experiment),
    }
}
