//! What a search for levels needs to know of their costs.

/// The costs of levels between the places `0..=last()`.
pub(crate) trait LevelCosts {
    /// The place where the last level ends.
    fn last(&self) -> usize;

    /// The cost of the level from one place to another.
    fn cost(&self, from: usize, to: usize) -> f64;

    /// The number of factors. The part of the cost that changes with the beginning is a scalar
    /// product of this many factors of the beginning and as many of the end. The factors of the end
    /// are not negative, and are not lower where the level ends later.
    fn factors(&self) -> usize;

    /// The factors of the beginning, relative to an `origin` that is not beyond it.
    fn begin(&self, origin: usize, place: usize, factors: &mut [f64]);

    /// The factors of the end, relative to an `origin` that is not beyond it.
    fn end(&self, origin: usize, to: usize, factors: &mut [f64]);

    /// Whether `cost(a, b) + cost(a', b') <= cost(a, b') + cost(a', b)` for all `a <= a' < b <=
    /// b'`: checked, not assumed.
    fn is_monge(&self) -> bool;
}

/// The cheapest way to a place, and where its last level begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) cost: f64,
    pub(crate) from: usize,
}

impl Step {
    pub(crate) const NONE: Step = Step { cost: f64::INFINITY, from: 0 };
}
