//! Gauss-Legendre quadrature, cut where an integrand may jump.

use flowsched_units::PACKET_PAYLOAD;

/// Nodes and weights of the rule with 8 points on [-1, 1], the positive half.
const NODES: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// The largest ratio of an interval's end to its start, so that powers of the size are integrated
/// to rounding error.
const LONGEST_RATIO: f64 = 1.5;

/// The number of packets up to which an integrand may jump where one packet more is needed.
const JUMPS: f64 = 64.0;

/// The integral of `values` over `from..to`, both at least 1, on one interval.
fn interval<const N: usize>(from: f64, to: f64, values: impl Fn(f64) -> [f64; N]) -> [f64; N] {
    let (middle, half) = ((from + to) / 2.0, (to - from) / 2.0);
    let mut total = [0.0; N];
    for (node, weight) in NODES {
        let (low, high) = (values(middle - half * node), values(middle + half * node));
        for ((total, low), high) in total.iter_mut().zip(low).zip(high) {
            *total += half * weight * (low + high);
        }
    }
    total
}

/// The integral over `from..to`, cut into intervals that are short relative to their starts.
pub(super) fn smooth<const N: usize>(
    from: f64,
    to: f64,
    values: impl Fn(f64) -> [f64; N],
) -> [f64; N] {
    let mut total = [0.0; N];
    let mut start = from;
    while start < to {
        let end = to.min(start * LONGEST_RATIO);
        for (total, part) in total.iter_mut().zip(interval(start, end, &values)) {
            *total += part;
        }
        start = end;
    }
    total
}

/// As [`smooth`], but also cut at whole packets as long as there are few.
pub(super) fn by_packets<const N: usize>(
    from: f64,
    to: f64,
    values: impl Fn(f64) -> [f64; N],
) -> [f64; N] {
    let packet = PACKET_PAYLOAD as f64;
    let mut total = [0.0; N];
    let mut start = from;
    while start < to {
        let next = ((start / packet).floor() + 1.0) * packet;
        let end = if next <= JUMPS * packet { to.min(next) } else { to };
        for (total, part) in total.iter_mut().zip(smooth(start, end, &values)) {
            *total += part;
        }
        start = end;
    }
    total
}
