//! The next event: a tournament among sources that each have at most one.

use flowsched_units::Time;

/// For each source the time of its next event, and the first of all.
///
/// A complete binary tree: the leaves are the sources, every inner node has the earlier time of
/// its two children. A change climbs no further than it matters. Of equal times the source of
/// the lowest number wins, which makes the order of events total.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    times: Vec<Time>,
    leaves: usize,
}

impl Tournament {
    /// So many sources, none of which has an event.
    pub(crate) fn new(sources: usize) -> Tournament {
        let leaves = sources.next_power_of_two().max(2);
        Tournament { times: vec![Time::MAX; 2 * leaves], leaves }
    }

    /// Sets the time of the next event of `source`; [`Time::MAX`]: none.
    #[inline]
    pub(crate) fn set(&mut self, source: usize, time: Time) {
        let mut node = self.leaves + source;
        self.times[node] = time;
        while node > 1 {
            let winner = self.times[node].min(self.times[node ^ 1]);
            node /= 2;
            if self.times[node] == winner {
                break;
            }
            self.times[node] = winner;
        }
    }

    /// The time of the next event of `source`.
    #[inline]
    pub(crate) fn time_of(&self, source: usize) -> Time {
        self.times[self.leaves + source]
    }

    /// The first event of all and its source; the time is [`Time::MAX`] if there is none.
    #[inline]
    pub(crate) fn first(&self) -> (Time, usize) {
        let time = self.times[1];
        let mut node = 1;
        while node < self.leaves {
            node *= 2;
            node += usize::from(self.times[node] != time);
        }
        (time, node - self.leaves)
    }
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
                let time = if ps == 0 { Time::MAX } else { Time::from_ps(ps) };
                tournament.set(source % sources, time);
                times[source % sources] = time;
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
