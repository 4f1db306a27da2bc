//! The next event: a tournament among sources that each have at most one.

use flowsched_units::Time;

/// For each source the time of its next event, and the first of all.
///
/// A complete binary tree whose leaves are the sources; every inner node names the source that
/// is first of those below it. A change is played against one sibling a level: which siblings
/// these are depends on the source alone, so that their times are at hand before they are
/// needed. Of equal times the source of the lowest number wins, which makes the order of events
/// total.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// By source: the time of its event in picoseconds, plus one, or [`NEVER`].
    keys: Vec<u64>,
    /// By node, the root being 1 and the children of i being 2i and 2i + 1.
    winners: Vec<u32>,
}

const NEVER: u64 = u64::MAX;

impl Tournament {
    /// So many sources, none of which has an event.
    pub(crate) fn new(sources: usize) -> Tournament {
        let leaves = sources.next_power_of_two().max(2);
        let mut winners = vec![0; 2 * leaves];
        for (source, winner) in winners[leaves..].iter_mut().enumerate() {
            *winner = source as u32;
        }
        for node in (1..leaves).rev() {
            winners[node] = winners[2 * node];
        }
        Tournament { keys: vec![NEVER; leaves], winners }
    }

    /// Sets the time of the next event of `source`; [`Time::MAX`]: none.
    #[inline]
    pub(crate) fn set(&mut self, source: usize, time: Time) {
        let leaves = self.keys.len();
        let (mut node, mut winner, mut key) = (leaves + source, source as u32, key_of(time));
        self.keys[source] = key;
        while node > 1 {
            let (rival, handicap) = self.rival(node);
            let loses = handicap < key;
            winner = std::hint::select_unpredictable(loses, rival, winner);
            key = std::hint::select_unpredictable(loses, self.keys[rival as usize], key);
            node /= 2;
            self.winners[node] = winner;
        }
    }

    /// Sets the time of the next event of `source`, which had none.
    #[inline]
    pub(crate) fn enter(&mut self, source: usize, time: Time) {
        debug_assert_eq!(self.keys[source], NEVER);
        let key = key_of(time);
        self.keys[source] = key;
        let mut node = self.keys.len() + source;
        while node > 1 {
            let (_, handicap) = self.rival(node);
            if handicap < key {
                break;
            }
            node /= 2;
            self.winners[node] = source as u32;
        }
    }

    /// Who is first on the other side of `node`'s parent, and the key that this one wins with:
    /// one less for the left side, which goes first when the times are equal.
    #[inline]
    fn rival(&self, node: usize) -> (u32, u64) {
        let rival = self.winners[node ^ 1];
        let is_left = node as u64 & 1;
        (rival, self.keys[rival as usize] - is_left)
    }

    /// The time of the next event of `source`.
    #[inline]
    pub(crate) fn time_of(&self, source: usize) -> Time {
        time_of(self.keys[source])
    }

    /// The first event of all and its source; the time is [`Time::MAX`] if there is none.
    #[inline]
    pub(crate) fn first(&self) -> (Time, usize) {
        let source = self.winners[1] as usize;
        (time_of(self.keys[source]), source)
    }
}

#[inline]
fn key_of(time: Time) -> u64 {
    time.as_ps().saturating_add(1)
}

#[inline]
fn time_of(key: u64) -> Time {
    if key == NEVER { Time::MAX } else { Time::from_ps(key - 1) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_earliest_is_first_and_of_equals_the_lowest_source(
            sources in 1usize..70,
            changes in prop::collection::vec((0usize..70, 0u64..20), 0..300),
        ) {
            let mut tournament = Tournament::new(sources);
            let mut times = vec![Time::MAX; sources];
            for (source, ps) in changes {
                let time = if ps == 19 { Time::MAX } else { Time::from_ps(ps) };
                let source = source % sources;
                if times[source] == Time::MAX {
                    tournament.enter(source, time);
                } else {
                    tournament.set(source, time);
                }
                times[source] = time;
                let earliest = *times.iter().min().unwrap();
                let (time, first) = tournament.first();
                prop_assert_eq!(time, earliest);
                if time != Time::MAX {
                    prop_assert_eq!(first, times.iter().position(|t| *t == earliest).unwrap());
                }
            }
        }
    }
}
