//! The next event among links that each have at most one: a tournament.

use flowsched_units::Time;

/// The events of all links, first the earliest and of those at the same time the lowest link's.
///
/// A complete binary tree whose leaves are the links; every inner node names the link that is
/// first of those below it. A change is played against one sibling a level: which siblings
/// these are depends on the link alone, so that their times are at hand before they are needed,
/// and there is no branch to guess.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// By link: the time of its event in picoseconds, plus one, or [`NEVER`].
    keys: Vec<u64>,
    /// By node, the root being 1 and the children of i being 2i and 2i + 1.
    winners: Vec<u32>,
}

const NEVER: u64 = u64::MAX;

impl Tournament {
    /// So many links, none of which has an event.
    pub(crate) fn new(links: usize) -> Tournament {
        let leaves = links.next_power_of_two().max(2);
        let mut winners = vec![0; 2 * leaves];
        for (link, winner) in winners[leaves..].iter_mut().enumerate() {
            *winner = link as u32;
        }
        for node in (1..leaves).rev() {
            winners[node] = winners[2 * node];
        }
        Tournament { keys: vec![NEVER; leaves], winners }
    }

    /// The first event: its time and its link.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Time, usize)> {
        let link = self.winners[1] as usize;
        let key = self.keys[link];
        (key != NEVER).then(|| (Time::from_ps(key - 1), link))
    }

    /// Puts another event of the same link in the place of the first one; `None`: it has none.
    #[inline]
    pub(crate) fn replace_first(&mut self, time: Option<Time>) {
        // Both lengths are powers of two: masks cost less than bounds checks.
        let (keys, winners) = (&mut self.keys[..], &mut self.winners[..]);
        let (key_mask, node_mask) = (keys.len() - 1, winners.len() - 1);
        let mut winner = winners[1];
        let mut key = key_of(time);
        let mut node = keys.len() + winner as usize;
        keys[winner as usize & key_mask] = key;
        while node > 1 {
            let rival = winners[(node ^ 1) & node_mask];
            let rival_key = keys[rival as usize & key_mask];
            // The left one of two, whose links have lower numbers, wins when they are equal.
            let is_left = node as u64 & 1;
            let loses = rival_key - is_left < key;
            winner = std::hint::select_unpredictable(loses, rival, winner);
            key = std::hint::select_unpredictable(loses, rival_key, key);
            node /= 2;
            winners[node & node_mask] = winner;
        }
    }

    /// Adds the event of a link that has none.
    #[inline]
    pub(crate) fn add(&mut self, link: usize, time: Time) {
        let key = key_of(Some(time));
        self.keys[link] = key;
        let mut node = self.keys.len() + link;
        while node > 1 {
            let is_left = node as u64 & 1;
            if self.keys[self.winners[node ^ 1] as usize] - is_left < key {
                break;
            }
            node /= 2;
            self.winners[node] = link as u32;
        }
    }
}

#[inline]
fn key_of(time: Option<Time>) -> u64 {
    time.map_or(NEVER, |time| time.as_ps().saturating_add(1).min(NEVER - 1))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_earliest_is_first_and_of_equals_the_lowest_link(
            links in 1usize..70,
            steps in prop::collection::vec((0usize..70, 0u64..20, any::<bool>(), any::<bool>()), 0..300),
        ) {
            let mut tournament = Tournament::new(links);
            let mut model = BTreeSet::new();
            for (link, ps, add, replace) in steps {
                let time = Time::from_ps(ps);
                let is_free = !model.iter().any(|(_, other)| *other == link % links);
                if add && is_free {
                    tournament.add(link % links, time);
                    model.insert((time, link % links));
                } else if let Some((_, first)) = model.pop_first() {
                    tournament.replace_first(replace.then_some(time));
                    if replace {
                        model.insert((time, first));
                    }
                }
                prop_assert_eq!(tournament.first(), model.first().copied());
            }
        }
    }
}
