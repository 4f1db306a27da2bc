//! What the figures of seeds give together: a figure, its interval and its extremes.

use std::collections::BTreeMap;

use flowsched_experiment::results::{Change, OverSeeds};

use crate::kind::Kind;
use crate::measured::Measured;

/// The mean over points of each seed's figures; `None` if some point lacks a seed.
pub(crate) fn mean_by_seed(points: &[BTreeMap<u64, f64>]) -> Option<BTreeMap<u64, f64>> {
    let mean = |seed: &u64| {
        let figures: Option<Vec<f64>> = points.iter().map(|one| one.get(seed).copied()).collect();
        Some((*seed, figures?.iter().sum::<f64>() / points.len() as f64))
    };
    points.first()?.keys().map(mean).collect()
}

/// The mean over seeds with its interval. If all seeds agree, the interval is the figure itself.
pub(crate) fn absolute(figures: &[f64]) -> Option<Measured> {
    let over = OverSeeds::from_values(figures)?;
    let is_exact = figures.len() > 1 && figures.iter().all(|one| *one == figures[0]);
    let interval = over.interval.or(is_exact.then_some((over.mean, over.mean)));
    let extremes = extremes(figures.iter().copied());
    Some(Measured { figure: over.mean, interval, extremes, seeds: figures.len() })
}

/// The least and the most of the seeds' figures; `None` if one of these is no finite number.
fn extremes(mut figures: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let first = figures.next()?;
    let ends = figures.fold((first, first), |(least, most), one| (least.min(one), most.max(one)));
    Some(ends).filter(|(least, most)| least.is_finite() && most.is_finite())
}

/// The figure that the logarithms of the seeds' ratios give, in the form of `kind`.
pub(crate) fn compared(kind: Kind, logs: &[f64]) -> Option<Measured> {
    let change = Change::over_seeds(logs);
    let stated = |change: f64| match kind {
        Kind::Reduction => -change,
        Kind::Ratio => change + 1.0,
        _ => change,
    };
    let ends = change.low.zip(change.high).filter(|_| logs.len() > 1);
    let interval = ends.map(|(low, high)| match kind {
        Kind::Reduction => (-high, -low),
        _ => (stated(low), stated(high)),
    });
    let extremes = extremes(logs.iter().map(|log| stated(log.exp_m1())));
    Some(Measured { figure: stated(change.change?), interval, extremes, seeds: logs.len() })
}

