//! The places of the schemes in the experiment that is simulated.

/// What runs today.
pub const NOW: usize = 0;
/// PIAS with thresholds for these sizes.
pub const PIAS: usize = 1;
/// PIAS with thresholds for sizes half as large.
pub const MISMATCH: usize = 2;
