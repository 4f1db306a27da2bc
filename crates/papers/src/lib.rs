//! The papers' claims: what was published, how it is measured, and the verdict.
//!
//! `papers/claims.toml` states every number that the papers publish, and which experiment measures
//! it. [`Claims`] reads the file, [`Measure::of_runs`] takes the figure from the runs of the
//! experiment, and [`Verdict::new`] compares both. No verdict and no measured figure is written by
//! hand.
//!
//! What lives here: claims, figures of finished runs, and verdicts. What may not: running
//! experiments, and printing.

mod claim;
mod error;
mod measure;
mod measured;
mod published;
mod verdict;

pub use claim::{Bound, Claim, ClaimedValue, Claims, Kind};
pub use error::ClaimsError;
pub use measure::{Measure, Over};
pub use measured::Measured;
pub use published::Published;
pub use verdict::Verdict;
