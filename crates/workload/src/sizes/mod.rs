//! Flow-size distributions.
//!
//! What lives here: laws of flow sizes (tables with atoms, formulas, samples), what is known of
//! them in closed form, the built-in ones, and how they are written. What may not: when flows
//! start, between whom.
//!
//! Sizes are payload bytes. A drawn size is a whole number of bytes, at least 1; the packet
//! versions of the built-in workloads draw whole packets of 1460 B. The moments are those of
//! the drawn sizes for whole packets, and those before rounding to a byte (half a byte apart at
//! most) for all others.

mod built_in;
mod cdf_file;
mod error;
mod histogram;
mod integral;
mod law;
mod moments;
mod normal;
mod packets;
mod parametric;
mod quadrature;
mod table;
mod words;

use flowsched_units::{Bytes, PACKET_HEADER, PACKET_PAYLOAD};

pub use built_in::{BUILT_IN, BuiltIn};
pub use cdf_file::{CdfError, parse_cdf};
pub use error::SizesError;
pub use histogram::SizeHistogram;
pub use table::Point;
pub use words::{FORMS, Form, by_name};

use law::Law;
use packets::Packets;
use parametric::Parametric;
use table::Table;

const PAYLOAD: f64 = PACKET_PAYLOAD as f64;

/// The largest size that a distribution may have, in bytes (a petabyte), so that no sum of
/// sizes overflows.
pub const LARGEST_SIZE: f64 = 1e15;

/// A distribution of flow sizes.
#[derive(Clone, Debug)]
pub struct SizeDistribution {
    law: Law,
}

impl SizeDistribution {
    /// Every flow has this size, at least one byte.
    pub fn fixed(size: Bytes) -> SizeDistribution {
        SizeDistribution::of_table(Table::atom(size.get().max(1) as f64))
    }

    /// Evenly between two sizes; if they are the same, as [`SizeDistribution::fixed`].
    pub fn uniform(one: Bytes, other: Bytes) -> SizeDistribution {
        if one == other {
            return SizeDistribution::fixed(one);
        }
        let (from, to) = (one.min(other).get() as f64, one.max(other).get() as f64);
        SizeDistribution::of_table(Table::new([Point::new(from, 0.0), Point::new(to, 1.0)]))
    }

    /// Exponential of this mean, at least one byte.
    pub fn exponential(mean: Bytes) -> SizeDistribution {
        let mean = mean.get().max(1) as f64;
        SizeDistribution { law: Law::Parametric(Parametric::Exponential { mean }) }
    }

    /// Bounded Pareto: density in proportion to `size^-(shape + 1)` from one size to a larger
    /// one.
    ///
    /// # Errors
    /// [`SizesError`] unless the shape is over 0 and at most 10, and the sizes are rising.
    pub fn bounded_pareto(
        shape: f64,
        from: Bytes,
        to: Bytes,
    ) -> Result<SizeDistribution, SizesError> {
        error::check_shape("pareto", shape)?;
        error::check_rising("pareto", from, to)?;
        let (from, to) = (from.get() as f64, to.get() as f64);
        Ok(SizeDistribution { law: Law::Parametric(Parametric::BoundedPareto { shape, from, to }) })
    }

    /// Lognormal: of this mean, at least one byte, and with `sigma` as the standard deviation of
    /// the size's natural logarithm.
    ///
    /// # Errors
    /// [`SizesError`] unless sigma is over 0 and at most 10.
    pub fn lognormal(mean: Bytes, sigma: f64) -> Result<SizeDistribution, SizesError> {
        error::check_shape("lognormal", sigma)?;
        let mu = libm::log(mean.get().max(1) as f64) - sigma * sigma / 2.0;
        Ok(SizeDistribution { law: Law::Parametric(Parametric::Lognormal { mu, sigma }) })
    }

    /// The distribution of a sample: sizes with weights (1 for a plain sample). Sizes of 0 and
    /// weights that are not over 0 are left out. `None` if nothing is left.
    pub fn from_weighted(samples: impl IntoIterator<Item = (Bytes, f64)>) -> Option<Self> {
        let mut samples: Vec<(Bytes, f64)> = samples
            .into_iter()
            .filter(|(size, weight)| *size > Bytes::ZERO && *weight > 0.0 && weight.is_finite())
            .collect();
        samples.sort_by_key(|(size, _)| *size);
        let total: f64 = samples.iter().map(|(_, weight)| weight).sum();
        let last = samples.last()?.0;
        let mut points = Vec::with_capacity(2 * samples.len());
        let (mut sum, mut below) = (0.0, 0.0);
        for (at, (size, weight)) in samples.iter().enumerate() {
            sum += weight;
            let more = samples.get(at + 1).is_some_and(|(next, _)| next == size);
            if !more {
                let up_to = if *size == last { 1.0 } else { sum / total };
                points.push(Point::new(size.get() as f64, below));
                points.push(Point::new(size.get() as f64, up_to));
                below = up_to;
            }
        }
        Some(SizeDistribution::of_table(Table::new(points)))
    }

