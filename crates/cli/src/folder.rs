//! The results folder: made before the first run, so that what cannot be is known at once.

use std::fs;
use std::io;
use std::path::Path;

use flowsched_experiment::results::{Meta, ResultsError, Writer, check_free};
use flowsched_experiment::{Experiment, Input};

/// Makes the folder `dir`, unless it has other results, with the resolved experiment and its
/// inputs in it.
pub fn create(dir: &Path, experiment: &Experiment) -> Result<Writer, ResultsError> {
    check_free(dir, experiment.resolved())?;
    for input in &experiment.inputs {
        check_input(dir, input)?;
    }
    let writer = Writer::create(
        dir,
        &Meta {
            name: experiment.name.clone(),
            experiment: experiment.resolved().to_owned(),
            keys: experiment.varied.clone(),
            orders: experiment.orders.clone(),
        },
    )?;
    for input in &experiment.inputs {
        write_input(dir, input)?;
    }
    Ok(writer)
}

/// Inputs of the same name that say something else are those of another experiment.
fn check_input(dir: &Path, input: &Input) -> Result<(), ResultsError> {
    let path = dir.join(&input.path);
    match fs::read(&path) {
        Ok(found) if found == input.source.text.as_bytes() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(_) => Err(ResultsError::Occupied { path: dir.to_owned() }),
        Err(source) => Err(ResultsError::Read { path, source }),
    }
}

fn write_input(dir: &Path, input: &Input) -> Result<(), ResultsError> {
    let path = dir.join(&input.path);
    let folder = path.parent().unwrap_or(dir);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, &input.source.text))
        .map_err(|source| ResultsError::Write { path, source })
}
