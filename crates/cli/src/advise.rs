//! `flowsched advise`: what PIAS would gain on a fleet, and what it risks, by simulation of the
//! fleet's sizes on the fleet's network.

mod schemes;
mod text;

use std::fs;

use flowsched_experiment::results::{PortFigures, RunSummary};
use flowsched_experiment::{Arguments, Experiment, Run};
use flowsched_run::{Prepared, Progress, RunError, Simulation};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use tempfile::TempDir;

use crate::arguments::Advise;
use crate::failure::Failure;
use crate::output::print;
use crate::run::failed;
use crate::switch_config::refused;

/// Simulates, and prints advice.
pub fn advise(wanted: &Advise) -> Result<(), Failure> {
    let folder = TempDir::new().map_err(|e| system("make a temporary folder", e))?;
    let experiment = experiment(wanted, &folder)?;
    let runs = experiment.runs();
    let progress = Progress::default();
    let simulate = |run: Run| {
        let prepared = Prepared::new(&experiment.scenes[run.scene], run)?;
        let simulator = |run: Simulation<'_>| Ok(run.run()?);
        let record = prepared.simulate(&simulator, &progress)?;
        Ok((run.scheme, RunSummary::new(&record, &PortFigures::default())))
    };
    let summaries: Result<Vec<(usize, RunSummary)>, RunError> =
        runs.into_par_iter().map(simulate).collect();
    let summaries = summaries.map_err(|error| failed(&wanted.topology, error))?;
    print(&text::advice(wanted, &experiment, &summaries))
}

fn system(what: &str, source: std::io::Error) -> Failure {
    Failure::System { what: what.into(), source }
}

/// The network of the topology's file with the fleet's sizes.
fn experiment(wanted: &Advise, folder: &TempDir) -> Result<Experiment, Failure> {
    let path = &wanted.topology;
    let text = fs::read_to_string(path)
        .map_err(|e| refused(&path.display().to_string(), &e.to_string(), "a readable file"))?;
    let table: toml::Table = text.parse().map_err(|e: toml::de::Error| {
        refused(&path.display().to_string(), e.message(), "a file in TOML format")
    })?;
    let Some(topology) = table.get("topology") else {
        let place = path.display().to_string();
        return Err(refused(&place, "no [topology]", "a file with one, such as an experiment"));
    };
    let sizes = fs::canonicalize(&wanted.sizes).ok();
    let sizes = sizes.map_or(wanted.sizes.clone(), |path| path.display().to_string());
    let mut workload = toml::Table::new();
    workload.insert("sizes".into(), sizes.clone().into());
    workload.insert("load".into(), wanted.load.into());
    workload.insert("flows".into(), toml::Value::Integer(wanted.flows as i64));
    let scheme = |name: &str, preset: &str| {
        let mut scheme = toml::Table::new();
        scheme.insert("name".into(), name.into());
        scheme.insert("preset".into(), preset.into());
        scheme
    };
    let pias = |name: &str, thresholds: toml::Value| {
        let mut scheme = scheme(name, "pias");
        scheme.insert("queues".into(), toml::Value::Integer(wanted.queues as i64));
        scheme.insert("thresholds".into(), thresholds);
        toml::Value::Table(scheme)
    };
    let schemes = vec![
        toml::Value::Table(scheme("now", &wanted.now)),
        pias("pias", "optimal".into()),
        pias("mismatch", halved(wanted, &sizes)?.into()),
    ];
    let mut file = toml::Table::new();
    file.insert("name".into(), "Advice on PIAS".into());
    file.insert("seeds".into(), toml::Value::Integer(wanted.seeds as i64));
    file.insert("topology".into(), topology.clone());
    file.insert("workload".into(), workload.into());
    file.insert("scheme".into(), schemes.into());
    let made = folder.path().join("advise.toml");
    fs::write(&made, file.to_string()).map_err(|e| system("write a temporary file", e))?;
    Ok(Experiment::read(&made, &Arguments::default())?)
}

/// The best thresholds for flows half as large.
fn halved(wanted: &Advise, sizes: &str) -> Result<String, Failure> {
    let place = flowsched_experiment::Place::Argument(format!("--sizes {}", wanted.sizes));
    let open = &mut |path: &str| {
        std::io::Result::Ok(flowsched_experiment::Source::new(path, fs::read_to_string(path)?))
    };
    let sizes = flowsched_experiment::sizes(sizes, "", &place, open)
        .map_err(|mistake| Failure::from(flowsched_experiment::Mistakes::from(mistake)))?;
    let half = sizes.scaled(0.5);
    let found = flowsched_thresholds::optimal(
        &half,
        wanted.load,
        wanted.queues,
        flowsched_thresholds::DEFAULT_MODEL,
        &flowsched_thresholds::Objective::MeanFct,
    );
    let found = found.map_err(|e| refused("--load", &e.to_string(), "a load with thresholds"))?;
    Ok(found.iter().map(|bytes| format!("{}B", bytes.get())).collect::<Vec<_>>().join(" "))
}
