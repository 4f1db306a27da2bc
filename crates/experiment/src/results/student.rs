//! Student's t: 95% confidence intervals of means of independent values.

/// The 97.5th percentile with `degrees` degrees of freedom, to within 0.0005.
///
/// Up to 30 degrees, the values are from the usual table, and above from [`expansion`].
pub(super) fn t_975(degrees: u64) -> f64 {
    const TABLE: [f64; 31] = [
        f64::INFINITY,
        12.7062,
        4.3027,
        3.1824,
        2.7764,
        2.5706,
        2.4469,
        2.3646,
        2.3060,
        2.2622,
        2.2281,
        2.2010,
        2.1788,
        2.1604,
        2.1448,
        2.1314,
        2.1199,
        2.1098,
        2.1009,
        2.0930,
        2.0860,
        2.0796,
        2.0739,
        2.0687,
        2.0639,
        2.0595,
        2.0555,
        2.0518,
        2.0484,
        2.0452,
        2.0423,
    ];
    if let Some(value) = TABLE.get(degrees as usize) {
        return *value;
    }
    expansion(1.959_963_984_540_054, degrees)
}

/// The 99.95th percentile with `degrees` degrees of freedom, at least 8, to within 1%.
pub(super) fn t_9995(degrees: u64) -> f64 {
    expansion(3.290_526_731_491_926, degrees)
}

/// The Cornish-Fisher expansion around a quantile of the normal distribution (Abramowitz and
/// Stegun, 26.7.5).
fn expansion(normal: f64, degrees: u64) -> f64 {
    let z2 = normal * normal;
    let n = degrees as f64;
    let first = (z2 + 1.0) / 4.0;
    let second = ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let third = (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    normal * (1.0 + first / n + second / (n * n) + third / (n * n * n))
}

/// Half the width of the 95% confidence interval of the mean of `values`; NaN for a single value.
pub(super) fn half_width(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    t_975((values.len() as u64).saturating_sub(1)) * (squares / (n - 1.0) / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability of at most `t`, by integrating the density: a second way to the same result.
    fn cumulative(t: f64, degrees: u64) -> f64 {
        let n = degrees as f64;
        let density = |x: f64| libm::pow(1.0 + x * x / n, -(n + 1.0) / 2.0);
        let simpson = |from: f64, to: f64| {
            let steps = 20_000;
            let h = (to - from) / f64::from(steps);
            let at = |i: i32| density(from + h * f64::from(i));
            let inner: f64 = (1..steps).map(|i| at(i) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
            h / 3.0 * (at(0) + inner + at(steps))
        };
        let constant = libm::exp(libm::lgamma((n + 1.0) / 2.0) - libm::lgamma(n / 2.0))
            / libm::sqrt(n * std::f64::consts::PI);
        0.5 + constant * simpson(0.0, t)
    }

    #[test]
    fn a_fortieth_lies_above() {
        for degrees in (1..=40).chain([59, 100, 999]) {
            let tail = 1.0 - cumulative(t_975(degrees), degrees);
            assert!((tail - 0.025).abs() < 2e-5, "{degrees} degrees: {tail} above");
        }
    }

    #[test]
    fn one_in_two_thousand_lies_above() {
        for degrees in [8, 16, 40, 80, 800] {
            let tail = 1.0 - cumulative(t_9995(degrees), degrees);
            assert!((tail - 0.0005).abs() < 2e-5, "{degrees} degrees: {tail} above");
        }
    }
}
