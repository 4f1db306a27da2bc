//! A streaming histogram of flow sizes, in little memory whatever it is fed.

use flowsched_units::Bytes;

use super::SizeDistribution;

/// Bins per doubling of the size, as a power of two.
const BINS_PER_DOUBLING_LOG2: u32 = 7;
const BINS_PER_DOUBLING: u64 = 1 << BINS_PER_DOUBLING_LOG2;

/// Weights by size, in bins no wider than 1/128 of the size: sizes up to 256 B are exact.
///
/// Each bin keeps the sum of its sizes, so the mean of the whole is exact as well.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeHistogram {
    bins: Vec<Bin>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bin {
    weight: f64,
    sum: f64,
}

impl SizeHistogram {
    /// Nothing yet.
    pub fn new() -> SizeHistogram {
        SizeHistogram::default()
    }

    /// Adds a flow of `size` that counts `weight` times. A size of 0 or a weight that is not
    /// over 0 is left out.
    pub fn add(&mut self, size: Bytes, weight: f64) {
        if size == Bytes::ZERO || !(weight > 0.0 && weight.is_finite()) {
            return;
        }
        let index = bin(size.get());
        if index >= self.bins.len() {
            self.bins.resize(index + 1, Bin::default());
        }
        self.bins[index].weight += weight;
        self.bins[index].sum += weight * size.get() as f64;
    }

    /// Adds all that `other` has seen.
    pub fn merge(&mut self, other: &SizeHistogram) {
        if other.bins.len() > self.bins.len() {
            self.bins.resize(other.bins.len(), Bin::default());
        }
        for (own, other) in self.bins.iter_mut().zip(&other.bins) {
            own.weight += other.weight;
            own.sum += other.sum;
        }
    }

    /// The distribution of what was seen, every bin at its mean size; `None` if there was
    /// nothing.
    pub fn distribution(&self) -> Option<SizeDistribution> {
        let filled = self.bins.iter().filter(|bin| bin.weight > 0.0);
        SizeDistribution::from_weighted(
            filled.map(|bin| (Bytes::new((bin.sum / bin.weight + 0.5) as u64), bin.weight)),
        )
    }
}

/// The bin of a size: the size itself while it is small, then its leading bits.
fn bin(size: u64) -> usize {
    let doublings = size.ilog2().saturating_sub(BINS_PER_DOUBLING_LOG2);
    (u64::from(doublings) * BINS_PER_DOUBLING + (size >> doublings)) as usize
}
