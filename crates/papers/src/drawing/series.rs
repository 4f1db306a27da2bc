//! Curves with few points and short numbers.

use serde::{Deserialize, Serialize};

/// The significant digits of a number, after the first.
const DIGITS: usize = 4;

/// A curve. The value at a place holds until the next place, except of queues, whose points are samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The name: of the scheme, of the link, or of both.
    pub name: String,
    /// The places.
    pub x: Vec<f64>,
    /// The value at each place.
    pub y: Vec<f64>,
}

impl Series {
    /// The curve through these points, whose numbers are rounded to five digits.
    pub(super) fn new(name: String, points: &[(f64, f64)]) -> Series {
        let (x, y) = points.iter().map(|(x, y)| (rounded(*x), rounded(*y))).unzip();
        Series { name, x, y }
    }

    /// The points.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.x.iter().copied().zip(self.y.iter().copied())
    }
}

fn rounded(value: f64) -> f64 {
    format!("{value:.DIGITS$e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let points = [(41_980.26, 1.0 / 3.0), (1_234_567.0, 0.0)];
        let curve = Series::new("a".to_owned(), &points);
        assert_eq!((curve.x, curve.y), (vec![41_980.0, 1_234_600.0], vec![0.33333, 0.0]));
    }
}
