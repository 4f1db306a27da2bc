//! Moments of a part of a law.

/// Mass and the first two moments of a part of a law.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    pub(super) mass: f64,
    pub(super) first: f64,
    pub(super) second: f64,
}
