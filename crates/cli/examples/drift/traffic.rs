//! The traffic of an hour, as the simulator, the agents and the optimiser see it. Nothing here
//! chooses thresholds for an hour that has not been seen, except for the oracle.

use std::error::Error;

use flowsched_controller::Window;
use flowsched_fleet::bins;
use flowsched_thresholds::{DEFAULT_MODEL, Forecast, Objective, Path, Solution, optimal_for};
use flowsched_units::{Bytes, Rate};
use flowsched_workload::sizes::{SizeDistribution, by_name, parse_cdf};

pub const LINK: Rate = Rate::from_gbps(10);
/// The number of messages that agents count in an hour.
const MESSAGES: f64 = 1e6;

/// A mixture of web search and data mining at a load.
#[derive(Clone, Copy, PartialEq)]
pub struct Traffic {
    /// The share of flows that have sizes of data mining. The others have sizes of web search.
    pub mining: f64,
    pub load: f64,
}

/// The two distributions of the PIAS paper.
pub struct Laws {
    search: SizeDistribution,
    mining: SizeDistribution,
}

impl Laws {
    pub fn new() -> Result<Laws, Box<dyn Error>> {
        let law = |name| by_name(name).map_err(|e| e.to_string());
        Ok(Laws { search: law("web-search-bytes")?, mining: law("data-mining-bytes")? })
    }
}

impl Traffic {
    /// The share of flows of at most this size.
    fn cdf(&self, bytes: f64, laws: &Laws) -> f64 {
        (1.0 - self.mining) * laws.search.cdf(bytes) + self.mining * laws.mining.cdf(bytes)
    }

    /// The sizes as a file, at the knots of both distributions.
    pub fn file(&self, laws: &Laws) -> String {
        let mut sizes: Vec<f64> =
            [&laws.search, &laws.mining].into_iter().flat_map(SizeDistribution::knots).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        let from = sizes.iter().rposition(|size| self.cdf(*size, laws) <= 0.0).unwrap_or(0);
        let to = sizes.iter().position(|size| self.cdf(*size, laws) >= 1.0);
        let to = to.unwrap_or(sizes.len() - 1);
        let line = |size: &f64| format!("{size} {}\n", self.cdf(*size, laws));
        sizes[from..=to].iter().map(line).collect()
    }

    /// What agents report about an hour.
    pub fn window(&self, laws: &Laws) -> Window {
        let mut before = 0.0;
        let up_to = bins::bounds().map(|bound| self.cdf(bound as f64, laws)).chain([1.0]);
        let counts = up_to.map(|up_to| {
            let count = MESSAGES * (up_to - before);
            before = up_to;
            count
        });
        Window { seconds: 3600.0, bytes: self.load, capacity: 1.0, counts: counts.collect() }
    }

    /// The best thresholds of the model for exactly this traffic.
    pub fn optimum(&self, laws: &Laws, queues: usize) -> Result<Vec<Bytes>, Box<dyn Error>> {
        let sizes = parse_cdf(&self.file(laws))?;
        let forecast = Forecast { sizes: &sizes, path: Path::of_link(LINK, self.load) };
        Ok(optimal_for(&forecast, queues, DEFAULT_MODEL, &Objective::MeanFct)?.thresholds())
    }

    /// The mean FCT that the model expects of thresholds.
    pub fn expected(&self, laws: &Laws, thresholds: &[Bytes]) -> Result<f64, Box<dyn Error>> {
        let sizes = parse_cdf(&self.file(laws))?;
        let forecast = Forecast { sizes: &sizes, path: Path::of_link(LINK, self.load) };
        let objective = Objective::MeanFct;
        Ok(Solution::evaluate(&forecast, DEFAULT_MODEL, &objective, thresholds)?.objective_value)
    }
}
