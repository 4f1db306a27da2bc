//! Reduces the points of long curves, and keeps their extremes.

use flowsched_papers::thinned;

/// The most points of a curve, while it is read and when it is drawn.
const MOST_READ: usize = 1 << 16;
const MOST_DRAWN: usize = 4_000;

/// A curve over time of bounded length.
#[derive(Clone, Debug, Default)]
pub(crate) struct Thinned {
    points: Vec<(f64, f64)>,
}

impl Thinned {
    /// Adds a point that is not before the last one.
    pub fn push(&mut self, point: (f64, f64)) {
        if self.points.len() == MOST_READ {
            self.points = thinned(&self.points, MOST_READ / 2);
        }
        self.points.push(point);
    }

    /// The points that are drawn.
    pub fn points(&self) -> Vec<(f64, f64)> {
        thinned(&self.points, MOST_DRAWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sticks_out_stays() {
        let mut curve = Thinned::default();
        for i in 0..300_000 {
            let value = match i {
                154_321 => 99.0,
                12_345 => -3.0,
                _ => 1.0,
            };
            curve.push((f64::from(i), value));
        }
        let drawn = curve.points();
        assert!(curve.points.len() <= MOST_READ && drawn.len() <= MOST_DRAWN, "{}", drawn.len());
        assert!(drawn.contains(&(154_321.0, 99.0)) && drawn.contains(&(12_345.0, -3.0)));
        assert!(drawn.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!((drawn[0].0, drawn[drawn.len() - 1].0), (0.0, 299_999.0));
    }
}
