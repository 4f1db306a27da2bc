//! Expectations over the pieces of a law.

use super::parametric::Parametric;
use super::quadrature::by_packets;
use super::table::Table;

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
