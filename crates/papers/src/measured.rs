//! A measured figure with its 95% interval.

use serde::Serialize;

/// A measured figure with its 95% interval over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The figure.
    pub figure: f64,
    /// Both ends of the interval, which are equal where nothing is random; `None` for one seed.
    pub interval: Option<(f64, f64)>,
    /// The least and the most of the seeds' figures; `None` where they are not known, as in tables that were
    /// recorded without them.
    pub extremes: Option<(f64, f64)>,
    /// How many seeds there are.
    pub seeds: usize,
}
