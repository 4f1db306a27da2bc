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
    /// By source.
    times: Vec<Time>,
    /// By node, the root being 1 and the children of i being 2i and 2i + 1.
    winners: Vec<u32>,
}

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
        Tournament { times: vec![Time::MAX; leaves], winners }
    }

    /// Sets the time of the next event of `source`; [`Time::MAX`]: none.
    #[inline]
    pub(crate) fn set(&mut self, source: usize, time: Time) {
        let leaves = self.times.len();
        self.times[source] = time;
        let (mut node, mut winner, mut earliest) = (leaves + source, source as u32, time);
        while node > 1 {
            let sibling = self.winners[node ^ 1];
            let rival = self.times[sibling as usize & (leaves - 1)];
            // The left one of two wins when they are equal: its sources have lower numbers.
            let rival_is_left = node & 1 == 1;
            let loses = (rival < earliest) | ((rival == earliest) & rival_is_left);
            winner = std::hint::select_unpredictable(loses, sibling, winner);
            earliest = std::hint::select_unpredictable(loses, rival, earliest);
            node /= 2;
            self.winners[node] = winner;
        }
    }

    /// The time of the next event of `source`.
    #[inline]
    pub(crate) fn time_of(&self, source: usize) -> Time {
        self.times[source]
    }

    /// The first event of all and its source; the time is [`Time::MAX`] if there is none.
    #[inline]
    pub(crate) fn first(&self) -> (Time, usize) {
        let source = self.winners[1] as usize;
        (self.times[source], source)
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
