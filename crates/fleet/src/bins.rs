//! Bins of message sizes, which agents export and the controller adds up. Bins are finest between
//! 16 KiB and 64 MiB, where thresholds usually are: sixteen per factor of two. The mean FCT with
//! thresholds from bins is less than 1% above that with thresholds from exact sizes (see the tests).

use flowsched_workload::sizes::{SizeDistribution, parse_cdf};

/// An exponent of two, and the number of bins per factor of two from there on.
const OCTAVES: [(u32, u64); 3] = [(10, 8), (14, 16), (26, 4)];
/// Below the first exponent of [`OCTAVES`], there is one bin up to each of these powers of two.
const COARSE: [u32; 3] = [8, 9, 10];
/// The last bound is one less than 2 to the power of this.
const LAST_EXPONENT: u32 = 38;

/// The number of bins. The last bin has no bound.
pub const BINS: usize = 3 + 4 * 8 + 12 * 16 + 12 * 4 + 1;

/// The largest size in each bin but the last.
pub fn bounds() -> impl Iterator<Item = u64> {
    let coarse = COARSE.into_iter().map(|exponent| (1 << exponent) - 1);
    coarse.chain((OCTAVES[0].0..LAST_EXPONENT).flat_map(within))
}

/// The bounds from 2 to the power of `exponent` up to twice that.
fn within(exponent: u32) -> impl Iterator<Item = u64> {
    let found = OCTAVES.iter().rev().find(|(from, _)| *from <= exponent);
    let bins = found.map_or(1, |(_, bins)| *bins);
    (1..=bins).map(move |place| (1 << exponent) + ((1 << exponent) / bins) * place - 1)
}

/// The distribution of sizes with these counts per bin, assumed to be uniform within a bin; `None` if
/// all counts are 0. Sizes in the last bin are assumed to be at most twice the last bound.
pub fn distribution(counts: &[f64]) -> Option<SizeDistribution> {
    let total: f64 = counts.iter().filter(|count| **count > 0.0).sum();
    if total <= 0.0 {
        return None;
    }
    let bounds: Vec<f64> = bounds().map(|bound| bound as f64).collect();
    let mut text = String::new();
    let (mut seen, mut below, mut begun) = (0.0, 0.0, false);
    for (bin, count) in counts.iter().enumerate().take(BINS) {
        let bound = bounds.get(bin).copied().unwrap_or(2.0 * bounds[bounds.len() - 1]);
        if *count > 0.0 {
            if !begun {
                text.push_str(&format!("{} 0\n", below + 1.0));
                begun = true;
            }
            seen += count;
        }
        if begun {
            text.push_str(&format!("{bound} {}\n", (seen / total).min(1.0)));
        }
        below = bound;
        if seen >= total * (1.0 - 1e-12) && begun {
            break;
        }
    }
    // Rounding may leave the last share slightly below 1: set it to 1.
    let text = text.trim_end();
    let rest = text.rfind(' ').map_or(text, |at| &text[..at]);
    parse_cdf(&format!("{rest} 1\n")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowsched_thresholds::{DEFAULT_MODEL, Forecast, Objective, Solution, optimal_for};
    use flowsched_units::Bytes;
    use flowsched_workload::sizes::by_name;

    fn binned(sizes: &SizeDistribution) -> SizeDistribution {
        let up_to = bounds().map(|bound| sizes.cdf(bound as f64)).chain([1.0]);
        let mut before = 0.0;
        let counts: Vec<f64> = up_to
            .map(|up_to| {
                let count = (up_to - before) * 1e6;
                before = up_to;
                count
            })
            .collect();
        distribution(&counts).unwrap()
    }

    #[test]
    fn bounds_rise_and_are_as_many_as_bins() {
        let all: Vec<u64> = bounds().collect();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
        assert_eq!(all.len() + 1, BINS);
        assert_eq!((all[0], all[1], all[3], all[all.len() - 1]), (255, 511, 1151, (1 << 38) - 1));
    }

    #[test]
    fn thresholds_from_bins_cost_less_than_a_percent_more() {
        let heavy = SizeDistribution::bounded_pareto(1.05, Bytes::new(300), Bytes::new(1 << 36));
        let laws = [
            ("web search", by_name("web-search-bytes").unwrap()),
            ("data mining", by_name("data-mining-bytes").unwrap()),
            ("heavy tail", heavy.unwrap()),
        ];
        for (name, sizes) in laws {
            let seen = binned(&sizes);
            for (load, queues) in [(0.5, 2), (0.5, 8), (0.8, 4), (0.8, 8)] {
                let objective = Objective::MeanFct;
                let solve = |sizes| {
                    optimal_for(&Forecast::new(sizes, load), queues, DEFAULT_MODEL, &objective)
                };
                let (best, found) = (solve(&sizes).unwrap(), solve(&seen).unwrap());
                let exact = Forecast::new(&sizes, load);
                let cost =
                    Solution::evaluate(&exact, DEFAULT_MODEL, &objective, &found.thresholds());
                let more = cost.unwrap().objective_value / best.objective_value - 1.0;
                println!("{name}, load {load}, {queues} queues: {:.4}% more", 100.0 * more);
                assert!(more < 0.01, "{name} at {load}, {queues} queues: {more}");
            }
        }
    }

    #[test]
    fn counts_become_a_distribution() {
        assert!(distribution(&[0.0; BINS]).is_none());
        let mut counts = vec![0.0; BINS];
        (counts[0], counts[1], counts[BINS - 1]) = (1.0, 2.0, 1.0);
        let sizes = distribution(&counts).unwrap();
        assert_eq!(sizes.cdf(255.0), 0.25);
        assert_eq!(sizes.cdf(511.0), 0.75);
        assert!(sizes.max() <= (1u64 << 39) as f64);
        let only_last: Vec<f64> = (0..BINS).map(|bin| f64::from(bin == BINS - 1)).collect();
        assert!(distribution(&only_last).is_some());
    }
}
