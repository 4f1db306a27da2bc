//! Computes the sizes that words for thresholds stand for.

use std::collections::BTreeMap;

use flowsched_thresholds::{DEFAULT_MODEL, Objective, PUBLISHED_QUEUES};
use flowsched_units::{Bytes, SettingError, Value, shortened};
use flowsched_workload::sizes::SizeDistribution;

/// The traffic that thresholds are computed for.
pub(crate) struct Demand {
    /// The name of the sizes in the experiment. Equal names mean equal sizes.
    pub name: String,
    /// The value of `sizes`; `None` if the flows have no common `sizes`.
    pub workload: Option<String>,
    /// The sizes of flows.
    pub sizes: SizeDistribution,
    /// The load of the busiest links.
    pub load: f64,
}

/// Computes thresholds, each only once.
#[derive(Default)]
pub(crate) struct Thresholds {
    known: BTreeMap<Question, Result<Vec<Bytes>, String>>,
}

/// The word, the name of the sizes, the bits of the load, and the number of queues.
type Question = (String, String, u64, u64);

impl Thresholds {
    /// The sizes that `word` stands for with this many queues.
    pub fn resolve(
        &mut self,
        word: &str,
        demand: &Demand,
        queues: u64,
    ) -> Result<Value, SettingError> {
        let question = (word.to_owned(), demand.name.clone(), demand.load.to_bits(), queues);
        let answer = self.known.entry(question).or_insert_with(|| answer(word, demand, queues));
        answer.clone().map(Value::Sizes).map_err(|error| {
            let problem = format!("`thresholds = \"{word}\"` {error}");
            SettingError::sentence("thresholds", problem)
        })
    }
}

/// Returns the sizes. An error is the rest of a sentence that begins with the word, and says what
/// to do.
fn answer(word: &str, demand: &Demand, queues: u64) -> Result<Vec<Bytes>, String> {
    let Demand { sizes, load, .. } = demand;
    let queues = queues as usize;
    let optimum = match word {
        "published" => return published(demand, queues),
        "equal-split" => return Ok(flowsched_thresholds::equal_split(sizes, queues)),
        "optimal-known-sizes" => flowsched_thresholds::optimal_known_sizes(sizes, *load, queues),
        _ => {
            flowsched_thresholds::optimal(sizes, *load, queues, DEFAULT_MODEL, &Objective::MeanFct)
        }
    };
    optimum.map_err(|error| format!("has no solution here: {error}. Give sizes."))
}

fn published(demand: &Demand, queues: usize) -> Result<Vec<Bytes>, String> {
    let instead = "list the thresholds, or use \"optimal\"";
    if queues != PUBLISHED_QUEUES {
        return Err(format!(
            "is for {PUBLISHED_QUEUES} queues, and there are {queues}. Set \
             `queues = {PUBLISHED_QUEUES}`, {instead}."
        ));
    }
    let Some(workload) = &demand.workload else {
        return Err(format!(
            "needs one `sizes` for all flows, \"web-search-...\" or \"data-mining-...\", and \
             these flows come from parts or a trace. Instead, {instead}."
        ));
    };
    match flowsched_thresholds::published(workload, demand.load) {
        Some(published) => Ok(published.thresholds()),
        None => Err(format!(
            "exists for `sizes` that begin with \"web-search\" or \"data-mining\", and these are \
             \"{}\". Change `sizes`, {instead}.",
            shortened(workload)
        )),
    }
}
