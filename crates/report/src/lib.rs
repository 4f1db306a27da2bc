//! Reports: results as tables for the terminal and as a self-contained HTML page.
//!
//! [`terminal`] prints what `flowsched run` ends with, [`html`] writes `report.html` into a
//! results folder. Both start from [`flowsched_experiment::results`].
//!
//! ```no_run
//! use flowsched_experiment::results::Folder;
//!
//! let results = Folder::open("results/pias-vs-dctcp".as_ref())?;
//! print!("{}", flowsched_report::terminal(results.summary(), 80));
//! println!("Report: {}", flowsched_report::html("results/pias-vs-dctcp".as_ref())?.display());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What lives here: wording, layout and drawing. What may not: working out a figure that is
//! not in the results; percentiles, comparisons and intervals are made there, once.

mod bars;
mod chart;
mod charts;
mod curves;
mod format;
mod gather;
mod gather_ports;
mod histogram;
mod overview;
mod page;
mod scale;
mod style;
mod svg;
mod sweep;
mod terminal;
mod text;
mod ticks;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use flowsched_experiment::results::{Folder, ResultsError};
use thiserror::Error;

pub use terminal::terminal;

/// A report that cannot be made.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The results cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The page cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The values of a chart cannot be written as text.
    #[error("cannot write the values of a chart: {0}")]
    Data(String),
}

impl ReportError {
    fn data(error: impl ToString) -> ReportError {
        ReportError::Data(error.to_string())
    }
}

/// Writes `report.html` into the results folder `dir` and returns its path.
///
/// The page needs no network and no other file, and follows the reader's light or dark scheme.
/// Each chart is a drawing of its own: it keeps its look, title and legend outside the page.
///
/// # Errors
/// [`ReportError`] if the folder has no readable results or cannot be written to.
pub fn html(dir: &Path) -> Result<PathBuf, ReportError> {
    let folder = Folder::open(dir)?;
    let gathered = gather::gather(&folder, &page::detailed(folder.summary()))?;
    let page = page::page(&folder, &gathered)?;
    let path = dir.join("report.html");
    let temporary = dir.join("report.html.partial");
    fs::write(&temporary, page)
        .and_then(|()| fs::rename(&temporary, &path))
        .map_err(|source| ReportError::Write { path: path.clone(), source })?;
    Ok(path)
}
