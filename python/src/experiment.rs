//! A checked experiment, for Python.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flowsched_experiment::results::Point;
use flowsched_experiment::{Arguments, Mistake, Mistakes, Place, Run, Source};
use flowsched_run::{Size, Store, program};
use pyo3::prelude::*;
use serde::Serialize;

use crate::{errors, json, running};

/// A checked experiment.
#[pyclass(frozen, module = "flowsched._native")]
pub(crate) struct Experiment {
    experiment: Arc<flowsched_experiment::Experiment>,
    /// The name of the experiment file, for messages.
    name: String,
    /// The folder of the files that the experiment names.
    folder: PathBuf,
}

/// A run of an experiment. The keys of its point keep their order.
#[derive(Serialize)]
struct RunInWords {
    point: Point,
    scheme: String,
    seed: u64,
}

/// Converts a JSON object to TOML.
#[pyfunction]
pub(crate) fn toml_of(json: &str) -> PyResult<String> {
    let table: toml::Table = serde_json::from_str(json).map_err(|error| errors::other(&error))?;
    toml::to_string(&table).map_err(|error| errors::other(&error))
}

#[pymethods]
impl Experiment {
    /// Checks the experiment file `name` with the content `text`. Files that it names are in `folder`.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "what the command line says beside a file")]
    #[pyo3(signature = (name, text, folder, set, vary, seed=None, quick=false))]
    fn new(
        py: Python<'_>,
        name: String,
        text: String,
        folder: PathBuf,
        set: Vec<String>,
        vary: Vec<String>,
        seed: Option<u64>,
        quick: bool,
    ) -> PyResult<Experiment> {
        let arguments = Arguments { set, vary, seed, quick };
        let parsed = py.detach(|| parse(&name, text, &folder, &arguments));
        let experiment = Arc::new(parsed.map_err(|found| errors::mistakes(&found))?);
        Ok(Experiment { experiment, name, folder })
    }

    /// The file with every default filled in.
    #[getter]
    fn resolved(&self) -> &str {
        self.experiment.resolved()
    }

    /// The title of the report.
    #[getter]
    fn title(&self) -> &str {
        &self.experiment.name
    }

    /// Warnings about settings that contradict each other.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.experiment.warnings.clone()
    }

    /// The schemes' names.
    #[getter]
    fn schemes(&self) -> Vec<String> {
        let scene = self.experiment.scenes.first();
        scene.map_or(Vec::new(), |scene| scene.schemes.iter().map(|one| one.name.clone()).collect())
    }

    /// The first seed and the number of seeds.
    #[getter]
    fn seeds(&self) -> (u64, u64) {
        (self.experiment.first_seed, self.experiment.seeds)
    }

    /// The point, scheme and seed of every run in order, as JSON.
    fn runs(&self) -> PyResult<String> {
        let runs = self.experiment.runs();
        let described = |run: &Run| {
            let scene = &self.experiment.scenes[run.scene];
            let scheme = scene.schemes[run.scheme].name.clone();
            RunInWords { point: scene.point.clone(), scheme, seed: run.seed }
        };
        json::text(&runs.iter().map(described).collect::<Vec<_>>())
    }

    /// The size of the experiment with `threads` runs at a time: as text, memory in bytes, and warnings.
    ///
    /// Raises an error if the experiment does not fit this machine.
    fn size(&self, py: Python<'_>, threads: usize) -> PyResult<(String, f64, Vec<String>)> {
        let size = py
            .detach(|| Size::new(&self.experiment, threads))
            .map_err(|error| errors::setting(&self.name, &error))?;
        let warnings = size.check().map_err(|error| errors::too_large(&error))?;
        Ok((size.to_string(), size.memory(), warnings))
    }

    /// The memory that one run needs, in bytes.
    fn memory(&self, py: Python<'_>) -> PyResult<f64> {
        let size = py.detach(|| Size::new(&self.experiment, 1));
        Ok(size.map_err(|error| errors::setting(&self.name, &error))?.memory())
    }

    /// The same experiment with only this seed.
    fn with_seed(&self, seed: u64) -> Experiment {
        let experiment = Arc::new(self.experiment.with_seed(seed));
        Experiment { experiment, name: self.name.clone(), folder: self.folder.clone() }
    }

    /// An experiment with only the run of this number. Its file does not depend on the other runs.
    fn alone(&self, py: Python<'_>, run: usize) -> PyResult<Experiment> {
        let runs = self.experiment.runs();
        let alone = py.detach(|| self.of_run(runs[run]));
        let experiment = Arc::new(alone.map_err(|found| errors::mistakes(&found))?);
        Ok(Experiment { experiment, name: self.name.clone(), folder: self.folder.clone() })
    }

    /// The folder of the results in the store `dir`, under `name`.
    fn folder_in(&self, dir: PathBuf, name: &str) -> PathBuf {
        Store::new(&dir, program("")).folder_of(name, &self.experiment)
    }

    /// Whether the store has every run.
    fn is_stored(&self, dir: PathBuf, name: &str) -> bool {
        Store::new(&dir, program("")).finished(name, &self.experiment).is_some()
    }

    /// Runs the experiment into the folder `out`. Calls `tick` about ten times per second with the number of
    /// finished runs, of all runs, of finished flows and of all flows.
    ///
    /// Returns false if Ctrl-C stopped the experiment.
    #[pyo3(signature = (out, threads, resume, command, tick=None))]
    fn run(
        &self,
        py: Python<'_>,
        out: PathBuf,
        threads: usize,
        resume: bool,
        command: String,
        tick: Option<Py<PyAny>>,
    ) -> PyResult<bool> {
        let job = running::Job {
            name: &self.name,
            experiment: self.experiment.clone(),
            out: &out,
            threads,
            resume,
            command,
        };
        running::run(py, job, tick)
    }
}

impl Experiment {
    fn of_run(&self, run: Run) -> Result<flowsched_experiment::Experiment, Mistakes> {
        let point = &self.experiment.scenes[run.scene].point;
        let set = point.0.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let text = self.experiment.resolved().to_owned();
        let at_point =
            parse(&self.name, text, &self.folder, &Arguments { set, ..Arguments::default() })?;
        let text = only_run(at_point.resolved(), run).map_err(|error| {
            Mistake::new(&Place::Argument(self.name.clone()), "", error.to_string())
        })?;
        parse(&self.name, text, &self.folder, &Arguments::default())
    }
}

/// The resolved file with only the scheme and the seed of `run`.
fn only_run(resolved: &str, run: Run) -> Result<String, Box<dyn std::error::Error>> {
    let mut table: toml::Table = resolved.parse()?;
    table.remove("orders");
    table.insert("seeds".into(), 1.into());
    table.insert("seed".into(), i64::try_from(run.seed)?.into());
    if let Some(toml::Value::Array(schemes)) = table.get_mut("scheme") {
        let one = schemes.swap_remove(run.scheme);
        *schemes = vec![one];
    }
    Ok(toml::to_string(&table)?)
}

fn parse(
    name: &str,
    text: String,
    folder: &Path,
    arguments: &Arguments,
) -> Result<flowsched_experiment::Experiment, Mistakes> {
    flowsched_experiment::Experiment::parse(&Source::new(name, text), arguments, &|path| {
        let path = folder.join(path);
        Ok(Source { name: path.display().to_string(), text: std::fs::read_to_string(&path)? })
    })
}
