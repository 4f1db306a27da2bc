//! The sizes that thresholds are chosen from.

use flowsched_units::PACKET_PAYLOAD;

use crate::forecast::Forecast;

/// At least `count` rising sizes in whole bytes, over 0 and less than the largest size of any
/// forecast, if there are as many:
///
/// - `fixed`
/// - the points of the distributions, unless they are many
/// - a quarter of the sizes, even in probability
/// - a quarter, even in the logarithm of the size
/// - the rest, even in size
///
/// All are multiples of [`unit`].
pub(crate) fn grid(forecasts: &[Forecast], fixed: &[f64], count: usize) -> Vec<f64> {
    let unit = unit(forecasts);
    let mut sizes: Vec<f64> = fixed.to_vec();
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for forecast in forecasts {
        let law = forecast.sizes;
        let (from, to) = (law.min(), forecast.ceiling().get() as f64);
        let quarter = (count / 4 / forecasts.len()).max(1);
        let part = |index: usize| (index as f64 + 0.5) / quarter as f64;
        sizes.extend((0..quarter).map(|index| law.quantile(part(index))));
        sizes.extend((0..quarter).map(|index| from * libm::pow(to / from, part(index))));
        let knots = law.knots();
        if knots.len() <= quarter {
            sizes.extend(knots);
        }
        (least, most) = (least.min(from), most.max(to));
    }
    let (mut finer, mut step) = (1, f64::INFINITY);
    loop {
        let found = tidy(forecasts, sizes.clone(), unit);
        let missing = count.saturating_sub(found.len());
        if missing == 0 || step < unit {
            return found;
        }
        // Some of these are there already, so the next round has twice as many.
        let steps = finer * missing;
        finer *= 2;
        step = (most - least) / steps as f64;
        sizes.extend((0..=steps).map(|index| least + step * index as f64));
    }
}

/// For each of `places`, `steps` sizes on each side, up to its width in bytes away.
pub(crate) fn around(
    forecasts: &[Forecast],
    places: &[f64],
    widths: &[f64],
    steps: usize,
) -> Vec<f64> {
    let mut sizes = Vec::with_capacity(places.len() * (2 * steps + 1));
    for (place, width) in places.iter().zip(widths) {
        for step in 0..=2 * steps {
            sizes.push(place + width * (step as f64 / steps as f64 - 1.0));
        }
    }
    tidy(forecasts, sizes, unit(forecasts))
}

/// The smallest step between two thresholds that can differ in effect: a packet if every forecast
/// has whole packets or sizes in whole packets, else a byte.
pub(crate) fn unit(forecasts: &[Forecast]) -> f64 {
    let is_whole =
        |forecast: &Forecast| forecast.path.whole_packets || forecast.sizes.is_in_whole_packets();
    let whole = forecasts.iter().all(is_whole);
    if whole { PACKET_PAYLOAD as f64 } else { 1.0 }
}

/// Rounds sizes to whole units, sorts them, and leaves out doubles and sizes at which no threshold
/// makes sense.
fn tidy(forecasts: &[Forecast], sizes: Vec<f64>, unit: f64) -> Vec<f64> {
    let most = forecasts.iter().map(|forecast| forecast.ceiling().get() as f64).fold(0.0, f64::max);
    let whole = sizes.into_iter().map(|size| (size / unit + 0.5).floor() * unit);
    let mut sizes: Vec<f64> = whole.filter(|size| *size >= unit && *size < most).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    sizes
}
