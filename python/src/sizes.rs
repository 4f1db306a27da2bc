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
    /// By a built-in name, a form such as "fixed 20KB", or the name of a CDF file.
    #[new]
    fn new(name: &str) -> PyResult<Sizes> {
        read(name).map(Sizes)
    }

    /// The mean in bytes.
    fn mean(&self) -> f64 {
        self.0.mean()
    }

    /// The share of flows that are not larger than each of these sizes.
    fn cdf(&self, bytes: Vec<f64>) -> Vec<f64> {
        bytes.into_iter().map(|bytes| self.0.cdf(bytes)).collect()
    }

    /// The sizes below which these shares of all flows are.
    fn quantiles(&self, shares: Vec<f64>) -> Vec<f64> {
        shares.into_iter().map(|share| self.0.quantile(share)).collect()
    }

    /// The sizes at which the distribution has a point.
    fn knots(&self) -> Vec<f64> {
        self.0.knots()
    }

    /// So many sizes, the same for the same seed: 64-bit integers, little-endian.
    fn sample<'py>(&self, py: Python<'py>, count: usize, seed: u64) -> Bound<'py, PyBytes> {
        let drawn = py.detach(|| {
            let mut random = stream(seed, "sizes", 0);
            let sizes = (0..count).map(|_| self.0.sample(random.random()));
            sizes.flat_map(|size| size.get().to_le_bytes()).collect::<Vec<u8>>()
        });
        PyBytes::new(py, &drawn)
    }
}

/// The distribution that `name` stands for.
pub(crate) fn read(name: &str) -> PyResult<SizeDistribution> {
    let place = Place::Argument(format!("workload {name}"));
    let mut open = |path: &str| {
        std::io::Result::Ok(Source::new(path, std::fs::read_to_string(PathBuf::from(path))?))
    };
    flowsched_experiment::sizes(name, "", &place, &mut open)
        .map_err(|mistake| errors::mistakes(&mistake.into()))
}
