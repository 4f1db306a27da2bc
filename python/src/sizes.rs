//! Distributions of flow sizes.

use std::path::PathBuf;

use flowsched_experiment::{Place, Source};
use flowsched_workload::sizes::SizeDistribution;
use flowsched_workload::stream;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rand::Rng;

use crate::errors;

/// A distribution of flow sizes.
#[pyclass(frozen, module = "flowsched._native")]
pub(crate) struct Sizes(SizeDistribution);

#[pymethods]
impl Sizes {
    /// Reads a built-in name, a form such as "fixed 20KB", or the name of a CDF file.
    #[new]
    fn new(name: &str) -> PyResult<Sizes> {
        read(name).map(Sizes)
    }

    /// The mean in bytes.
    fn mean(&self) -> f64 {
        self.0.mean()
    }

    /// For each size, the share of flows that are at most this large.
    fn cdf(&self, bytes: Vec<f64>) -> Vec<f64> {
        bytes.into_iter().map(|bytes| self.0.cdf(bytes)).collect()
    }

    /// For each share, the size that this share of flows does not exceed.
    fn quantiles(&self, shares: Vec<f64>) -> Vec<f64> {
        shares.into_iter().map(|share| self.0.quantile(share)).collect()
    }

    /// The sizes of the distribution's points.
    fn knots(&self) -> Vec<f64> {
        self.0.knots()
    }

    /// Draws `count` sizes, the same for the same seed, as 64-bit little-endian integers.
    fn sample<'py>(&self, py: Python<'py>, count: usize, seed: u64) -> Bound<'py, PyBytes> {
        let drawn = py.detach(|| {
            let mut random = stream(seed, "sizes", 0);
            let sizes = (0..count).map(|_| self.0.sample(random.random()));
            sizes.flat_map(|size| size.get().to_le_bytes()).collect::<Vec<u8>>()
        });
        PyBytes::new(py, &drawn)
    }
}

/// The distribution called `name`.
pub(crate) fn read(name: &str) -> PyResult<SizeDistribution> {
    let place = Place::Argument(format!("workload {name}"));
    let mut open = |path: &str| {
        std::io::Result::Ok(Source::new(path, std::fs::read_to_string(PathBuf::from(path))?))
    };
    flowsched_experiment::sizes(name, "", &place, &mut open)
        .map_err(|mistake| errors::mistakes(&mistake.into()))
}
