//! Drawings: curves of a paper's figure, taken from the tables of the runs, as a row records them.
//!
//! What lives here: reading the tables into curves of few points. What may not: drawing, and figures that summaries
//! have.

mod distribution;
mod error;
mod over_time;
mod runs;
mod series;
mod thinned;

use flowsched_experiment::results::Folder;
use serde::{Deserialize, Serialize};

use crate::drawn::{Drawn, DrawnOf};
use crate::measure::Measure;

pub use error::DrawingError;
use runs::Runs;
pub use series::Series;
pub use thinned::thinned;

/// A figure, drawn from the tables of the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drawing {
    /// The title that the claim has for it.
    pub title: String,
    /// What is drawn.
    pub of: DrawnOf,
    /// The curves: of each scheme, and over time of each of its links. Times are in microseconds.
    pub curves: Vec<Series>,
}

impl Drawing {
    /// Reads what `drawn` asks for from the results of the runs that `measure` needs.
    ///
    /// # Errors
    /// If the tables cannot be read, or have nothing to draw.
    pub fn read(
        drawn: &Drawn,
        measure: &Measure,
        folder: &Folder,
    ) -> Result<Drawing, DrawingError> {
        let read = || {
            let runs = Runs::new(drawn, measure, folder.summary())?;
            match drawn.of {
                DrawnOf::OverTime(of) => over_time::curves(of, drawn, &runs, folder),
                DrawnOf::Distribution(of) => distribution::curves(of, &runs, folder),
            }
        };
        let curves = read().map_err(|error| error.of_drawing(&drawn.title))?;
        Ok(Drawing { title: drawn.title.clone(), of: drawn.of, curves })
    }
}
