//! Keys of experiments and their values, and the studies that measures need.

use std::collections::BTreeMap;

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

/// Keys and their values as text, such as `workload.load = 0.5, hosts = 4`.
pub(crate) fn pairs(setting: &Setting) -> String {
    let pairs: Vec<String> =
        setting.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    pairs.join(", ")
}
