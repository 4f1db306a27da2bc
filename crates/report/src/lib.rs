//! Reports: results as tables for the terminal and as a self-contained HTML page.
//!
//! [`terminal`] makes the text that `flowsched run` prints at its end, and [`html`] writes
//! `report.html` into a results folder. Both start from [`flowsched_experiment::results`].
//! [`paper_page`] makes a page of the book on what `flowsched reproduce` measured.
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
mod beside;
mod chart;
mod charts;
mod curves;
mod datum;
mod diff;
mod error;
mod format;
mod gather;
mod gather_ports;
mod gathered;
mod histogram;
mod lab;
mod overview;
mod page;
mod paper;
mod parts;
mod scale;
mod style;
mod svg;
mod sweep;
mod terminal;
mod text;
mod thinned;
mod ticks;

use std::fs;
use std::path::{Path, PathBuf};

use flowsched_experiment::results::Folder;

pub use diff::diff;
pub use error::ReportError;
pub use format::change_in_words;
pub use lab::lab_warnings;
pub use paper::{front_chart, paper_page};
pub use terminal::terminal;

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
