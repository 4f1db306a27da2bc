//! The native half of the Python package: access to experiments, runs and results.
//!
//! What lives here: converting Python's arguments to the crates' types and results to JSON, and running
//! without Python's global lock. What may not: anything that affects a result, and anything that Python
//! code (`python/flowsched`) can do as well.

#![allow(missing_docs, reason = "the package's stubs and docstrings are the documentation")]

mod catalogue;
mod claims;
mod errors;
mod experiment;
mod folders;
mod json;
mod network;
mod running;
mod sizes;
mod stored;
mod thresholds;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::catalogue::{built_in_workloads, figures, presets, topologies};
    #[pymodule_export]
    use super::claims::reproduce;
    #[pymodule_export]
    use super::experiment::{Experiment, toml_of};
    #[pymodule_export]
    use super::folders::{
        Folder, change_over_seeds, compare_placed, diff_folders, mean_over_seeds, slowdown_placed,
    };
    #[pymodule_export]
    use super::network::network;
    #[pymodule_export]
    use super::sizes::Sizes;
    #[pymodule_export]
    use super::stored::{remove_stored, stored};
    #[pymodule_export]
    use super::thresholds::optimal_thresholds;

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let program = flowsched_run::program("");
        module.add("VERSION", program.version)?;
        module.add("COMMIT", program.commit)
    }
}
