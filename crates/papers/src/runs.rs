//! The runs that figures are taken from.

use std::collections::BTreeMap;

use flowsched_experiment::results::Summary;

use crate::setting::Study;

/// The runs of one study.
#[derive(Clone, Debug)]
pub struct Runs {
    /// What they gave.
    pub summary: Summary,
    /// The hash of their experiment with all its values and input files.
    pub experiment_hash: String,
}

/// The runs of every study.
pub type RunsOfStudies = BTreeMap<Study, Runs>;
