//! What is left out cannot be better.

use proptest::prelude::*;

use super::*;
use crate::shortest_path::tests::{ByFactors, by_factors};

/// The ways with one level.
fn first_ways(search: &Search<'_, ByFactors>) -> Ways {
    let way = |to| if to == 0 { f64::INFINITY } else { search.costs.cost(0, to) };
    let costs: Vec<f64> = (0..=search.costs.last()).map(way).collect();
    let dips = search.for_blocks(|block| {
        let (low, high) = search.places(block);
        vec![dip(&costs[low..=high])]
    });
    Ways { costs, dips }
}

proptest! {
    #[test]
    fn bounds_are_no_higher_than_what_they_bound(costs in by_factors(), at in 0.0f64..1.0) {
        prop_assume!(costs.last() > 3);
        let search = Search::new(&costs);
        let ways = first_ways(&search);
        let first = 2 + ((costs.last() - 2) as f64 * at) as usize;
        let last = (first + GROUP).min(costs.last() + 1) - 1;
        let guess = 1 + ((first - 2) as f64 * at) as usize;
        let group = search.group(first, last, guess);
        let mut factors = vec![0.0; costs.factors()];
        let way = |place: usize, end: usize| ways.costs[place] + costs.cost(place, end);
        for place in 1..first {
            let bound = search.above_guess(&ways, &group, place, &mut factors);
            for end in first..=last {
                let above = way(place, end) - way(guess, end);
                prop_assert!(bound <= above + 1e-10, "{bound} for {above}, {place} to {end}");
            }
        }
        for height in 0..search.heights() {
            for index in 0..=costs.last() / (WIDTH << height) {
                let (low, high) = search.places(Block { height, index });
                if low > high || high >= first {
                    continue;
                }
                let dip = search.dip(&ways, last, Block { height, index }, &mut factors);
                for end in first..=last {
                    let ends = way(low, end).min(way(high, end));
                    let least = (low..=high).map(|place| way(place, end)).fold(ends, f64::min);
                    prop_assert!(ends + dip <= least + 1e-10, "{ends} and {dip} for {least}");
                }
            }
        }
    }
}
