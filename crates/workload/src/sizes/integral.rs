//! Expectations by Gauss-Legendre quadrature over the pieces of a law.

use flowsched_units::PACKET_PAYLOAD;

use super::parametric::Parametric;
use super::table::Table;

/// Nodes and weights of the rule with 8 points on [-1, 1], the positive half.
const NODES: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// Intervals are no longer than this times their start, so that powers of the size are
/// integrated to rounding error.
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

/// The integral over `from..to`, cut where it gets long in proportion to where it starts.
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

/// As [`smooth`], cut at whole packets as well as long as there are few.
fn by_packets<const N: usize>(from: f64, to: f64, values: impl Fn(f64) -> [f64; N]) -> [f64; N] {
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

/// The expectation of `values` over sizes in `(from, to]`; a size is at least one byte.
pub(super) fn over_table<const N: usize>(
    table: &Table,
    from: f64,
    to: f64,
    values: impl Fn(f64) -> [f64; N],
) -> [f64; N] {
    let mut total = [0.0; N];
    let mut add = |weight: f64, values: [f64; N]| {
        for (total, value) in total.iter_mut().zip(values) {
            *total += weight * value;
        }
    };
    for piece in table.pieces_within(from, to) {
        if piece.is_atom() {
            if from < piece.from {
                add(piece.mass, values(piece.from.max(1.0)));
            }
            continue;
        }
        let density = piece.mass / (piece.to - piece.from);
        let (from, to) = (from.max(piece.from), to.min(piece.to));
        if from < 1.0 {
            add(density * (to.min(1.0) - from), values(1.0));
        }
        add(density, by_packets(from.max(1.0), to, &values));
    }
    total
}

/// The expectation of `values` over sizes in `(from, to]`; a size is at least one byte.
pub(super) fn over_density<const N: usize>(
    law: &Parametric,
    from: f64,
    to: f64,
    values: impl Fn(f64) -> [f64; N],
) -> [f64; N] {
    let from = from.max(law.min());
    let to = to.min(law.max()).min(law.quantile(1.0 - f64::EPSILON / 2.0));
    if from >= to {
        return [0.0; N];
    }
    let weighted = |size: f64| {
        let density = law.density(size);
        values(size).map(|value| density * value)
    };
    let mut total = by_packets(from.max(1.0), to, weighted);
    if from < 1.0 {
        let mass = law.above(from) - law.above(to.min(1.0));
        for (total, value) in total.iter_mut().zip(values(1.0)) {
            *total += mass * value;
        }
    }
    total
}

/// Mean number of packets of `payload` bytes: the sum of the probabilities of more than `n`
/// packets, the first ones as they are and the rest by Euler and Maclaurin.
pub(super) fn mean_packets(law: &Parametric, payload: f64) -> f64 {
    const SUMMED: u32 = 4096;
    let above = |packets: u32| law.above(f64::from(packets) * payload);
    let summed: f64 = (0..SUMMED).map(above).sum();
    let from = f64::from(SUMMED) * payload;
    let left = law.moments_up_to(f64::INFINITY).first
        - law.moments_up_to(from).first
        - from * law.above(from);
    summed + left / payload + above(SUMMED) / 2.0 + payload * law.density(from) / 12.0
}
