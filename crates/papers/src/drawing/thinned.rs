//! Reduces the points of curves, and keeps what a reader would miss.

/// Reduces a curve over time to at most `most` points, a multiple of four: the first, the least, the greatest and the
/// last of each run of neighbours.
pub fn thinned(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most {
        return points.to_vec();
    }
    let mut kept = Vec::new();
    for run in points.chunks(points.len().div_ceil(most / 4)) {
        let places = 0..run.len();
        let by_value = |one: &usize, other: &usize| run[*one].1.total_cmp(&run[*other].1);
        let (least, greatest) = (places.clone().min_by(by_value), places.max_by(by_value));
        let mut of_run: Vec<usize> =
            [Some(0), least, greatest, Some(run.len() - 1)].into_iter().flatten().collect();
        of_run.sort_unstable();
        of_run.dedup();
        kept.extend(of_run.into_iter().map(|place| run[place]));
    }
    kept
}

/// Reduces samples to at most `most`, evenly and with both ends.
pub(super) fn spread<T: Copy>(samples: &[T], most: usize) -> Vec<T> {
    if samples.len() <= most {
        return samples.to_vec();
    }
    (0..most).map(|place| samples[place * (samples.len() - 1) / (most - 1)]).collect()
}

/// Reduces the rising steps of a distribution to at most `most` points. Where points are left out, the steps before and
/// after differ by less than `2 / (most - 2)` of the curve's width and height together. Both ends stay.
pub(super) fn sparse(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    let share = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.0 };
    let (wide, high) = (last.0 - first.0, last.1 - first.1);
    let step = 2.0 / (most - 2) as f64;
    let mut kept = vec![*first];
    for (x, y) in &points[1..points.len() - 1] {
        let before = kept[kept.len() - 1];
        if share(x - before.0, wide) + share(y - before.1, high) >= step {
            kept.push((*x, *y));
        }
    }
    kept.push(*last);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_extremes_of_a_curve_over_time_stay() {
        let value = |i: u32| match i {
            612 => 99.0,
            345 => -3.0,
            _ => 1.0,
        };
        let points: Vec<(f64, f64)> = (0..1_003).map(|i| (f64::from(i), value(i))).collect();
        let kept = thinned(&points, 100);
        assert!(kept.len() <= 100, "{}", kept.len());
        assert!(kept.contains(&(612.0, 99.0)) && kept.contains(&(345.0, -3.0)), "{kept:?}");
        assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], points[1_002]));
        assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0), "{kept:?}");
        assert_eq!(thinned(&points[..100], 100), points[..100]);
    }

    #[test]
    fn samples_are_spread_evenly() {
        let samples: Vec<usize> = (0..=1_000).collect();
        assert_eq!(spread(&samples, 5), [0, 250, 500, 750, 1_000]);
        assert_eq!(spread(&samples[..5], 5), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_distribution_keeps_its_ends_and_its_steps() {
        // Half of the values are 0, the others spread evenly up to 1,000, and one is far beyond.
        let even = (1..=1_000).map(|i| (f64::from(i), 0.5 + f64::from(i) / 2_002.0));
        let ends = [(0.0, 0.0), (0.0, 0.5)];
        let points: Vec<(f64, f64)> =
            ends.into_iter().chain(even).chain([(9_000.0, 1.0)]).collect();
        let kept = sparse(&points, 100);
        assert!(kept.len() <= 100 && kept.len() > 20, "{}", kept.len());
        assert!(kept.starts_with(&ends) && kept.ends_with(&[(9_000.0, 1.0)]), "{kept:?}");
        for (x, y) in &points {
            let held = kept.iter().rev().find(|(from, _)| from <= x).unwrap();
            assert!(y - held.1 <= 2.0 / 98.0, "{x}: {y} and {held:?}");
        }
        assert_eq!(sparse(&[(7.0, 0.0), (7.0, 1.0)], 100), [(7.0, 0.0), (7.0, 1.0)]);
        assert_eq!(sparse(&[], 100), []);
    }
}
