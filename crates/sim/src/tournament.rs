//! Finds the next event among links that each have at most one, with a tournament tree.

use flowsched_units::Time;

/// The events of all links. The earliest comes first, and of those at the same time that of the
/// lowest link.
///
/// The tree is complete and has eight children per node. Its leaves are the links, and every inner
/// node has the first event of those below it. An event is one number, with its time in the high
/// bits and its link in the low ones, so a match is a minimum. A change is compared with seven
/// siblings per level, which share a cache line. The link alone decides which siblings these are,
/// so they are loaded before they are needed, and there is no branch to predict.
///
/// An event that is too far ahead for a number gets the latest time that a number holds. When that
/// time comes, its link has to say when the event is.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// The first event, or [`NEVER`]. An event is its time in picoseconds since `base`, followed by
    /// its link in the lowest `link_bits`.
    first: u64,
    /// The groups of siblings, level by level from the root's children on. The children of child
    /// `c` of group `g` are group `8 * g + c + 1`.
    groups: Vec<Group>,
    /// The index of the group with the first links.
    leaves: usize,
    link_bits: u32,
    base: Time,
}

/// The events of siblings: a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Group([u64; WAYS]);

const WAYS: usize = 8;
const NEVER: u64 = u64::MAX;

impl Tournament {
    /// A tournament of this many links, none of which has an event.
    pub(crate) fn new(links: usize) -> Tournament {
        let (mut leaves, mut width) = (0, 1);
        while width * WAYS < links {
            leaves += width;
            width *= WAYS;
        }
        Tournament {
            first: NEVER,
            groups: vec![Group([NEVER; WAYS]); leaves + width],
            leaves,
            link_bits: (width * WAYS).ilog2(),
            base: Time::ZERO,
        }
    }

    /// The time and the link of the first event, if there is one.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Time, usize)> {
        let key = self.first;
        (key != NEVER).then(|| (self.time_of(key), self.link_of(key)))
    }

    #[inline]
    fn time_of(&self, key: u64) -> Time {
        self.base + Time::from_ps(key >> self.link_bits)
    }

    #[inline]
    fn link_of(&self, key: u64) -> usize {
        key as usize & ((1 << self.link_bits) - 1)
    }

    /// Replaces the first event, which happens `now`, by the next event of its link. Removes it if
    /// `time` is `None`.
    #[inline]
    pub(crate) fn replace_first(&mut self, time: Option<Time>, now: Time) {
        let link = self.link_of(self.first);
        let mut key = time.map_or(NEVER, |time| self.key_of(link, time, now));
        let (mut group, mut child) = self.leaf_of(link);
        loop {
            let Group(keys) = &mut self.groups[group];
            keys[child] = key;
            key = key.min(best_sibling(keys, child));
            if group == 0 {
                break;
            }
            (group, child) = parent_of(group);
        }
        self.first = key;
    }

    /// Adds the event of a link. The link must have no event or this one already: adding an event
    /// again is faster than a check for it, whose result cannot be predicted.
    #[inline]
    pub(crate) fn add(&mut self, link: usize, time: Time, now: Time) {
        let key = self.key_of(link, time, now);
        let (mut group, mut child) = self.leaf_of(link);
        loop {
            self.groups[group].0[child] = key;
            if group == 0 {
                self.first = self.first.min(key);
                break;
            }
            (group, child) = parent_of(group);
            if self.groups[group].0[child] <= key {
                break;
            }
        }
    }

    #[inline]
    fn leaf_of(&self, link: usize) -> (usize, usize) {
        (self.leaves + link / WAYS, link % WAYS)
    }

    #[inline]
    fn key_of(&mut self, link: usize, time: Time, now: Time) -> u64 {
        let mut ahead = (time - self.base).as_ps();
        if ahead >> (u64::BITS - 1 - self.link_bits) != 0 {
            self.count_from(now);
            ahead = (time - self.base).as_ps().min(self.farthest());
        }
        (ahead << self.link_bits) | link as u64
    }

    /// How far after `base` an event can be, in picoseconds.
    fn farthest(&self) -> u64 {
        (1 << (u64::BITS - 1 - self.link_bits)) - 1
    }

    /// Moves `base` to `now`, before which nothing can happen any more.
    #[cold]
    fn count_from(&mut self, now: Time) {
        let passed = (now - self.base).as_ps() << self.link_bits;
        let keys = self.groups.iter_mut().flat_map(|group| &mut group.0).chain([&mut self.first]);
        for key in keys.filter(|key| **key != NEVER) {
            *key -= passed;
        }
        self.base = now;
    }
}

/// The place of a group's first event in the group above. The group must not be the first one.
#[inline]
fn parent_of(group: usize) -> (usize, usize) {
    ((group - 1) / WAYS, (group - 1) % WAYS)
}

#[inline]
fn best_sibling(keys: &[u64; WAYS], child: usize) -> u64 {
    let sibling = |distance: usize| keys[(child ^ distance) % WAYS];
    let near = sibling(1).min(sibling(2)).min(sibling(3));
    let far = sibling(4).min(sibling(5)).min(sibling(6).min(sibling(7)));
    near.min(far)
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
    fn what_is_too_far_ahead_comes_early_and_is_put_off() {
        let mut tournament = Tournament::new(1 << 20);
        let (soon, late) = (Time::from_ms(20_000), Time::from_ms(60_000));
        tournament.add(3, late, Time::ZERO);
        tournament.add(4, soon, Time::ZERO);
        let mut events = Vec::new();
        while let Some((now, link)) = tournament.first() {
            let due = if link == 3 { late } else { soon };
            let is_due = now >= due;
            if is_due {
                events.push((now, link));
            }
            tournament.replace_first((!is_due).then_some(due), now);
        }
        assert_eq!(events, [(soon, 4), (late, 3)]);
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
