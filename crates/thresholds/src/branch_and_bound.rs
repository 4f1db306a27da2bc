//! Finds the best beginnings of last levels by branch and bound: blocks of beginnings are left out
//! for groups of neighbouring ends at once.
//!
//! For a given end, the cost up to it is a sum of factors that change with the beginning. Over a
//! block, each factor is nowhere lower than the straight line between its values at the two
//! ends of the block, less its largest *dip* below that line. Thus the sum is nowhere lower than
//! the lower of its two ends, less the weighted sum of the dips. For smooth factors dips shrink
//! with the square of the block's width, so that few blocks remain.

use std::ops::Range;

use crate::level_costs::{LevelCosts, Step};

/// The width of the smallest blocks, in steps from the first place to the last. Neighbouring blocks
/// share a place.
const WIDTH: usize = 8;

/// The number of ends in a group.
const GROUP: usize = 16;

/// The number of beginnings that are compared together.
const CHUNK: usize = 64;

/// A block: how often the smallest width is doubled to give its width, and its index among blocks
/// of this width.
#[derive(Clone, Copy, Debug)]
struct Block {
    height: usize,
    index: usize,
}

/// Values of each block, by height.
type ByBlock = Vec<Vec<f64>>;

/// The factors of all beginnings, and how far they dip.
#[derive(Debug)]
pub(crate) struct Search<'a, C> {
    costs: &'a C,
    factors: usize,
    by_factor: Vec<f64>,
    factor_dips: ByBlock,
}

/// The cheapest ways to all beginnings, and how far they dip.
struct Ways {
    costs: Vec<f64>,
    dips: ByBlock,
}

/// A group of ends, and a beginning that is good for them.
struct Group {
    first: usize,
    last: usize,
    guess: usize,
    /// The factors of the guess, and of the first and the last end, counted from the guess.
    begin: Vec<f64>,
    first_end: Vec<f64>,
    last_end: Vec<f64>,
    /// For each factor, the largest distance of the ends in between from the straight line from the
    /// first end to the last.
    off_line: Vec<f64>,
}

impl<'a, C: LevelCosts> Search<'a, C> {
    /// Computes what is the same for all layers.
    pub(crate) fn new(costs: &'a C) -> Search<'a, C> {
        let (factors, last) = (costs.factors(), costs.last());
        let mut by_factor = vec![0.0; factors * last];
        let mut row = vec![0.0; factors];
        for place in 0..last {
            costs.begin(0, place, &mut row);
            for (factor, value) in row.iter().enumerate() {
                by_factor[factor * last + place] = *value;
            }
        }
        let mut search = Search { costs, factors, by_factor, factor_dips: ByBlock::new() };
        search.factor_dips = search.for_blocks(|block| search.dips_of_factors(block));
        search
    }

    /// The cheapest ways to all places with one level more than `before`.
    pub(crate) fn one_more_level(&self, before: &[Step]) -> Vec<Step> {
        let costs: Vec<f64> = before.iter().map(|step| step.cost).collect();
        let dips = self.for_blocks(|block| {
            let (low, high) = self.places(block);
            vec![dip(&costs[low..=high])]
        });
        let ways = Ways { costs, dips };
        let mut layer = vec![Step::NONE; before.len()];
        for first in (2..before.len()).step_by(GROUP) {
            let last = (first + GROUP).min(before.len()) - 1;
            // The best beginning moves little from one end to the next.
            let guess = layer[first - 1].from.clamp(1, first - 1);
            let worth_trying = self.worth_trying(&ways, &self.group(first, last, guess));
            for (end, step) in (first..=last).zip(&mut layer[first..=last]) {
                let from = self.best_of(&ways, end, guess, &worth_trying);
                *step = Step { cost: ways.costs[from] + self.costs.cost(from, end), from };
            }
        }
        layer
    }

    fn group(&self, first: usize, last: usize, guess: usize) -> Group {
        let end = |place: usize| {
            let mut factors = vec![0.0; self.factors];
            self.costs.end(guess, place, &mut factors);
            factors
        };
        let mut begin = vec![0.0; self.factors];
        self.costs.begin(guess, guess, &mut begin);
        let (first_end, last_end) = (end(first), end(last));
        let mut off_line = vec![0.0; self.factors];
        for place in first + 1..last {
            let between = end(place);
            let whole = last_end[0] - first_end[0];
            let part = if whole > 0.0 { (between[0] - first_end[0]) / whole } else { 0.0 };
            for factor in 0..self.factors {
                let line = first_end[factor] + part * (last_end[factor] - first_end[factor]);
                off_line[factor] = f64::max(off_line[factor], (between[factor] - line).abs());
            }
        }
        Group { first, last, guess, begin, first_end, last_end, off_line }
    }

    /// The beginnings that may be better than the guess for an end of the group.
    fn worth_trying(&self, ways: &Ways, group: &Group) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        let mut open = vec![Block { height: self.heights() - 1, index: 0 }];
        let mut factors = vec![0.0; self.factors];
        while let Some(block) = open.pop() {
            let (low, high) = self.places(block);
            if low > high || low >= group.last {
                continue;
            }
            if high < group.first {
                let ends = self.above_guess(ways, group, low, &mut factors).min(self.above_guess(
                    ways,
                    group,
                    high,
                    &mut factors,
                ));
                if ends + self.dip(ways, group.last, block, &mut factors) > 0.0 {
                    continue;
                }
            }
            if let Some(height) = block.height.checked_sub(1) {
                // The first half is pushed last, so that it comes next.
                open.extend([1, 0].map(|half| Block { height, index: 2 * block.index + half }));
                continue;
            }
            match found.last_mut() {
                Some(range) if range.end >= low => range.end = high + 1,
                _ => found.push(low..high + 1),
            }
        }
        found
    }

