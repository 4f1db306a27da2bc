//! Multilevel queues. Flows fall from level to level as they are served, and levels have strict
//! priority (foreground-background between levels). Inside a level, flows are served in the order
//! of their arrival there (FCFS) or share it (PS).
//!
//! Kleinrock, *Queueing Systems* volume 2, section 4.7; Aalto and Ayesta, *Mean delay analysis
//! of multi level processor sharing disciplines*, INFOCOM 2006.

use crate::mg1::Mg1;

/// The index of the level of `size`, and where this level begins and ends, in bytes.
fn level(thresholds: &[f64], size: f64) -> (usize, f64, f64) {
    let index = thresholds.partition_point(|threshold| *threshold < size);
    let from = if index == 0 { 0.0 } else { thresholds[index - 1] };
    (index, from, thresholds.get(index).copied().unwrap_or(f64::INFINITY))
}

/// Levels with FCFS inside.
#[derive(Clone, Debug)]
pub struct MultilevelFcfs<'a> {
    queue: Mg1<'a>,
    thresholds: Vec<f64>,
}

impl<'a> MultilevelFcfs<'a> {
    /// Levels with these rising thresholds in bytes.
    pub fn new(queue: Mg1<'a>, thresholds: &[f64]) -> MultilevelFcfs<'a> {
        MultilevelFcfs { queue, thresholds: thresholds.to_vec() }
    }

    /// The mean response time of a flow of `size`.
    pub fn response(&self, size: f64) -> f64 {
        let (_, from, to) = level(&self.thresholds, size);
        let queue = &self.queue;
        (queue.work_truncated_at(to) + size) / (1.0 - queue.load_truncated_at(from))
    }

    /// The mean over all flows.
    pub fn mean(&self) -> f64 {
        mean(&self.queue, &self.thresholds, |size| self.response(size))
    }
}

/// Levels with processor sharing inside, by numerical solution of Kleinrock's integral equation:
/// exact but for its discretisation (a few tenths of a percent at most).
#[derive(Clone, Debug)]
pub struct MultilevelPs<'a> {
    queue: Mg1<'a>,
    thresholds: Vec<f64>,
    levels: Vec<SharedLevel>,
}

impl<'a> MultilevelPs<'a> {
    /// Levels with these rising thresholds in bytes.
    pub fn new(queue: Mg1<'a>, thresholds: &[f64]) -> MultilevelPs<'a> {
        let ends = thresholds.iter().copied().chain([f64::INFINITY]);
        let starts = [0.0].into_iter().chain(thresholds.iter().copied());
        let levels = starts.zip(ends).map(|(a, b)| SharedLevel::solve(&queue, a, b)).collect();
        MultilevelPs { queue, thresholds: thresholds.to_vec(), levels }
    }

    /// The mean response time of a flow of `size`.
    pub fn response(&self, size: f64) -> f64 {
        let (index, from, _) = level(&self.thresholds, size);
        let idle = 1.0 - self.queue.load_truncated_at(from);
        let entered = (self.queue.work_truncated_at(from) + from) / idle;
        entered + self.levels[index].response(size - from) / idle
    }

    /// The mean over all flows.
    pub fn mean(&self) -> f64 {
        mean(&self.queue, &self.thresholds, |size| self.response(size))
    }
}

/// The mean of `response`, which may jump at the thresholds.
fn mean(queue: &Mg1, thresholds: &[f64], response: impl Fn(f64) -> f64) -> f64 {
    let ends = thresholds.iter().copied().chain([f64::INFINITY]);
    let mut from = 0.0;
    let mut total = 0.0;
    for to in ends {
        let [part] = queue.sizes.expectations(from, to, |size| [response(size)]);
        total += part;
        from = to;
    }
    total
}

/// One level, in the time that the levels above leave to it. It is a processor-sharing queue whose
/// flows come in batches, those of one busy period of the levels above.
///
/// Let `h(y)` be what one other flow of the same batch adds to the time to be served `y`, and
/// `y / (1 - load)` the time without any. The integral equation of Kleinrock for batch arrivals
/// then says `h'(y) = rate (int h'(u) tail(y + u) du + int_0^y h'(u) tail(y - u) du) +
/// tail(y)`, where `tail` is the probability that a flow's service here is longer.
#[derive(Clone, Debug)]
struct SharedLevel {
    load: f64,
    others_in_batch: f64,
    /// Ends of the cells over which `h'` is taken as constant, and its values there.
    cells: Vec<(f64, f64)>,
}

impl SharedLevel {
    fn solve(queue: &Mg1, from: f64, to: f64) -> SharedLevel {
        let sizes = queue.sizes;
        let to = to.min(sizes.quantile(1.0 - 1e-13));
        let reach = 1.0 - sizes.cdf(from);
        let idle = 1.0 - queue.load_truncated_at(from);
        if from == 0.0 || to <= from || reach <= 0.0 {
            // There is no level above, thus no batches, or no flow comes here.
            let load = queue.load_truncated_at(to.max(from));
            return SharedLevel { load, others_in_batch: 0.0, cells: Vec::new() };
        }
        let entered = (queue.work_truncated_at(from) + from) / idle;
        let rate = queue.arrival_rate() * reach / idle;
        // The integral of the tail from 0.
        let base = sizes.partial_mean(from);
        let length = to - from;
        let tail_sum = |y: f64| (sizes.partial_mean(from + y.clamp(0.0, length)) - base) / reach;
        let tail = |y: f64| (1.0 - sizes.cdf(from + y)) / reach;
        let ends = SharedLevel::grid(queue, from, length);
        let slopes = SharedLevel::slopes(&ends, rate, tail_sum, tail);
        SharedLevel {
            load: rate * tail_sum(length),
            others_in_batch: 2.0 * queue.arrival_rate() * reach * entered,
            cells: ends.into_iter().zip(slopes).collect(),
        }
    }

