//! `--pcap`: captures of chosen ports, of every run, in the results folder.

use std::path::{Path, PathBuf};

use flowsched_capture::{CaptureError, Captures, find_ports, run_captured};
use flowsched_experiment::results::RunKey;
use flowsched_experiment::{Experiment, Level, Mistake, Mistakes, Place};
use flowsched_run::{Outcome, RunError, SettingError, Simulation, no_packets};
use flowsched_topology::Network;

use crate::arguments;
use crate::failure::{Failure, unforeseen};

/// The folder of captures in the results folder.
const FOLDER: &str = "captures";

/// The ports that are captured, and where.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    names: Vec<String>,
    folder: PathBuf,
}

/// The captures that are asked for, in the folder of results.
///
/// # Errors
/// If some network of the experiment lacks one of the ports, or a scheme has no packets.
pub fn wanted(
    asked: &arguments::Run,
    results: &Path,
    experiment: &Experiment,
) -> Result<Wanted, Failure> {
    let arguments::Run { experiment: file, pcap: names, .. } = asked;
    if !names.is_empty() {
        let checked = check(names, experiment).map_err(|error| unforeseen(&file.file, &error))?;
        if let Some(problem) = checked {
            let place = Place::Argument("--pcap".to_owned());
            return Err(Mistakes::from(Mistake::new(&place, "", problem.to_string())).into());
        }
    }
    Ok(Wanted { names: names.clone(), folder: results.join(FOLDER) })
}

/// The error of the first wrong name, if there is one.
fn check(names: &[String], experiment: &Experiment) -> Result<Option<CaptureError>, SettingError> {
    for scene in &experiment.scenes {
        if scene.schemes.iter().any(|scheme| matches!(scheme.level, Level::Flows(_))) {
            return Err(no_packets());
        }
        let network = scene.network()?;
        if let Err(wrong) = find_ports(&network, names) {
            return Ok(Some(wrong));
        }
    }
    Ok(None)
}

impl Wanted {
    /// The captures of a run, to be written; empty if no port is asked for.
    ///
    /// # Errors
    /// If a file cannot be made.
    pub fn of_run(&self, key: &RunKey, network: &Network) -> Result<Captures, CaptureError> {
        match self.names.as_slice() {
            [] => Ok(Captures::default()),
            names => Captures::create(&self.folder.join(folder_name(key)), network, names),
        }
    }

    /// Simulates a run and captures its ports.
    ///
    /// # Errors
    /// If a capture cannot be written.
    pub fn simulate(&self, run: Simulation<'_>) -> Result<Outcome, RunError> {
        if self.names.is_empty() {
            return Ok(run.run()?);
        }
        let key = run.key();
        let (job, scheme, mut watch) = run.into_packets()?;
        let captures = self.of_run(&key, job.network).map_err(failed)?;
        run_captured(&job, scheme, captures, &mut watch).map_err(failed)
    }
}

fn failed(error: CaptureError) -> RunError {
    RunError::World(error.into())
}

/// The name of a run's folder, which no other run has.
fn folder_name(key: &RunKey) -> String {
    let RunKey { point, scheme, seed } = key;
    let varied = point.0.iter().map(|(key, value)| format!(" {key}={value}")).collect::<String>();
    let letter = |c: char| match c {
        ' ' => "_".to_owned(),
        '.' | '-' | '+' | '=' => c.to_string(),
        _ if c.is_ascii_alphanumeric() => c.to_string(),
        _ => c.to_string().bytes().map(|byte| format!("%{byte:02x}")).collect(),
    };
    format!("{scheme}-{seed}{varied}").chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use flowsched_experiment::results::Point;

    use super::*;

    #[test]
    fn folders_have_readable_names_without_separators() {
        let point = Point(vec![("workload.load".into(), "0.8".into())]);
        let key = |scheme: &str, point| RunKey { point, scheme: scheme.to_owned(), seed: 3 };
        assert_eq!(folder_name(&key("pias", Point::default())), "pias-3");
        assert_eq!(folder_name(&key("my pias", point)), "my_pias-3_workload.load=0.8");
        assert_eq!(folder_name(&key("a/b_c", Point::default())), "a%2fb%5fc-3");
    }
}
