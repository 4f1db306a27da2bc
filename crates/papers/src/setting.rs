//! Keys of experiments and their values, and the studies that measures need.

use std::collections::BTreeMap;

use flowsched_experiment::results::Point;

/// Dotted keys of an experiment and their values, as `--set` takes them.
pub type Setting = BTreeMap<String, String>;

/// An experiment with some of its keys set. It is run once for all measures that need it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Study {
    /// The name of a file in `experiments/`, without its ending.
    pub experiment: String,
    /// Keys that have other values than in the file, and these values.
    pub set: Setting,
}

/// Whether the keys have these values at the point. A setting may have several values of a key, with commas between
/// them.
pub(crate) fn has_values(point: &Point, setting: &Setting) -> bool {
    let is_one_of = |values: &str, found: &str| values.split(',').any(|value| value == found);
    setting.iter().all(|(key, values)| point.get(key).is_some_and(|found| is_one_of(values, found)))
}

/// Keys and their values as text, such as `workload.load = 0.5, hosts = 4`.
pub(crate) fn pairs(setting: &Setting) -> String {
    let pairs: Vec<String> =
        setting.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    pairs.join(", ")
}
