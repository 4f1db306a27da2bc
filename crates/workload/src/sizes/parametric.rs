//! Laws of sizes with a formula: exponential, bounded Pareto, lognormal.

use libm::{erfc, exp, expm1, log, log1p, pow, sqrt};

use super::moments::Moments;
use super::normal;

/// A law with a density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Parametric {
    /// Exponential with this mean.
    Exponential { mean: f64 },
    /// Density in proportion to `size^-(shape + 1)` between two sizes.
    BoundedPareto { shape: f64, from: f64, to: f64 },
    /// The logarithm is normal with mean `mu` and standard deviation `sigma`.
    Lognormal { mu: f64, sigma: f64 },
}

impl Parametric {
    pub(super) fn min(&self) -> f64 {
        match *self {
            Parametric::BoundedPareto { from, .. } => from,
            Parametric::Exponential { .. } | Parametric::Lognormal { .. } => 0.0,
        }
    }

    pub(super) fn max(&self) -> f64 {
        match *self {
            Parametric::BoundedPareto { to, .. } => to,
            Parametric::Exponential { .. } | Parametric::Lognormal { .. } => f64::INFINITY,
        }
    }

    /// Probability of more than `size`.
    pub(super) fn above(&self, size: f64) -> f64 {
        if size <= self.min() {
            return 1.0;
        }
        if size >= self.max() {
            return 0.0;
        }
        match *self {
            Parametric::Exponential { mean } => exp(-size / mean),
            Parametric::BoundedPareto { shape, from, to } => {
                let end = pow(from / to, shape);
                (pow(from / size, shape) - end) / (1.0 - end)
            }
            Parametric::Lognormal { mu, sigma } => {
                0.5 * erfc((log(size) - mu) / sigma / core::f64::consts::SQRT_2)
            }
        }
    }

    pub(super) fn density(&self, size: f64) -> f64 {
        if size < self.min() || size > self.max() || size <= 0.0 {
            return 0.0;
        }
        match *self {
            Parametric::Exponential { mean } => exp(-size / mean) / mean,
            Parametric::BoundedPareto { shape, from, to } => {
                shape * pow(from / size, shape) / size / (1.0 - pow(from / to, shape))
            }
            Parametric::Lognormal { mu, sigma } => {
                let z = (log(size) - mu) / sigma;
                exp(-z * z / 2.0) / (size * sigma * sqrt(2.0 * core::f64::consts::PI))
            }
        }
    }

    pub(super) fn quantile(&self, p: f64) -> f64 {
        if p <= 0.0 {
            return self.min();
        }
        if p >= 1.0 {
            return self.max();
        }
        match *self {
            Parametric::Exponential { mean } => -mean * log1p(-p),
            Parametric::BoundedPareto { shape, from, to } => {
                let end = pow(from / to, shape);
                (from * pow(1.0 - p * (1.0 - end), -1.0 / shape)).min(to)
            }
            Parametric::Lognormal { mu, sigma } => exp(mu + sigma * normal::quantile(p)),
        }
    }

    /// Moments of the sizes up to `size`.
    pub(super) fn moments_up_to(&self, size: f64) -> Moments {
        if size <= self.min() {
            return Moments::default();
        }
        let size = size.min(self.max());
        Moments {
            mass: 1.0 - self.above(size),
            first: self.moment_up_to(size, 1.0),
            second: self.moment_up_to(size, 2.0),
        }
    }

    /// The integral of `t^order` times the density up to `size`.
    fn moment_up_to(&self, size: f64, order: f64) -> f64 {
        match *self {
            Parametric::Exponential { mean } => {
                let t = size / mean;
                if t == f64::INFINITY {
                    return if order == 1.0 { mean } else { 2.0 * mean * mean };
                }
                if order == 1.0 {
                    mean * (-expm1(-t) - t * exp(-t))
                } else {
                    mean * mean * (-2.0 * expm1(-t) - (t * t + 2.0 * t) * exp(-t))
                }
            }
            Parametric::BoundedPareto { shape, from, to } => {
                let scale = shape * pow(from, order) / (1.0 - pow(from / to, shape));
                let (ratio, power) = (log(size / from), order - shape);
                // (e^(power ratio) - 1) / power, which is `ratio` at power 0.
                let integral = if power == 0.0 { ratio } else { expm1(power * ratio) / power };
                scale * integral
            }
            Parametric::Lognormal { mu, sigma } => {
                let whole = exp(order * mu + order * order * sigma * sigma / 2.0);
                let z = (log(size) - mu) / sigma - order * sigma;
                whole * 0.5 * erfc(-z / core::f64::consts::SQRT_2)
            }
        }
    }

    pub(super) fn scaled(&self, factor: f64) -> Parametric {
        match *self {
            Parametric::Exponential { mean } => Parametric::Exponential { mean: mean * factor },
            Parametric::BoundedPareto { shape, from, to } => {
                Parametric::BoundedPareto { shape, from: from * factor, to: to * factor }
            }
            Parametric::Lognormal { mu, sigma } => {
                Parametric::Lognormal { mu: mu + log(factor), sigma }
            }
        }
    }
}