/// The gap between the means over seeds of our figure and the baseline's, given both figures of each seed. The
/// interval is that of the seeds' differences. The gap is not finite if every figure of the baseline is 0 and not
/// every figure of ours.
pub(crate) fn gap_of_means(pairs: &[(f64, f64)]) -> Option<Measured> {
    let of_baseline = pairs.iter().map(|(_, theirs)| theirs).sum::<f64>() / pairs.len() as f64;
    let gap = |(ours, theirs): &(f64, f64)| match ours - theirs {
        0.0 => 0.0,
        difference => difference / of_baseline,
    };
    let gaps: Vec<f64> = pairs.iter().map(gap).collect();
    let over = OverSeeds::of_differences(&gaps)?;
    let extremes = extremes(gaps.iter().copied());
    Some(Measured { figure: over.mean, interval: over.interval, extremes, seeds: gaps.len() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kind::Bound;
    use crate::published::{Published, any_order, meets};
    use crate::verdict::Verdict;

    proptest! {
        /// More seeds with the same spread make the interval narrower around the same middle.
        #[test]
        fn more_seeds_with_the_same_spread_never_reproduce_what_was_not(
            figures in prop::collection::vec(0.1..3.0f64, 2..8),
            times in 2usize..6,
            published in 0.1..3.0f64,
            kind in prop::sample::select(vec![Kind::Value, Kind::Gap, Kind::Reduction, Kind::Ratio]),
            bound in prop::option::of(prop::sample::select(vec![Bound::About, Bound::AtLeast, Bound::AtMost])),
        ) {
            let verdict = |figures: &[f64]| {
                let logs: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
                let measured = if kind == Kind::Value { absolute(figures) } else { compared(kind, &logs) };
                Verdict::new(kind, bound, Published::Number(published), &measured.unwrap())
            };
            if verdict(&figures) == Verdict::NotReproduced {
                prop_assert_eq!(verdict(&figures.repeat(times)), Verdict::NotReproduced);
            }
        }

        /// An outlier can widen the interval until it meets the published value. That does not reproduce it if
        /// every seed is on the same side.
        #[test]
        fn more_seeds_on_one_side_never_reproduce_what_was_not(
            published in 0.1..3.0f64,
            side in prop::sample::select(vec![-1.0, 1.0]),
            first in prop::collection::vec(0.0..0.5f64, 2..8),
            more in prop::collection::vec(0.0..6.0f64, 1..8),
            kind in prop::sample::select(vec![Kind::Value, Kind::Gap, Kind::Reduction, Kind::Ratio]),
            bound in prop::option::of(prop::sample::select(
                vec![Bound::About, Bound::UpTo, Bound::AtLeast, Bound::AtMost],
            )),
        ) {
            // Each seed's ratio is the published one, times or over a random factor.
            let stated = |ratio: f64| match kind {
                Kind::Gap => ratio - 1.0,
                Kind::Reduction => 1.0 - ratio,
                _ => ratio,
            };
            let number = stated(published);
            let misses = |ratio: &f64| !meets((number, number), bound, stated(*ratio), stated(*ratio));
            let ratios = |logs: &[f64]| -> Vec<f64> {
                logs.iter().map(|log| published * (side * log).exp()).filter(misses).collect()
            };
            let (first, more) = (ratios(&first), ratios(&more));
            let found = |ratios: &[f64]| {
                let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
                let measured = if kind == Kind::Value { absolute(ratios) } else { compared(kind, &logs) };
                measured.map(|one| Verdict::new(kind, bound, Published::Number(number), &one))
            };
            prop_assert_ne!(found(&first), Some(Verdict::Reproduced));
            prop_assert_ne!(found(&[first, more].concat()), Some(Verdict::Reproduced));
        }

        /// Figures of a seed may be 0, and then an order follows from the means.
        #[test]
        fn more_seeds_on_one_side_never_reproduce_an_order_of_means(
            pairs in prop::collection::vec((0u8..5, 0u8..5), 2..16),
            is_ours_more in any::<bool>(),
            expected in any_order(),
        ) {
            let (least, most) = expected.gaps();
            let figures = |(ours, theirs): &(u8, u8)| (f64::from(*ours), f64::from(*theirs));
            let gap = |ours: f64, theirs: f64| if ours == theirs { 0.0 } else { ours / theirs - 1.0 };
            let misses = |(ours, theirs): &(f64, f64)| match is_ours_more {
                true => most.is_finite() && most <= gap(*ours, *theirs),
                false => gap(*ours, *theirs) <= least,
            };
            let pairs: Vec<(f64, f64)> = pairs.iter().map(figures).filter(misses).collect();
            let found = gap_of_means(&pairs)
                .map(|one| Verdict::new(Kind::Order, None, Published::Order(expected), &one));
            prop_assert_ne!(found, Some(Verdict::Reproduced));
        }

        #[test]
        fn more_seeds_on_one_side_never_reproduce_an_order(
            side in prop::sample::select(vec![-1.0, 1.0]),
            logs in prop::collection::vec(0.0..6.0f64, 2..16),
            expected in any_order(),
        ) {
            let (least, most) = expected.gaps();
            let misses = |log: &f64| log.exp_m1() <= least || most <= log.exp_m1();
            let logs: Vec<f64> = logs.iter().map(|log| side * log).filter(misses).collect();
            let found = compared(Kind::Order, &logs)
                .map(|one| Verdict::new(Kind::Order, None, Published::Order(expected), &one));
            prop_assert_ne!(found, Some(Verdict::Reproduced));
        }
    }

    /// Three seeds miss 10 closely. A fourth is farther off, and the interval meets 10.
    #[test]
    fn an_outlier_on_the_same_side_reproduces_nothing() {
        let verdict = |figures: &[f64]| {
            let measured = absolute(figures).unwrap();
            (Verdict::new(Kind::Value, None, Published::Number(10.0), &measured), measured)
        };
        assert_eq!(verdict(&[10.2, 10.21, 10.22]).0, Verdict::NotReproduced);
        let (with_outlier, measured) = verdict(&[10.2, 10.21, 10.22, 11.0]);
        assert!(measured.interval.is_some_and(|(low, high)| low < 10.0 && high - low < 2.0));
        assert_eq!(measured.extremes, Some((10.2, 11.0)));
        assert_eq!(extremes([0.0, f64::INFINITY].into_iter()), None);
        assert_eq!(with_outlier, Verdict::Undecided);
        assert_eq!(verdict(&[10.2, 10.21, 10.22, 9.9]).0, Verdict::Reproduced);
    }
}
