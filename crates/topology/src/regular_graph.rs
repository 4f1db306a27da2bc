//! Random regular graphs, as Jellyfish builds them.

use std::collections::BTreeSet;

use rand::Rng;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The largest number of graphs that are drawn until one is connected.
const ATTEMPTS: u64 = 1_000;

/// The edges of a connected graph of `nodes` nodes with `degree` edges each, which has no loop and
/// no edge twice. `None` if no such graph was found. The same seed gives the same graph.
pub(crate) fn random_regular(nodes: u32, degree: u32, seed: u64) -> Option<Vec<(u32, u32)>> {
    (0..ATTEMPTS).find_map(|attempt| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(attempt);
        let mut graph = Graph::new(nodes, degree);
        graph.join_at_random(&mut random);
        (graph.fill_what_is_left(&mut random) && graph.is_connected()).then(|| graph.edges())
    })
}

struct Graph {
    degree: usize,
    neighbours: Vec<BTreeSet<u32>>,
    /// The nodes that have fewer edges than `degree`.
    free: Vec<u32>,
}

impl Graph {
    fn new(nodes: u32, degree: u32) -> Graph {
        let free = if degree == 0 { Vec::new() } else { (0..nodes).collect() };
        Graph { degree: degree as usize, neighbours: vec![BTreeSet::new(); nodes as usize], free }
    }

    /// Joins pairs of free nodes until none is left that can be joined (Jellyfish, NSDI 2012, 4).
    fn join_at_random(&mut self, random: &mut ChaCha8Rng) {
        loop {
            let drawn = (0..64).find_map(|_| {
                let pair = self.draw_two(random)?;
                self.can_join(pair).then_some(pair)
            });
            let Some((one, other)) = drawn.or_else(|| self.any_pair()) else { return };
            self.join(one, other);
        }
    }

    fn draw_two(&self, random: &mut ChaCha8Rng) -> Option<(u32, u32)> {
        let count = self.free.len();
        if count < 2 {
            return None;
        }
        let one = random.random_range(0..count);
        let other = random.random_range(0..count - 1);
        Some((self.free[one], self.free[if other < one { other } else { other + 1 }]))
    }

    fn can_join(&self, (one, other): (u32, u32)) -> bool {
        one != other && !self.neighbours[one as usize].contains(&other)
    }

    fn any_pair(&self) -> Option<(u32, u32)> {
        let pairs = self.free.iter().flat_map(|one| self.free.iter().map(|other| (*one, *other)));
        pairs.into_iter().find(|pair| self.can_join(*pair))
    }

    fn join(&mut self, one: u32, other: u32) {
        for (from, to) in [(one, other), (other, one)] {
            self.neighbours[from as usize].insert(to);
        }
        let full = |node: &u32| self.neighbours[*node as usize].len() == self.degree;
        self.free.retain(|node| !full(node));
    }

    fn part(&mut self, one: u32, other: u32) {
        for (from, to) in [(one, other), (other, one)] {
            self.neighbours[from as usize].remove(&to);
        }
    }

    /// Gives edges of other nodes to the nodes that are still free: replaces an edge between `x`
    /// and `y` by one from `x` to a free node and one from `y` to a free node, maybe the same.
    /// Returns whether all nodes then have their edges.
    fn fill_what_is_left(&mut self, random: &mut ChaCha8Rng) -> bool {
        while let Some(&one) = self.free.first() {
            let lacks_two = self.neighbours[one as usize].len() + 2 <= self.degree;
            let other = if lacks_two { one } else { self.free.get(1).copied().unwrap_or(one) };
            let fits = |(x, y): &(u32, u32)| self.can_join((one, *x)) && self.can_join((other, *y));
            let edges = self.edges().into_iter().flat_map(|(x, y)| [(x, y), (y, x)]);
            let candidates: Vec<(u32, u32)> = edges.filter(fits).collect();
            if candidates.is_empty() || (one == other && !lacks_two) {
                return false;
            }
            let (x, y) = candidates[random.random_range(0..candidates.len())];
            self.part(x, y);
            self.join(one, x);
            self.join(other, y);
        }
        true
    }

    fn is_connected(&self) -> bool {
        let mut seen = vec![false; self.neighbours.len()];
        let mut waiting = vec![0];
        while let Some(node) = waiting.pop() {
            if !std::mem::replace(&mut seen[node as usize], true) {
                waiting.extend(&self.neighbours[node as usize]);
            }
        }
        seen.into_iter().all(|seen| seen)
    }

    /// Every edge once, from the lower node to the higher.
    fn edges(&self) -> Vec<(u32, u32)> {
        let from = |(one, others): (usize, &BTreeSet<u32>)| {
            let one = one as u32;
            others.range(one..).map(move |other| (one, *other)).collect::<Vec<_>>()
        };
        self.neighbours.iter().enumerate().flat_map(from).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn graphs_are_regular_simple_and_the_same_every_time(
            nodes in 3u32..40, degree in 2u32..12, seed: u64,
        ) {
            prop_assume!(degree < nodes && nodes * degree % 2 == 0);
            let edges = random_regular(nodes, degree, seed).unwrap();
            let mut degrees = vec![0; nodes as usize];
            for (one, other) in &edges {
                prop_assert!(one < other);
                degrees[*one as usize] += 1;
                degrees[*other as usize] += 1;
            }
            prop_assert!(degrees.into_iter().all(|found| found == degree));
            let distinct: BTreeSet<_> = edges.iter().collect();
            prop_assert_eq!(distinct.len(), edges.len());
            prop_assert_eq!(random_regular(nodes, degree, seed), Some(edges));
        }
    }
}
