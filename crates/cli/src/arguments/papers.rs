//! `flowsched reproduce`.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};

use super::format::Format;

pub(super) const REPRODUCE_EXAMPLES: &str = "\
Examples:
  flowsched reproduce pdq.convergence
  flowsched reproduce pias --format json > pias.json
  flowsched reproduce --scale paper --threads 2
  flowsched reproduce slytherin.tail --explore

Run it in the root of flowsched's repository, which has the claims (papers/claims.toml) and the
experiments. Each simulation runs once, however many claims need it, and its results stay in the
output folder: after an interruption the same command runs the rest.";

/// `flowsched reproduce`.
#[derive(Args, Debug)]
pub struct Reproduce {
    /// Claims, papers (pias, pdq, slytherin, epn), figures (pias-fig14) or experiments
    /// (pias-fig14a); by default all
    #[arg(value_name = "CLAIM")]
    pub claims: Vec<String>,
    /// How large the simulations are: as in the paper, or smaller ones that end within minutes
    #[arg(long, value_enum, default_value_t = Scale::Quick)]
    pub scale: Scale,
    /// Number of seeds; by default each experiment's own, and at least five at quick scale
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub seeds: Option<u64>,
    /// How many threads simulate; by default as many as there are cores. Runs go side by side, and
    /// where runs are fewer than threads, each has several
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Measure under every reading of what the papers leave open, and print what each changes
    #[arg(long)]
    pub explore: bool,
    /// Measure with real packets what the lab can measure
    #[cfg(feature = "lab")]
    #[arg(long, conflicts_with = "explore")]
    pub lab: bool,
    /// Where the results of the simulations go
    #[arg(long, value_name = "DIR", default_value = "results/reproduce")]
    pub out: PathBuf,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// How large simulations are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scale {
    /// The [quick] values of each experiment
    Quick,
    /// As the paper ran it
    Paper,
}

impl From<Scale> for flowsched_papers::Scale {
    fn from(scale: Scale) -> flowsched_papers::Scale {
        match scale {
            Scale::Quick => flowsched_papers::Scale::Quick,
            Scale::Paper => flowsched_papers::Scale::Paper,
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        flowsched_papers::Scale::from(*self).fmt(f)
    }
}
