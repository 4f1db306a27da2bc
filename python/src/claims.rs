//! The papers' claims, measured.

use std::path::PathBuf;
use std::sync::Arc;

use flowsched_papers::{Claim, Repository, Row, Runs, RunsOfStudies, Scale, as_table, studies_of};
use flowsched_run::{Store, experiment_hash, program};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::{errors, json, running};

/// Measures the claims that `words` name, in the repository `root`, with results in the store `out`.
/// Returns one row per value, as JSON and as a text table `width` characters wide.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of `flowsched.reproduce`")]
#[pyo3(signature = (words, root, out, is_paper_scale, seeds, threads, width, before))]
pub(crate) fn reproduce(
    py: Python<'_>,
    words: Vec<String>,
    root: PathBuf,
    out: PathBuf,
    is_paper_scale: bool,
    seeds: Option<u64>,
    threads: usize,
    width: usize,
    before: Py<PyAny>,
) -> PyResult<(String, String)> {
    let repository = Repository::new(&root);
    let claims = repository.claims().map_err(|error| errors::repository(&error))?;
    let asked = claims.asked_for(&words).map_err(|found| errors::mistakes(&found))?;
    let asked: Vec<&Claim> = asked.iter().collect();
    let scale = if is_paper_scale { Scale::Paper } else { Scale::Quick };
    let store = Store::new(&out, program(""));
    let studies = studies_of(&asked);
    let mut runs = RunsOfStudies::new();
    for (place, study) in studies.iter().enumerate() {
        let name = &study.experiment;
        before.call1(py, (place + 1, studies.len(), name))?;
        let experiment = py
            .detach(|| repository.experiment(study, scale, seeds))
            .map_err(|found| errors::mistakes(&found))?;
        let experiment_hash = experiment_hash(&experiment);
        let summary = match store.finished(name, &experiment) {
            Some(summary) => summary,
            None => {
                let dir = store.folder_of(name, &experiment);
                let command = format!("flowsched.reproduce({words:?})");
                let experiment = Arc::new(experiment);
                let job = running::Job {
                    name,
                    experiment: experiment.clone(),
                    out: &dir,
                    threads,
                    resume: true,
                    command,
                };
                running::run(py, job, None)?;
                let finished = store.finished(name, &experiment);
                finished.ok_or_else(|| {
                    PyKeyboardInterrupt::new_err(
                        "the same call goes on from what was run until then",
                    )
                })?
            }
        };
        runs.insert(study.clone(), Runs { summary, experiment_hash });
    }
    let scale = scale.to_string();
    let values = asked.iter().flat_map(|claim| claim.values.iter().map(move |v| (*claim, v)));
    let rows: Vec<Row> =
        values.map(|(claim, value)| Row::new(claim, value, &runs, &scale)).collect();
    Ok((json::text(&rows)?, as_table(&rows, width)))
}
