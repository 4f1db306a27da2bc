//! Counts many values in little memory: how many there are in each of many narrow bins.
//!
//! What lives here: counting, and the curves and percentiles that follow from the counts. What
//! may not: anything that knows what the values are.

use std::collections::BTreeMap;

/// The number of bins per factor of ten. The largest value of a bin is at most 1.2% above its
/// smallest.
const BINS_PER_DECADE: f64 = 200.0;

/// Counts of values that are not negative, in bins of equal width on a logarithmic scale. Zeros
/// have a bin of their own.
///
/// Every bin knows its smallest and its largest value, so curves go through points of the exact
/// distribution, and values that are few are kept exactly. Memory is bounded: 40 bytes per bin,
/// at most 200 bins per factor of ten.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    bins: BTreeMap<i32, Bin>,
    total: u64,
}

/// The values of one bin.
#[derive(Clone, Copy, Debug)]
struct Bin {
    count: u64,
    least: f64,
    most: f64,
}

impl Histogram {
    /// Counts `value`.
    pub fn add(&mut self, value: f64) {
        let place = match value > 0.0 {
            true => (value.log10() * BINS_PER_DECADE).floor() as i32,
            false => i32::MIN,
        };
        let bin = self.bins.entry(place).or_insert(Bin { count: 0, least: value, most: value });
        bin.count += 1;
        bin.least = bin.least.min(value);
        bin.most = bin.most.max(value);
        self.total += 1;
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The distribution function: values, and the share of all values that do not exceed them.
    /// Every value at which the share rises appears twice, before and after the rise.
    pub fn cumulative(&self) -> Vec<(f64, f64)> {
        let corners = self.corners().into_iter();
        corners.map(|(value, upto)| (value, upto as f64 / self.total as f64)).collect()
    }

    /// The complement of the distribution function: values, and the share of all values that exceed
    /// them. The last point is the largest value with the share just below it, because a share of 0
    /// has no place on a logarithmic axis.
    pub fn exceeding(&self) -> Vec<(f64, f64)> {
        let share = |(value, upto)| {
            let above: u64 = self.total - upto;
            (value, above as f64 / self.total as f64)
        };
        let mut corners = self.corners();
        if let Some((largest, _)) = corners.pop()
            && corners.last().is_some_and(|(value, _)| *value < largest)
        {
            corners.push((largest, self.total - 1));
        }
        corners.into_iter().map(share).collect()
    }

    /// For every bin its smallest value with the number of values below the bin, and its largest
    /// value with the number of values up to it.
    fn corners(&self) -> Vec<(f64, u64)> {
        let mut upto = 0;
        let corners = self.bins.values().flat_map(|bin| {
            let below = upto;
            upto += bin.count;
            [(bin.least, below), (bin.most, upto)]
        });
        corners.collect()
    }

    /// The percentile, by nearest rank, that `per_mille` thousandths of the values do not exceed.
    /// It may be up to 1.2% too large. `None` without values.
    pub fn percentile(&self, per_mille: u64) -> Option<f64> {
        let rank = (per_mille * self.total).div_ceil(1000).max(1);
        let mut upto = 0;
        let holds = |bin: &&Bin| {
            upto += bin.count;
            upto >= rank
        };
        self.bins.values().find(holds).map(|bin| bin.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_values(values: impl IntoIterator<Item = f64>) -> Histogram {
        let mut histogram = Histogram::default();
        values.into_iter().for_each(|value| histogram.add(value));
        histogram
    }

    #[test]
    fn few_values_make_an_exact_staircase() {
        let histogram = of_values([0.0, 9_000.0, 0.0, 1_500.0]);
        let stairs = [
            (0.0, 0.0),
            (0.0, 0.5),
            (1_500.0, 0.5),
            (1_500.0, 0.75),
            (9_000.0, 0.75),
            (9_000.0, 1.0),
        ];
        assert_eq!(histogram.cumulative(), stairs);
        let stairs = [(0.0, 1.0), (0.0, 0.5), (1_500.0, 0.5), (1_500.0, 0.25), (9_000.0, 0.25)];
        assert_eq!(histogram.exceeding(), stairs);
        assert_eq!(of_values([]).cumulative(), []);
        assert_eq!(of_values([]).exceeding(), []);
        assert_eq!(of_values([]).percentile(500), None);
    }

    #[test]
    fn one_value_is_a_rise_from_nothing_to_everything() {
        assert_eq!(of_values([7.0]).cumulative(), [(7.0, 0.0), (7.0, 1.0)]);
        assert_eq!(of_values([7.0]).exceeding(), [(7.0, 1.0)]);
    }

    #[test]
    fn corners_lie_on_the_exact_distribution() {
        let values: Vec<f64> = (1..=200_000).map(f64::from).collect();
        let histogram = of_values(values.iter().copied());
        let curve = histogram.cumulative();
        assert!(curve.len() < 2_200, "{} corners", curve.len());
        for pair in curve.chunks(2) {
            let [(least, below), (most, upto)] = pair else { panic!("corners come in pairs") };
            assert_eq!((below * 200_000.0).round(), least - 1.0);
            assert_eq!((upto * 200_000.0).round(), *most);
        }
        assert_eq!(histogram.exceeding().last(), Some(&(200_000.0, 1.0 / 200_000.0)));
    }

    #[test]
    fn percentiles_are_by_nearest_rank_within_a_bin() {
        let histogram = of_values((1..=200_000).map(f64::from));
        for (per_mille, exact) in [(500, 100_000.0), (990, 198_000.0), (999, 199_800.0)] {
            let found = histogram.percentile(per_mille).unwrap();
            assert!((exact..=exact * 1.012).contains(&found), "{found} for {exact}");
        }
        assert_eq!(of_values([5.0, 3.0, 4.0]).percentile(500), Some(4.0));
        assert_eq!(of_values([5.0, 3.0, 4.0]).percentile(1000), Some(5.0));
    }
}
