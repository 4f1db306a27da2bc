//! The next event among links that each have at most one: a tournament.

use flowsched_units::Time;

/// The events of all links, first the earliest and of those at the same time the lowest link's.
///
/// A complete tree of four children a node whose leaves are the links; every inner node has the
/// first event of those below it. An event is one number, its time before its link, so that a
/// match is a minimum. A change is played against three siblings a level: which these are
/// depends on the link alone, so that they are at hand before they are needed, and there is no
/// branch to guess.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// By node, the root being 1 and the children of i being 4i to 4i + 3: picoseconds since
    /// `base`, then the link in the lowest `link_bits`; or [`NEVER`].
    keys: Vec<u64>,
    link_bits: u32,
    base: Time,
}

const NEVER: u64 = u64::MAX;

impl Tournament {
    /// So many links, none of which has an event.
    pub(crate) fn new(links: usize) -> Tournament {
        let levels = links.next_power_of_two().max(2).ilog2().div_ceil(2);
        let link_bits = 2 * levels;
        Tournament { keys: vec![NEVER; 2 << link_bits], link_bits, base: Time::ZERO }
    }

    /// The first event: its time and its link.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Time, usize)> {
        let key = self.keys[1];
        (key != NEVER).then(|| (self.time_of(key), self.link_of(key)))
    }

    #[inline]
    fn time_of(&self, key: u64) -> Time {
        self.base + Time::from_ps(key >> self.link_bits)
    }

    #[inline]
    fn link_of(&self, key: u64) -> usize {
        key as usize & (self.keys.len() / 2 - 1)
    }

    /// Puts another event of the same link in the place of the first one, which is now; `None`:
    /// it has none.
    #[inline]
    pub(crate) fn replace_first(&mut self, time: Option<Time>, now: Time) {
        let link = self.link_of(self.keys[1]);
        let mut key = time.map_or(NEVER, |time| self.key_of(link, time, now));
        // The length is a power of two: a mask costs less than bounds checks.
        let keys = &mut self.keys[..];
        let mask = keys.len() - 1;
        let mut node = keys.len() / 2 + link;
        keys[node & mask] = key;
        while node > 1 {
            key = key.min(best_sibling(keys, mask, node));
            node /= 4;
            keys[node & mask] = key;
        }
    }

    /// Adds the event of a link that has none.
    #[inline]
    pub(crate) fn add(&mut self, link: usize, time: Time, now: Time) {
        let key = self.key_of(link, time, now);
        let keys = &mut self.keys[..];
        let mask = keys.len() - 1;
        let mut node = keys.len() / 2 + link;
        keys[node & mask] = key;
        while node > 1 && key < best_sibling(keys, mask, node) {
            node /= 4;
            keys[node & mask] = key;
        }
    }

    #[inline]
    fn key_of(&mut self, link: usize, time: Time, now: Time) -> u64 {
        let mut ahead = (time - self.base).as_ps();
        if ahead >> (u64::BITS - 1 - self.link_bits) != 0 {
            self.count_from(now);
            ahead = (time - self.base).as_ps();
        }
        (ahead << self.link_bits) | link as u64
    }

    /// Counts from `now` on, before which nothing can happen. Every link delivers a packet within
    /// seconds ([`flowsched_topology`] sees to that), so that what is to come fits again.
    #[cold]
    fn count_from(&mut self, now: Time) {
        let passed = (now - self.base).as_ps() << self.link_bits;
        for key in self.keys.iter_mut().filter(|key| **key != NEVER) {
            *key -= passed;
        }
        self.base = now;
    }
}

#[inline]
fn best_sibling(keys: &[u64], mask: usize, node: usize) -> u64 {
    keys[(node ^ 1) & mask].min(keys[(node ^ 2) & mask]).min(keys[(node ^ 3) & mask])
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
                let now = model.first().map_or(Time::ZERO, |(time, _)| *time);
                let time = now + Time::from_ps(ps);
                let is_free = !model.iter().any(|(_, other)| *other == link % links);
                if add && is_free {
                    tournament.add(link % links, time, now);
                    model.insert((time, link % links));
                } else if let Some((_, first)) = model.pop_first() {
                    tournament.replace_first(replace.then_some(time), now);
                    if replace {
                        model.insert((time, first));
                    }
                }
                prop_assert_eq!(tournament.first(), model.first().copied());
            }
        }
    }

    #[test]
    fn time_goes_on_beyond_what_a_number_holds() {
        // 20 bits of link leave 43 of time: 8.8 seconds.
        let mut tournament = Tournament::new(1 << 20);
        let mut model = BTreeSet::new();
        for link in 0..3 {
            tournament.add(link, Time::from_ms(link as u64), Time::ZERO);
            model.insert((Time::from_ms(link as u64), link));
        }
        for step in 0..200 {
            let (now, link) = model.pop_first().unwrap();
            assert_eq!(tournament.first(), Some((now, link)));
            let next = now + Time::from_ms(700 + (step * 37) % 900);
            tournament.replace_first(Some(next), now);
            model.insert((next, link));
        }
        for (now, _) in &model {
            tournament.replace_first(None, *now);
        }
        let much_later = Time::from_ms(1_000_000);
        tournament.add(7, much_later, much_later);
        assert_eq!(tournament.first(), Some((much_later, 7)), "after a time with nothing to do");
        assert!(model.first().unwrap().0 > Time::from_ms(40_000));
    }
}
