//! The figures of rows that are drawn from the tables of their runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use flowsched_experiment::results::Folder;
use flowsched_experiment::{Mistake, Mistakes, Place};
use flowsched_papers::{CLAIMS, ClaimedValue, Drawing, DrawingError, Row, Study};

use crate::failure::Failure;

/// The row with the drawings that the claims name for its value. A row without a measured figure has none.
///
/// # Errors
/// If the tables in `folders` cannot be read or have nothing to draw.
pub fn with_drawings(
    row: Row,
    value: &ClaimedValue,
    folders: &BTreeMap<Study, PathBuf>,
) -> Result<Row, Failure> {
    let measure = value.measure.as_ref().filter(|_| row.measured.is_some());
    let measure = measure.filter(|_| !value.drawn.is_empty());
    let found = measure.and_then(|measure| Some((measure, folders.get(&measure.study())?)));
    let Some((measure, dir)) = found else { return Ok(row) };
    let folder = Folder::open(dir)?;
    let drawings = value.drawn.iter().map(|drawn| Drawing::read(drawn, measure, &folder));
    let drawings = drawings.collect::<Result<Vec<_>, _>>().map_err(|error| refused(&row, error))?;
    Ok(Row { drawings, ..row })
}

fn refused(row: &Row, error: DrawingError) -> Failure {
    match error {
        DrawingError::Results(error) => error.into(),
        lacks @ DrawingError::Lacks { .. } => {
            let problem = format!("{}: {lacks}", row.name());
            let place = Place::Argument(CLAIMS.to_owned());
            Mistakes::from(Mistake::new(&place, "claim", problem)).into()
        }
    }
}
