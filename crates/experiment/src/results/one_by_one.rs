//! Compares flows one by one: the FCT of each flow under a scheme, divided by its FCT under the
//! first scheme (PDQ 2012, Figure 8e). A mean does not show which flows pay for its improvement.

use serde::{Deserialize, Serialize};

/// Shares of the flows that finished under both schemes, over all seeds; `None` if there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OneByOne {
    /// The share of flows that take at most half as long as under the first scheme.
    pub halved: Option<f64>,
    /// The share of flows that take longer.
    pub longer: Option<f64>,
    /// The share of flows that take at least twice as long.
    pub doubled: Option<f64>,
    /// The largest ratio of FCTs.
    pub worst: Option<f64>,
}

impl OneByOne {
    /// Computes the shares from these ratios.
    pub(super) fn from_ratios(ratios: &[f64]) -> OneByOne {
        let share = |is_one: fn(f64) -> bool| {
            let count = ratios.iter().filter(|ratio| is_one(**ratio)).count();
            (!ratios.is_empty()).then(|| count as f64 / ratios.len() as f64)
        };
        OneByOne {
            halved: share(|ratio| ratio <= 0.5),
            longer: share(|ratio| ratio > 1.0),
            doubled: share(|ratio| ratio >= 2.0),
            worst: ratios.iter().copied().reduce(f64::max),
        }
    }
}
