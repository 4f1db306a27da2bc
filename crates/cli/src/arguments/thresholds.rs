//! `flowsched thresholds`.

use std::fmt;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use flowsched_thresholds::{DEFAULT_LINK, DEFAULT_MODEL, ModelName, Objective};
use flowsched_units::{Rate, UnitError};

pub(super) const THRESHOLDS_EXAMPLES: &str = "\
Examples:
  flowsched thresholds --workload web-search-packets --load 0.8 --queues 8 --compare
  flowsched thresholds --workload my.cdf --load 0.6 --queues 4 --objective mean-slowdown
  flowsched thresholds --workload my.cdf --load 0.6 --queues 4 --format toml
      A line for a [[scheme]] table, or for the configuration of the host agent.
  flowsched thresholds --workload my.cdf --load 0.5..0.9:0.1 --queues 4
      One set for all five loads. It minimises the largest loss against each load's own best;
      with --regret mean, the mean loss.
  flowsched thresholds --workload web.cdf --workload storage.cdf --load 0.5,0.8
      One set for two workloads at two loads each.
  flowsched thresholds --workload my.cdf --link 10Gbps@0.8 --link 40Gbps@0.5
      Thresholds for each of two links that differ, and the best common ones.

In an experiment, thresholds = \"optimal\" does the same for its own workload.";

/// `flowsched thresholds`.
#[derive(Args, Debug)]
pub struct Thresholds {
    /// Flow sizes: a built-in name, a form such as "fixed 20KB", or a CDF file; may be repeated for
    /// one set of thresholds for several
    #[arg(long, value_name = "SIZES", required = true)]
    pub workload: Vec<String>,
    /// Load of the busiest link, over 0 and less than 1; 0.5,0.8 or 0.5..0.9:0.1 for one set of
    /// thresholds for several
    #[arg(long, value_name = "LOADS", required_unless_present = "link")]
    pub load: Option<String>,
    /// Number of priority queues; thresholds are one fewer
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub queues: usize,
    /// The model of flow completion times: pias-mm1, pias-mm1-bound, multilevel-fcfs, multilevel-ps
    #[arg(long, default_value_t = DEFAULT_MODEL)]
    pub model: ModelName,
    /// What to minimise: mean-fct, mean-slowdown, "small-fct 20KB", or a mixture such as
    /// "0.7 mean-fct + 0.3 mean-slowdown"
    #[arg(long, default_value_t = Objective::MeanFct)]
    pub objective: Objective,
    /// Rate of the link to predict times for, and its load if that differs from --load; may be
    /// repeated for thresholds of several links
    #[arg(long, value_name = "RATE[@LOAD]", default_values_t = [AskedLink::default()])]
    pub link: Vec<AskedLink>,
    /// For several loads or workloads: which loss against each one's own best thresholds to
    /// minimise; by default the worst
    #[arg(long, value_enum)]
    pub regret: Option<AskedRegret>,
    /// Compare with one queue, equal split, exponential and published thresholds, and show the loss
    /// if load or sizes differ from the forecast
    #[arg(long)]
    pub compare: bool,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = ThresholdsFormat::Table)]
    pub format: ThresholdsFormat,
}

/// A link as it is written, 10Gbps or 10Gbps@0.8.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedLink {
    /// Its capacity.
    pub rate: Rate,
    /// Its load, where it has one of its own.
    pub load: Option<String>,
}

impl Default for AskedLink {
    fn default() -> AskedLink {
        AskedLink { rate: DEFAULT_LINK, load: None }
    }
}

impl FromStr for AskedLink {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<AskedLink, UnitError> {
        let (rate, load) = match text.split_once('@') {
            Some((rate, load)) => (rate, Some(load.to_owned())),
            None => (text, None),
        };
        Ok(AskedLink { rate: rate.parse()?, load })
    }
}

impl fmt::Display for AskedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.load {
            Some(load) => write!(f, "{}@{load}", self.rate),
            None => write!(f, "{}", self.rate),
        }
    }
}

/// Which loss is to be small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AskedRegret {
    /// The largest
    Worst,
    /// The mean
    Mean,
}

/// How thresholds are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ThresholdsFormat {
    /// A table to read
    Table,
    /// A line for an experiment or the host agent
    Toml,
    /// One JSON object
    Json,
}