    /// How much more the way over `place` costs than the way over the guess, at the least, for any
    /// end of the group.
    fn above_guess(&self, ways: &Ways, group: &Group, place: usize, factors: &mut [f64]) -> f64 {
        self.costs.begin(group.guess, place, factors);
        let (mut first, mut last, mut off_line) = (0.0, 0.0, 0.0);
        for (factor, (begin, guess)) in factors.iter().zip(&group.begin).enumerate() {
            let more = begin - guess;
            first += more * group.first_end[factor];
            last += more * group.last_end[factor];
            off_line += more.abs() * group.off_line[factor];
        }
        ways.costs[place] - ways.costs[group.guess] + f64::min(first, last) - off_line
    }

    /// How far the cost over a block may be below the lower of its two ends, as a negative number.
    /// This holds for levels that end at `end` or before, where factors are no higher.
    fn dip(&self, ways: &Ways, end: usize, block: Block, factors: &mut [f64]) -> f64 {
        let (low, _) = self.places(block);
        self.costs.end(low, end, factors);
        let dips = &self.factor_dips[block.height][block.index * self.factors..];
        let product: f64 = dips.iter().zip(factors).map(|(dip, factor)| dip * *factor).sum();
        ways.dips[block.height][block.index] + product
    }

    /// The beginning of the cheapest way to `end`: the guess, or one of `worth_trying`.
    fn best_of(
        &self,
        ways: &Ways,
        end: usize,
        guess: usize,
        worth_trying: &[Range<usize>],
    ) -> usize {
        let mut factors = vec![0.0; self.factors];
        self.costs.end(0, end, &mut factors);
        let mut best = (f64::INFINITY, guess);
        for range in worth_trying {
            let mut places = range.start..range.end.min(end);
            while !places.is_empty() {
                let some = places.start..places.end.min(places.start + CHUNK);
                places.start = some.end;
                self.best_of_some(ways, &factors, some, &mut best);
            }
        }
        best.1
    }

    /// Looks for a cheaper way than `best` over a few neighbouring places, with vector
    /// instructions.
    fn best_of_some(
        &self,
        ways: &Ways,
        end: &[f64],
        places: Range<usize>,
        best: &mut (f64, usize),
    ) {
        let mut values = [0.0; CHUNK];
        let values = &mut values[..places.len()];
        values.copy_from_slice(&ways.costs[places.clone()]);
        for (column, factor) in self.by_factor.chunks(self.costs.last()).zip(end) {
            if *factor != 0.0 {
                for (value, begin) in values.iter_mut().zip(&column[places.clone()]) {
                    *value += begin * factor;
                }
            }
        }
        for (value, place) in values.iter().zip(places) {
            if *value < best.0 {
                *best = (*value, place);
            }
        }
    }

    /// The first and the last place of a block. Only the first level begins at place 0, and no
    /// level begins at the last place.
    fn places(&self, block: Block) -> (usize, usize) {
        let width = WIDTH << block.height;
        let last = self.costs.last() - 1;
        ((block.index * width).max(1), ((block.index + 1) * width).min(last))
    }

    /// The number of heights: the width of blocks doubles until one block has all places.
    fn heights(&self) -> usize {
        self.costs.last().div_ceil(WIDTH).next_power_of_two().ilog2() as usize + 1
    }

    /// The `values` of all blocks, by height. Those of the blocks of one height are next to each
    /// other.
    fn for_blocks(&self, values: impl Fn(Block) -> Vec<f64>) -> ByBlock {
        let of_height = |height| {
            let blocks = (0..).map(move |index| Block { height, index });
            let within = |block: &Block| self.places(*block).0 <= self.places(*block).1;
            blocks.take_while(within).flat_map(&values).collect()
        };
        (0..self.heights()).map(of_height).collect()
    }

    /// The dips of the factors of a block, relative to its beginning.
    fn dips_of_factors(&self, block: Block) -> Vec<f64> {
        let (low, high) = self.places(block);
        let width = high + 1 - low;
        let mut factors = vec![0.0; self.factors];
        let mut columns = vec![0.0; self.factors * width];
        for place in low..=high {
            self.costs.begin(low, place, &mut factors);
            for (factor, value) in factors.iter().enumerate() {
                columns[factor * width + place - low] = *value;
            }
        }
        columns.chunks(width).map(dip).collect()
    }
}

/// The largest dip of `values` below the straight line from the first to the last, as a negative
/// number or zero. Negative infinity where the first or the last is infinite.
fn dip(values: &[f64]) -> f64 {
    let (first, last) = (values[0], values[values.len() - 1]);
    if !(first.is_finite() && last.is_finite()) {
        return f64::NEG_INFINITY;
    }
    let slope = (last - first) / values.len().saturating_sub(1).max(1) as f64;
    let below = |(step, value): (usize, &f64)| value - first - slope * step as f64;
    values.iter().enumerate().map(below).fold(0.0, f64::min)
}

#[cfg(test)]
mod tests;