    /// The points of a CDF, which the caller has checked.
    fn from_points(points: impl IntoIterator<Item = Point>) -> SizeDistribution {
        SizeDistribution::of_table(Table::new(points))
    }

    fn of_table(table: Table) -> SizeDistribution {
        SizeDistribution { law: Law::Table(table) }
    }

    /// The same sizes rounded to the nearest whole number of packets, at least one; `None` if
    /// more than a million different sizes would be needed.
    pub fn in_whole_packets(&self) -> Option<SizeDistribution> {
        const MOST: f64 = (1 << 20) as f64;
        let aligned = match &self.law {
            Law::Packets(packets) => Some(packets.clone()),
            Law::Table(table) => Packets::new(table.clone()),
            Law::Parametric(_) => None,
        };
        if let Some(packets) = aligned {
            return Some(SizeDistribution { law: Law::Packets(packets) });
        }
        let last = (self.quantile(1.0 - f64::EPSILON / 2.0) / PAYLOAD + 0.5).floor().max(1.0);
        if last > MOST {
            return None;
        }
        let below = |packets: u64| self.below((packets as f64 + 0.5) * PAYLOAD);
        let atoms = (1..=last as u64).map(|packets| {
            let less = if packets == 1 { 0.0 } else { below(packets - 1) };
            (Bytes::new(packets * PACKET_PAYLOAD), below(packets) - less)
        });
        SizeDistribution::from_weighted(atoms)
    }

    /// Every size times `factor`, which is over 0; no longer rounded to whole packets.
    pub fn scaled(&self, factor: f64) -> SizeDistribution {
        SizeDistribution { law: self.law.scaled(factor) }
    }

    /// Probability of `bytes` or less.
    pub fn cdf(&self, bytes: f64) -> f64 {
        self.law.cdf(bytes)
    }

    /// Probability of less than `bytes`.
    pub fn below(&self, bytes: f64) -> f64 {
        self.law.below(bytes)
    }

    /// The smallest size in bytes that a flow does not exceed with probability `p`.
    pub fn quantile(&self, p: f64) -> f64 {
        self.law.quantile(p)
    }

    /// The size that belongs to `u` of [0, 1): give it a random number to draw a size.
    pub fn sample(&self, u: f64) -> Bytes {
        let size = self.quantile(u.clamp(0.0, 1.0 - f64::EPSILON / 2.0));
        Bytes::new((size + 0.5).clamp(1.0, LARGEST_SIZE) as u64)
    }

    /// Mean size in bytes.
    pub fn mean(&self) -> f64 {
        self.partial_mean(f64::INFINITY)
    }

    /// `E[min(size, bytes)]` in bytes: what flows send up to `bytes`.
    pub fn partial_mean(&self, bytes: f64) -> f64 {
        self.law.partial_mean(bytes)
    }

    /// The share of all bytes that flows of less than `bytes` carry.
    pub fn share_of_bytes_below(&self, bytes: f64) -> f64 {
        let of_others = bytes * (1.0 - self.below(bytes));
        (self.partial_mean(bytes) - of_others) / self.mean()
    }

    /// `E[min(size, bytes)^2]` in square bytes.
    pub fn partial_second_moment(&self, bytes: f64) -> f64 {
        self.law.partial_second_moment(bytes)
    }

    /// The smallest size in bytes.
    pub fn min(&self) -> f64 {
        self.law.min().max(1.0)
    }

    /// The largest size in bytes, infinite where a formula has no end.
    pub fn max(&self) -> f64 {
        self.law.max()
    }

    /// Mean number of packets of a flow, the last one perhaps not full.
    pub fn mean_packets(&self) -> f64 {
        self.law.mean_packets(PAYLOAD)
    }

    /// Mean number of bytes of a flow on the wire, every packet with its header.
    pub fn mean_wire_bytes(&self) -> f64 {
        self.mean() + PACKET_HEADER as f64 * self.mean_packets()
    }

    /// `E[values(size); from < size <= to]`, exact for atoms and by Gauss-Legendre quadrature
    /// for the rest. Between the sizes at which the distribution has a point, `values` may jump
    /// at whole packets up to 64 of them, and is smooth otherwise.
    pub fn expectations<const N: usize>(
        &self,
        from: f64,
        to: f64,
        values: impl Fn(f64) -> [f64; N],
    ) -> [f64; N] {
        self.law.expectations(from, to, values)
    }

    /// The sizes in bytes at which the distribution has a point: where its density jumps or it
    /// has an atom. Formulas have none but their ends.
    pub fn knots(&self) -> Vec<f64> {
        match &self.law {
            Law::Table(table) => table.points().iter().map(|point| point.size).collect(),
            Law::Packets(packets) => {
                packets.table().points().iter().map(|point| point.size).collect()
            }
            Law::Parametric(law) => vec![law.min(), law.max()],
        }
    }

    /// Whether all sizes are whole packets.
    pub fn is_in_whole_packets(&self) -> bool {
        matches!(self.law, Law::Packets(_))
    }
}

#[cfg(test)]
mod tests;
