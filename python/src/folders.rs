//! Existing results folders.

use std::path::{Path, PathBuf};

use flowsched_experiment::results::{
    self, Change, Diff, OverSeeds, Placed, Point, ResultsError, compare, slowdown_by_size,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::{errors, json};

/// A results folder.
#[pyclass(frozen, module = "flowsched._native")]
pub(crate) struct Folder(results::Folder);

#[pymethods]
impl Folder {
    /// Opens the folder and reads its summary.
    #[new]
    fn new(py: Python<'_>, dir: PathBuf) -> PyResult<Folder> {
        py.detach(|| open(&dir)).map(Folder)
    }

    /// The summary as JSON.
    fn summary(&self) -> String {
        self.0.summary().to_json()
    }

    /// The resolved experiment file.
    #[getter]
    fn experiment(&self) -> &str {
        self.0.experiment()
    }

    /// The figures as text for a terminal of `width` columns.
    fn table(&self, width: usize) -> String {
        flowsched_report::terminal(self.0.summary(), width)
    }

    /// Writes `report.html` and returns its path.
    fn report(&self, py: Python<'_>) -> PyResult<PathBuf> {
        py.detach(|| flowsched_report::html(self.0.dir())).map_err(|error| errors::other(&error))
    }

    /// The path of a table, after checking that the table is complete.
    fn table_file(&self, py: Python<'_>, name: &str) -> PyResult<PathBuf> {
        py.detach(|| self.0.checked_table(name)).map_err(|error| errors::results(&error))
    }
}

fn open(dir: &Path) -> PyResult<results::Folder> {
    results::Folder::open(dir).map_err(|error| errors::results(&error))
}

/// Folders. A folder whose summary does not name the point of its runs comes with the point, as a JSON
/// object of strings.
type Folders = Vec<(PathBuf, Option<String>)>;

/// Opens the folders and passes them to `use_them`.
fn placed<T>(
    folders: Folders,
    use_them: impl FnOnce(&[Placed<'_>]) -> Result<T, ResultsError>,
) -> PyResult<T> {
    let mut opened = Vec::new();
    for (dir, point) in folders {
        let point: Option<Point> = point
            .map(|text| serde_json::from_str(&text))
            .transpose()
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        opened.push((open(&dir)?, point));
    }
    let placed: Vec<Placed<'_>> =
        opened.iter().map(|(folder, point)| Placed { folder, point: point.as_ref() }).collect();
    use_them(&placed).map_err(|error| errors::results(&error))
}

/// The comparison of every other scheme with `against`, as JSON.
#[pyfunction]
pub(crate) fn compare_placed(py: Python<'_>, folders: Folders, against: &str) -> PyResult<String> {
    json::text(&py.detach(|| placed(folders, |placed| compare(placed, against)))?)
}

/// Slowdown by flow size, as JSON.
#[pyfunction]
pub(crate) fn slowdown_placed(py: Python<'_>, folders: Folders) -> PyResult<String> {
    json::text(&py.detach(|| placed(folders, slowdown_by_size))?)
}

/// The differences between two results folders, as JSON and as text for a terminal of `width` columns.
#[pyfunction]
pub(crate) fn diff_folders(
    py: Python<'_>,
    before: PathBuf,
    after: PathBuf,
    width: usize,
) -> PyResult<(String, String)> {
    let diff = py.detach(|| {
        let (before, after) = (open(&before)?, open(&after)?);
        Diff::new(&before, &after).map_err(|error| errors::results(&error))
    })?;
    Ok((json::text(&diff)?, flowsched_report::diff(&diff, width)))
}

/// The mean of a figure over seeds, and its 95% interval if there is one; `None` without values.
#[pyfunction]
pub(crate) fn mean_over_seeds(values: Vec<f64>) -> Option<(f64, Option<(f64, f64)>)> {
    OverSeeds::from_values(&values).map(|over| (over.mean, over.interval))
}

/// The change of a figure and its interval, from the logarithm of each seed's ratio.
#[pyfunction]
pub(crate) fn change_over_seeds(logs: Vec<f64>) -> (Option<f64>, Option<f64>, Option<f64>) {
    let Change { change, low, high } = Change::over_seeds(&logs);
    (change, low, high)
}
