//! Measurements in pairs, one with the tagger and one without: whatever else the machine does falls
//! on both.

use std::fs;
use std::time::Duration;

/// Throughput is compared in slices that are short against what else the machine does: both of a
/// pair are then disturbed alike.
pub(super) const SLICE: Duration = Duration::from_millis(30);
pub(super) const PAIRS: usize = 400;

/// Measures a rate in pairs of slices, with the tagger and without: the percentages lost, and the
/// rates without and with.
pub(super) fn in_pairs(
    pairs: usize,
    mut rate: impl FnMut(bool) -> f64,
) -> (Vec<f64>, [Vec<f64>; 2]) {
    let (mut losses, mut all) = (Vec::new(), [Vec::new(), Vec::new()]);
    for pair in 0..pairs {
        let mut rates = [0.0; 2];
        // Which is first alternates, so that what drifts falls on both.
        for tags in [pair % 2 == 0, pair % 2 == 1] {
            rates[usize::from(tags)] = rate(tags);
            all[usize::from(tags)].push(rates[usize::from(tags)]);
        }
        losses.push((1.0 - rates[1] / rates[0]) * 100.0);
    }
    (losses, all)
}

pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median, and where it is with 95 % confidence whatever the distribution (by the binomial
/// distribution of how many values are below it).
pub(super) fn median_and_interval(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let reach = (0.98 * count.sqrt()).ceil() as usize;
    let middle = values.len() / 2;
    (values[middle], values[middle - reach], values[(middle + reach).min(values.len() - 1)])
}

/// Seconds that all processors together have worked, as the kernel accounts it.
pub(super) fn processor_seconds() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap();
    let line = text.lines().next().unwrap();
    let ticks: Vec<f64> = line.split_whitespace().skip(1).map(|n| n.parse().unwrap()).collect();
    // Columns 3 and 4 are idle and waiting for disks; 8 and on are in the first ones already.
    (ticks[..8].iter().sum::<f64>() - ticks[3] - ticks[4]) / 100.0
}
