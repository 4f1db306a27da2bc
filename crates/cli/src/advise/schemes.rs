//! The names of the schemes in the experiment that is simulated.

/// The scheme that runs today.
pub const NOW: &str = "now";
/// PIAS with thresholds for these sizes.
pub const PIAS: &str = "pias";
/// PIAS with thresholds for sizes half as large.
pub const MISMATCH: &str = "mismatch";
