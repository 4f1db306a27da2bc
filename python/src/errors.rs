//! Errors as the exceptions of the Python package.

use flowsched_experiment::results::ResultsError;
use flowsched_experiment::{Mistake, Mistakes, Place};
use flowsched_papers::RepositoryError;
use flowsched_run::{RunError, SettingError, TooLarge};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The module that declares the exceptions.
const MODULE: &str = "flowsched.errors";

/// An `ExperimentError` with every mistake.
pub(crate) fn mistakes(mistakes: &Mistakes) -> PyErr {
    Python::attach(|py| {
        let build = || {
            let list = PyList::empty(py);
            for one in mistakes.iter() {
                list.append(mistake(py, one)?)?;
            }
            py.import(MODULE)?.getattr("ExperimentError")?.call1((list,))
        };
        build().map_or_else(|error| error, PyErr::from_value)
    })
}

fn mistake<'py>(py: Python<'py>, mistake: &Mistake) -> PyResult<Bound<'py, PyDict>> {
    let known = PyDict::new(py);
    let (file, line, column) = match &mistake.place {
        Place::File { source, span } => {
            let (line, column) = source.line_and_column(span.start);
            (source.name.clone(), Some(line), Some(column))
        }
        Place::Argument(argument) => (argument.clone(), None, None),
    };
    let (found, allowed) = mistake.found_and_allowed().unzip();
    known.set_item("file", file)?;
    known.set_item("line", line)?;
    known.set_item("column", column)?;
    known.set_item("key", &mistake.key)?;
    known.set_item("problem", &mistake.problem)?;
    known.set_item("found", found)?;
    known.set_item("allowed", allowed)?;
    known.set_item("help", &mistake.help)?;
    known.set_item("text", mistake.to_string())?;
    Ok(known)
}

/// An `ExperimentError` for a setting whose mistake shows only when it is used.
pub(crate) fn setting(name: &str, error: &SettingError) -> PyErr {
    let place = Place::Argument(name.to_owned());
    mistakes(&Mistake::new(&place, &error.key, &error.problem).into())
}

/// The exception `name` of the package with this message.
fn named(name: &str, message: &str) -> PyErr {
    Python::attach(|py| {
        let made = py.import(MODULE).and_then(|m| m.getattr(name)?.call1((message,)));
        made.map_or_else(|error| error, PyErr::from_value)
    })
}

/// An `OSError` if the system refused, or a `ResultsError`.
pub(crate) fn results(error: &ResultsError) -> PyErr {
    if let ResultsError::Write { source, .. } | ResultsError::Read { source, .. } = error
        && let Some(number) = source.raw_os_error()
    {
        return pyo3::exceptions::PyOSError::new_err((number, error.to_string()));
    }
    named("ResultsError", &error.to_string())
}

/// A `TooLargeError`.
pub(crate) fn too_large(error: &TooLarge) -> PyErr {
    named("TooLargeError", &error.reason)
}

/// The exception for runs that fail.
pub(crate) fn run(name: &str, error: &RunError) -> PyErr {
    match error {
        RunError::Setting(error) => setting(name, error),
        RunError::Results(error) => results(error),
        RunError::World(_) | RunError::Threads(_) => other(error),
    }
}

/// The exception for claims that cannot be read.
pub(crate) fn repository(error: &RepositoryError) -> PyErr {
    match error {
        RepositoryError::Mistakes(found) => mistakes(found),
        RepositoryError::NoClaims { .. } => other(error),
    }
}

/// A `FlowschedError`, for any other error.
pub(crate) fn other(error: &dyn std::error::Error) -> PyErr {
    named("FlowschedError", &error.to_string())
}
