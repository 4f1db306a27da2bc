//! Measurements in pairs, one with the tagger and one without, so that other load on the machine
//! affects both.

use std::fs;
use std::time::Duration;

/// The length of the slices in which throughput is compared. It is so short that other load on the
/// machine hardly changes meanwhile, and disturbs both slices of a pair alike.
pub(super) const SLICE: Duration = Duration::from_millis(30);
pub(super) const PAIRS: usize = 400;

/// Measures a rate in pairs of slices, with the tagger and without. Returns the percentage lost in
/// each pair, and the rates without and with the tagger.
pub(super) fn in_pairs(
    pairs: usize,
    mut rate: impl FnMut(bool) -> f64,
) -> (Vec<f64>, [Vec<f64>; 2]) {
    let (mut losses, mut all) = (Vec::new(), [Vec::new(), Vec::new()]);
    for pair in 0..pairs {
        let mut rates = [0.0; 2];
        // The order alternates, so that a drift affects both.
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

/// The median with its 95% confidence interval, which holds for every distribution (from the
/// binomial distribution of the number of values below the median).
pub(super) fn median_and_interval(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let reach = (0.98 * count.sqrt()).ceil() as usize;
    let middle = values.len() / 2;
    (values[middle], values[middle - reach], values[(middle + reach).min(values.len() - 1)])
}

/// The seconds for which all processors together have worked, as the kernel accounts for them.
pub(super) fn processor_seconds() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap();
    let line = text.lines().next().unwrap();
    let ticks: Vec<f64> = line.split_whitespace().skip(1).map(|n| n.parse().unwrap()).collect();
    // Columns 3 and 4 are idle time and waiting for disks. The first columns include columns 8 and
    // later.
    (ticks[..8].iter().sum::<f64>() - ticks[3] - ticks[4]) / 100.0
}
