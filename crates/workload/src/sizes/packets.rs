//! A table whose sizes are drawn as whole packets: the nearest number of full packets.
//!
//! Rounding to the nearest keeps the mean, and at every whole number of packets `a` also
//! `E[min(size, a)]`: the distribution function of the rounded size is the table's, taken half a
//! packet further, and a linear function's mean over a packet is its value in the middle. (The
//! PIAS authors' simulator rounds up, which makes the mean size up to half a packet more than
//! the published one.)

use flowsched_units::PACKET_PAYLOAD;

use super::quadrature;
use super::table::{Piece, Table};

const PACKET: f64 = PACKET_PAYLOAD as f64;

/// From this size on, sums over packets are taken as integrals (midpoint rule): the error is
/// less than 1e-8 of the sum for functions that behave like a power of the size.
const SUMMED_PACKETS: f64 = 4096.0;

/// A table at whole packets, from one packet on.
#[derive(Clone, Debug)]
pub(super) struct Packets(Table);

impl Packets {
    /// A table in whole packets. `None` unless all its points are at whole packets, from 1 on.
    pub(super) fn new(table: Table) -> Option<Packets> {
        let whole = |size: f64| size >= PACKET && size % PACKET == 0.0;
        table.points().iter().all(|point| whole(point.size)).then_some(Packets(table))
    }

    pub(super) fn table(&self) -> &Table {
        &self.0
    }

    pub(super) fn cdf(&self, size: f64) -> f64 {
        self.0.below(((size / PACKET).floor() + 0.5) * PACKET)
    }

    pub(super) fn below(&self, size: f64) -> f64 {
        self.0.below(((size / PACKET).ceil() - 0.5) * PACKET)
    }

    pub(super) fn quantile(&self, p: f64) -> f64 {
        (self.0.quantile(p) / PACKET + 0.5).floor() * PACKET
    }

    pub(super) fn partial_mean(&self, size: f64) -> f64 {
        let size = size.min(self.0.max());
        let whole = (size / PACKET).floor() * PACKET;
        let up_to = self.0.moments_up_to(whole);
        let more = (size - whole) * (1.0 - self.cdf(whole));
        up_to.first + whole * (1.0 - up_to.mass) + more
    }

    pub(super) fn partial_second_moment(&self, size: f64) -> f64 {
        let size = size.min(self.0.max());
        let whole = (size / PACKET).floor() * PACKET;
        let up_to = self.0.moments_up_to(whole);
        // The midpoint rule's error on `t * (1 - cdf)`, where the distribution is spread.
        let rounding = PACKET * PACKET / 6.0 * self.0.spread_up_to(whole);
        let more = (size * size - whole * whole) * (1.0 - self.cdf(whole));
        up_to.second + whole * whole * (1.0 - up_to.mass) + rounding + more
    }

    /// The expectation of `values` over sizes in `(from, to]`.
    pub(super) fn expectations<const N: usize>(
        &self,
        from: f64,
        to: f64,
        values: impl Fn(f64) -> [f64; N],
    ) -> [f64; N] {
        let (first, last) = ((from / PACKET).floor() + 1.0, (to / PACKET).floor());
        let mut total = [0.0; N];
        let pieces = self.0.pieces_within((first - 1.0) * PACKET, (last + 1.0) * PACKET);
        for piece in pieces {
            let part = piece_sum(piece, first, last, &values);
            for (total, part) in total.iter_mut().zip(part) {
                *total += part;
            }
        }
        total
    }
}

/// What `piece` adds to the sum over `first..=last` packets: every packet in it weighs the same,
/// those at its ends half as much.
fn piece_sum<const N: usize>(
    piece: Piece,
    first: f64,
    last: f64,
    values: &impl Fn(f64) -> [f64; N],
) -> [f64; N] {
    let (from, to) = (piece.from / PACKET, piece.to / PACKET);
    let mut total = [0.0; N];
    let mut add = |weight: f64, values: [f64; N]| {
        for (total, value) in total.iter_mut().zip(values) {
            *total += weight * value;
        }
    };
    let end_mass = if piece.is_atom() { piece.mass } else { piece.mass / (to - from) / 2.0 };
    if (first..=last).contains(&from) {
        add(end_mass, values(piece.from));
    }
    if piece.is_atom() {
        return total;
    }
    if (first..=last).contains(&to) {
        add(end_mass, values(piece.to));
    }
    let (mut packet, end) = (first.max(from + 1.0), last.min(to - 1.0));
    while packet <= end && packet < SUMMED_PACKETS {
        add(2.0 * end_mass, values(packet * PACKET));
        packet += 1.0;
    }
    if packet <= end {
        let sum = quadrature::smooth(packet - 0.5, end + 0.5, |packet| values(packet * PACKET));
        add(2.0 * end_mass, sum);
    }
    total
}
