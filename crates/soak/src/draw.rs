//! Random choices from a seed.
//!
//! What lives here: how a choice is made. What may not: the alternatives of a choice.

use flowsched_workload::stream;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// A source of random choices; the same seed and purpose give the same choices.
pub struct Draw(ChaCha8Rng);

impl Draw {
    /// The choices for `purpose` under `seed`.
    pub fn new(seed: u64, purpose: &str) -> Draw {
        Draw(stream(seed, purpose, 0))
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.0.random_bool(probability)
    }

    /// One of `choices`, which must not be empty.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.random_range(0..choices.len())]
    }

    /// A whole number from `from` to `to`, both inclusive. All are equally likely.
    pub fn count(&mut self, from: u64, to: u64) -> u64 {
        self.0.random_range(from..=to)
    }

    /// A number from `from` to `to`, uniformly distributed.
    pub fn number(&mut self, from: f64, to: f64) -> f64 {
        self.0.random_range(from..=to)
    }

    /// A whole number from `from` to `to`, both inclusive. All orders of magnitude are equally
    /// likely.
    pub fn magnitude(&mut self, from: u64, to: u64) -> u64 {
        let exponent = self.number((from.max(1) as f64).ln(), (to.max(1) as f64).ln());
        (exponent.exp() as u64).clamp(from, to)
    }
}
