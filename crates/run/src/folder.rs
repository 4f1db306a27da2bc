//! Creates the results folder before the first run, so that its errors appear at once.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use flowsched_experiment::results::{
    Earlier, Meta, Program, ResultsError, VariedKey, Writer, check_free,
};
use flowsched_experiment::{Experiment, Input};

/// Creates the folder `dir` with the resolved experiment and its inputs, unless the folder has other results.
///
/// # Errors
/// As [`Writer::create`]; also if `dir` has inputs of the same names that say something else.
pub fn create(
    dir: &Path,
    experiment: &Experiment,
    program: Program,
    earlier: Earlier,
) -> Result<Writer, ResultsError> {
    check_free(dir, experiment.resolved())?;
    for input in &experiment.inputs {
        check_input(dir, input)?;
    }
    let writer = Writer::create(
        dir,
        &Meta {
            name: experiment.name.clone(),
            experiment: experiment.resolved().to_owned(),
            keys: keys(experiment),
            orders: experiment.orders.clone(),
            program,
            has_probe: experiment.scenes.iter().any(|scene| scene.probe.is_some()),
        },
        earlier,
    )?;
    for input in &experiment.inputs {
        write_input(dir, input)?;
    }
    Ok(writer)
}

/// The varied keys, with all values that they have.
fn keys(experiment: &Experiment) -> Vec<VariedKey> {
    let key = |key: &String| {
        let values = experiment.scenes.iter().filter_map(|scene| scene.point.get(key));
        VariedKey::new(key, values)
    };
    experiment.varied.iter().map(key).collect()
}

/// Refuses an input of the same name with other contents: it is that of another experiment.
fn check_input(dir: &Path, input: &Input) -> Result<(), ResultsError> {
    let path = dir.join(&input.path);
    match fs::read(&path) {
        Ok(found) if found == input.source.text.as_bytes() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(_) => Err(ResultsError::Occupied { path: dir.to_owned() }),
        Err(source) => Err(ResultsError::Read { path, source }),
    }
}

/// Writes an input under a temporary name, then renames it: half an input would be taken for that of
/// another experiment.
fn write_input(dir: &Path, input: &Input) -> Result<(), ResultsError> {
    let path = dir.join(&input.path);
    let folder = path.parent().unwrap_or(dir);
    let partial = dir.join(format!("{}.partial", input.path));
    let write = || {
        fs::create_dir_all(folder)?;
        let mut file = File::create(&partial)?;
        file.write_all(input.source.text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&partial, &path)
    };
    write().map_err(|source| ResultsError::Write { path: path.clone(), source })
}
