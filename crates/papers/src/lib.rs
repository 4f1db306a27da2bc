//! The papers' claims: what was published, how it is measured, and the verdict.
//!
//! `papers/claims.toml` states every number that the papers publish, and which experiment measures
//! it. [`Claims`] reads the file, [`Measure::of_runs`] takes the figure from the runs of the
//! experiment, and [`Verdict::new`] compares both. No verdict and no measured figure is written by
//! hand.
//!
//! What lives here: claims, reading them and their experiments from flowsched's repository, figures of
//! finished runs, curves from the tables of runs, verdicts, and their texts for a terminal. What may not:
//! running experiments, printing, and drawing.

mod assumption;
mod claim;
mod curve;
mod digest;
mod drawing;
mod drawn;
mod error;
mod explanation;
mod exploration;
mod explored;
mod figure;
mod kind;
mod late;
mod measure;
mod measured;
mod published;
mod reach;
mod recorded;
mod repository;
mod row;
mod runs;
mod scale;
mod section;
mod seeds;
mod setting;
mod share;
mod table;
mod verdict;

pub use assumption::{Assumption, Reading};
pub use claim::{Claim, ClaimedValue, Claims};
pub use curve::{At, Curve, OnCurve};
pub use digest::TableError;
pub use drawing::{Drawing, DrawingError, Series, thinned};
pub use drawn::{Along, Area, Distribution, Drawn, DrawnOf, Mark, OverTime};
pub use error::ClaimsError;
pub use explanation::{Resolved, explanation, how, how_in_lab, parameters};
pub use exploration::{Explored, as_text, explore, studies};
pub use explored::ExploredTable;
pub use kind::{Bound, Kind};
pub use late::LateRuns;
pub use measure::{Measure, Over};
pub use measured::Measured;
pub use published::{Expected, Published};
pub use reach::Reach;
pub use recorded::{Recorded, Tables};
pub use repository::{CLAIMS, Repository, RepositoryError, studies_in_lab, studies_of};
pub use row::Row;
pub use runs::{Runs, RunsOfStudies};
pub use scale::Scale;
pub use setting::{Setting, Study};
pub use share::{Of, Share};
pub use table::{as_table, totals};
pub use verdict::Verdict;