    /// The ends of cells. Cells are small where the level begins, and are cut at the distribution's
    /// points.
    fn grid(queue: &Mg1, from: f64, length: f64) -> Vec<f64> {
        const CELLS: i32 = 160;
        let grown = (0..=CELLS).map(|i| length * libm::pow(1e-4, 1.0 - f64::from(i) / 160.0));
        let knots = queue.sizes.knots();
        let few = if knots.len() < 40 { knots } else { Vec::new() };
        let inside = few.into_iter().map(|knot| knot - from).filter(|y| *y > 0.0 && *y < length);
        let mut ends: Vec<f64> = grown.chain(inside).collect();
        ends.sort_by(f64::total_cmp);
        ends.dedup_by(|next, end| *next - *end < length * 1e-9);
        ends
    }

    /// Solves for `h'` in the middle of every cell.
    fn slopes(
        ends: &[f64],
        rate: f64,
        tail_sum: impl Fn(f64) -> f64,
        tail: impl Fn(f64) -> f64,
    ) -> Vec<f64> {
        let starts = || [0.0].into_iter().chain(ends.iter().copied());
        let rows = starts().zip(ends).map(|(start, end)| {
            let y = (start + end) / 2.0;
            let weight = |(from, to): (f64, f64)| {
                let later = tail_sum(y + to) - tail_sum(y + from);
                let earlier = tail_sum(y - from) - tail_sum(y - to);
                -rate * (later + earlier)
            };
            let mut row: Vec<f64> = starts().zip(ends.iter().copied()).map(weight).collect();
            row.push(tail(y));
            row
        });
        let mut rows: Vec<Vec<f64>> = rows.collect();
        for (index, row) in rows.iter_mut().enumerate() {
            row[index] += 1.0;
        }
        solve(rows)
    }

    /// The time to be served `y` here, counted while the levels above are empty.
    fn response(&self, y: f64) -> f64 {
        let mut added = 0.0;
        let mut start = 0.0;
        for (end, slope) in &self.cells {
            added += slope * (y.min(*end) - start).max(0.0);
            start = *end;
        }
        y / (1.0 - self.load) + self.others_in_batch * added
    }
}

/// Gaussian elimination. Each row has its right-hand side at the end. The matrix is the identity
/// minus a matrix with row sums under 1, so that no pivoting is needed.
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for pivot in 0..n {
        let (done, rest) = rows.split_at_mut(pivot + 1);
        let pivot_row = &done[pivot];
        for row in rest {
            let factor = row[pivot] / pivot_row[pivot];
            for column in pivot..=n {
                row[column] -= factor * pivot_row[column];
            }
        }
    }
    let mut solution = vec![0.0; n];
    for index in (0..n).rev() {
        let known: f64 = (index + 1..n).map(|column| rows[index][column] * solution[column]).sum();
        solution[index] = (rows[index][n] - known) / rows[index][index];
    }
    solution
}

#[cfg(test)]
mod tests;
