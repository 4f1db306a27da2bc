//! A law of sizes given as points of its cumulative distribution: linear between two points,
//! an atom where a size is repeated.
//!
//! Everything about it has a closed form, kept as running sums at the points.

use super::moments::Moments;

/// One point of a cumulative distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Size in bytes.
    pub size: f64,
    /// Probability of this size or less.
    pub cumulative: f64,
}

impl Point {
    /// A point at `size` bytes.
    pub const fn new(size: f64, cumulative: f64) -> Point {
        Point { size, cumulative }
    }
}

/// A piece of a table: a mass spread evenly over `from..to`, or an atom if they are the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) mass: f64,
}

impl Piece {
    pub(super) fn is_atom(self) -> bool {
        self.from == self.to
    }
}

/// Sums over everything up to a point.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    first: f64,
    second: f64,
    spread: f64,
}

/// A piecewise-linear law with atoms.
#[derive(Clone, Debug)]
pub(super) struct Table {
    points: Vec<Point>,
    sums: Vec<Sums>,
}

impl Table {
    /// A table of points in rising order that end at 1, which the caller has checked. The first
    /// point is an atom if its probability is not 0.
    pub(super) fn new(points: impl IntoIterator<Item = Point>) -> Table {
        let mut kept: Vec<Point> = Vec::new();
        for point in points {
            if kept.is_empty() && point.cumulative > 0.0 {
                kept.push(Point::new(point.size, 0.0));
            }
            if kept.last() != Some(&point) {
                kept.push(point);
            }
        }
        let first_mass = kept.iter().take_while(|point| point.cumulative == 0.0).count();
        kept.drain(..first_mass.saturating_sub(1));
        let mut sums = vec![Sums::default()];
        let mut sum = Sums::default();
        for pair in kept.windows(2) {
            let (from, to) = (pair[0].size, pair[1].size);
            let mass = pair[1].cumulative - pair[0].cumulative;
            sum.first += mass * (from + to) / 2.0;
            sum.second += mass * (from * from + from * to + to * to) / 3.0;
            sum.spread += if from == to { 0.0 } else { mass };
            sums.push(sum);
        }
        Table { points: kept, sums }
    }

    /// All the mass at one size.
    pub(super) fn atom(size: f64) -> Table {
        Table::new([Point::new(size, 1.0)])
    }

    pub(super) fn points(&self) -> &[Point] {
        &self.points
    }

    fn piece(pair: &[Point]) -> Piece {
        let mass = pair[1].cumulative - pair[0].cumulative;
        Piece { from: pair[0].size, to: pair[1].size, mass }
    }

    fn pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        self.points.windows(2).map(Table::piece)
    }

    /// The pieces that have a part in `(from, to]`.
    pub(super) fn pieces_within(&self, from: f64, to: f64) -> impl Iterator<Item = Piece> + '_ {
        let first = self.points.partition_point(|point| point.size <= from).max(1) - 1;
        self.points[first..]
            .windows(2)
            .map(Table::piece)
            .take_while(move |piece| piece.from < to || (piece.is_atom() && piece.from == to))
    }

    pub(super) fn min(&self) -> f64 {
        self.points[0].size
    }

    pub(super) fn max(&self) -> f64 {
        self.points[self.points.len() - 1].size
    }

    /// The last of the points at `size` or below, and how far `size` is on the way from it to the
    /// next one, from 0 to 1.
    fn place(&self, size: f64) -> Option<(usize, f64)> {
        let after = self.points.partition_point(|point| point.size <= size);
        let before = after.checked_sub(1)?;
        let from = self.points[before].size;
        let part = match self.points.get(after) {
            Some(next) => (size - from) / (next.size - from),
            None => 0.0,
        };
        Some((before, part))
    }

    fn between(&self, before: usize, part: f64) -> f64 {
        let from = self.points[before].cumulative;
        match self.points.get(before + 1) {
            Some(next) => from + part * (next.cumulative - from),
            None => from,
        }
    }

    pub(super) fn cdf(&self, size: f64) -> f64 {
        self.place(size).map_or(0.0, |(before, part)| self.between(before, part))
    }

    /// Probability of less than `size`.
    pub(super) fn below(&self, size: f64) -> f64 {
        let at = self.points.partition_point(|point| point.size < size);
        match (at, self.points.get(at)) {
            (0, _) => 0.0,
            (_, None) => 1.0,
            (_, Some(point)) if point.size == size => point.cumulative,
            (_, Some(_)) => self.cdf(size),
        }
    }

    pub(super) fn quantile(&self, p: f64) -> f64 {
        let at = self.points.partition_point(|point| point.cumulative < p);
        match (at, self.points.get(at)) {
            (0, _) => self.min(),
            (_, None) => self.max(),
            (_, Some(to)) => {
                let from = self.points[at - 1];
                let part = (p - from.cumulative) / (to.cumulative - from.cumulative);
                from.size + part * (to.size - from.size)
            }
        }
    }

    /// Moments of the sizes up to `size`.
    pub(super) fn moments_up_to(&self, size: f64) -> Moments {
        let size = size.min(self.max());
        let Some((before, part)) = self.place(size) else {
            return Moments::default();
        };
        let from = self.points[before].size;
        let mass = self.between(before, part) - self.points[before].cumulative;
        let sums = self.sums[before];
        Moments {
            mass: self.points[before].cumulative + mass,
            first: sums.first + mass * (from + size) / 2.0,
            second: sums.second + mass * (from * from + from * size + size * size) / 3.0,
        }
    }

    /// The mass up to `size` that is in no atom.
    pub(super) fn spread_up_to(&self, size: f64) -> f64 {
        let Some((before, part)) = self.place(size) else {
            return 0.0;
        };
        self.sums[before].spread + self.between(before, part) - self.points[before].cumulative
    }

    /// Mean number of packets of `payload` bytes, the last one perhaps not full.
    pub(super) fn mean_packets(&self, payload: f64) -> f64 {
        // The integral of ceil(size / payload) from 0.
        let integral = |size: f64| {
            let full = (size / payload).floor();
            payload * full * (full + 1.0) / 2.0 + (full + 1.0) * (size - full * payload)
        };
        let packets = |piece: Piece| {
            if piece.is_atom() {
                (piece.from / payload).ceil().max(1.0)
            } else {
                (integral(piece.to) - integral(piece.from)) / (piece.to - piece.from)
            }
        };
        self.pieces().map(|piece| piece.mass * packets(piece)).sum()
    }

    pub(super) fn scaled(&self, factor: f64) -> Table {
        Table::new(self.points.iter().map(|p| Point::new(p.size * factor, p.cumulative)))
    }
}
