//! `flowsched reproduce`: measures what the papers publish, and says what the measurements say.

mod row;
mod store;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use flowsched_experiment::results::Summary;
use flowsched_experiment::{Arguments, Experiment, Mistake, Place};
use flowsched_papers::{Claim, Claims};
use flowsched_run::Progress;

use crate::arguments::{Format, Reproduce, Scale};
use crate::failure::Failure;
use crate::output::print;
use crate::progress::say;
use crate::run::threads;
use crate::signals::Interrupts;
use row::Row;

/// The claims, from the root of the repository.
const CLAIMS: &str = "papers/claims.toml";

/// The experiments, from there.
const EXPERIMENTS: &str = "experiments";

/// Seeds at quick scale, where the paper's scale has those of the file: enough for an interval.
const QUICK_SEEDS: u64 = 5;

/// Measures the claims that are asked for, and prints a row for each of their values.
pub fn reproduce(wanted: &Reproduce) -> Result<(), Failure> {
    let claims = read_claims()?;
    let asked = asked_for(&claims, &wanted.claims)?;
    let summaries = run_all(wanted, &asked)?;
    let rows: Vec<Row> = asked
        .iter()
        .flat_map(|claim| claim.values.iter().map(|value| Row::new(claim, value, &summaries)))
        .collect();
    print(&match wanted.format {
        Format::Json => row::as_json(&rows, wanted.scale),
        Format::Table => row::as_table(&rows, wanted.scale, textwrap::termwidth()),
    })
}

/// Prints what a claim says, and how it is measured.
pub fn explain(id: &str) -> Result<(), Failure> {
    let claims = read_claims()?;
    let asked = asked_for(&claims, &[id.to_owned()])?;
    let texts: Vec<String> = asked.into_iter().map(row::explanation).collect();
    print(&texts.join("\n"))
}

fn read_claims() -> Result<Claims, Failure> {
    let text = fs::read_to_string(CLAIMS).map_err(|source| Failure::System {
        what: format!("read {CLAIMS}; run the command in the root of flowsched's repository"),
        source,
    })?;
    let place = Place::Argument(CLAIMS.to_owned());
    Claims::parse(&text).map_err(|error| refused(&place, "claim", &error.to_string()))
}

/// The claims that the words name, each once, in the order of the file; all without words.
fn asked_for<'a>(claims: &'a Claims, words: &[String]) -> Result<Vec<&'a Claim>, Failure> {
    for word in words {
        if claims.named(word).next().is_none() {
            let problem = format!(
                "`{word}` names no claim. Give a claim such as \"pdq.convergence\", a paper (pias, \
                 pdq, slytherin, epn) or an experiment such as \"pias-fig18\"."
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

fn refused(place: &Place, key: &str, problem: &str) -> Failure {
    flowsched_experiment::Mistakes::from(Mistake::new(place, key, problem)).into()
}

/// Runs every experiment that the claims need, each once, and returns the summaries by name.
fn run_all(wanted: &Reproduce, claims: &[&Claim]) -> Result<BTreeMap<String, Summary>, Failure> {
    let measures = claims.iter().flat_map(|claim| claim.values.iter());
    let mut names: Vec<&str> = measures
        .filter_map(|value| value.measure.as_ref())
        .map(|measure| measure.experiment.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    let progress = Arc::new(Progress::default());
    let interrupts = Interrupts::listen(&progress, "the same command")?;
    let mut summaries = BTreeMap::new();
    for (place, name) in names.iter().enumerate() {
        say(&format!("experiment {} of {}: {name}", place + 1, names.len()));
        let experiment = read_experiment(name, wanted)?;
        let summary =
            store::run(&wanted.out, name, experiment, &progress, threads(wanted.threads))?;
        summaries.insert((*name).to_owned(), summary);
    }
    interrupts.simulations_ended();
    Ok(summaries)
}

fn read_experiment(name: &str, wanted: &Reproduce) -> Result<Experiment, Failure> {
    let quick = wanted.scale == Scale::Quick;
    let seeds = wanted.seeds.or(quick.then_some(QUICK_SEEDS));
    let set = seeds.map(|seeds| format!("seeds={seeds}")).into_iter().collect();
    let file = Path::new(EXPERIMENTS).join(name).with_extension("toml");
    Ok(Experiment::read(&file, &Arguments { set, quick, ..Arguments::default() })?)
}
