//! When flows start: a Poisson process.

use flowsched_units::Time;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::flow::LATEST;
use crate::random::stream;

/// Instants with exponential gaps between them, the first a gap after the start.
#[derive(Clone, Debug)]
pub struct Arrivals {
    mean_gap_ps: f64,
    now: Time,
    random: ChaCha8Rng,
}

impl Arrivals {
    /// An arrival of part number `part` every `mean_gap_ps` picoseconds on average.
    pub fn new(mean_gap_ps: f64, seed: u64, part: u64) -> Arrivals {
        Arrivals { mean_gap_ps, now: Time::ZERO, random: stream(seed, "arrivals", part) }
    }
}

impl Iterator for Arrivals {
    type Item = Time;

    /// The next instant, or none if it is not before [`LATEST`].
    fn next(&mut self) -> Option<Time> {
        // Of (0, 1], so that the logarithm is finite.
        let uniform = 1.0 - self.random.random::<f64>();
        let gap = (-libm::log(uniform) * self.mean_gap_ps).round();
        self.now = self.now.saturating_add(Time::from_ps(gap as u64));
        (self.now < LATEST).then_some(self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kolmogorov-Smirnov: the largest distance between the gaps' distribution and the
    /// exponential one is below its 99.9% quantile.
    #[test]
    fn gaps_are_exponential() {
        let count = 10_000;
        let mut before = 0;
        let mut gaps: Vec<u64> = Arrivals::new(1e6, 1, 0)
            .take(count)
            .map(|at| at.as_ps() - std::mem::replace(&mut before, at.as_ps()))
            .collect();
        gaps.sort_unstable();
        let distance = |(index, gap): (usize, &u64)| {
            let expected = 1.0 - (-(*gap as f64) / 1e6).exp();
            let [below, up_to] = [index, index + 1].map(|rank| rank as f64 / count as f64);
            (expected - below).abs().max((expected - up_to).abs())
        };
        let largest = gaps.iter().enumerate().map(distance).fold(0.0, f64::max);
        assert!(largest < 1.95 / (count as f64).sqrt(), "{largest}");
    }

    #[test]
    fn arrivals_end_before_time_does() {
        assert_eq!(Arrivals::new(1e30, 1, 0).count(), 0);
        let few = Arrivals::new(1e18, 1, 0).count();
        assert!((1..100).contains(&few), "{few}");
    }
}
