//! What each slot does next, and which slot is first.

use flowsched_units::Time;

const ABSENT: u32 = u32::MAX;

/// Children of a node.
const ARITY: usize = 4;

/// A heap of slots by time, then number, in which a slot's time can be changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    heap: Vec<(Time, u32)>,
    /// By slot: its place in the heap.
    places: Vec<u32>,
}

impl Agenda {
    /// The first slot and its time.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Time, u32)> {
        self.heap.first().copied()
    }

    /// The slot's time is `time` from now on; [`Time::MAX`] takes it off.
    pub(crate) fn set(&mut self, slot: u32, time: Time) {
        if slot as usize >= self.places.len() {
            self.places.resize(slot as usize + 1, ABSENT);
        }
        match (self.places[slot as usize], time) {
            (ABSENT, Time::MAX) => {}
            (ABSENT, _) => {
                self.heap.push((time, slot));
                self.rise(self.heap.len() - 1);
            }
            (place, Time::MAX) => {
                let place = place as usize;
                self.heap.swap_remove(place);
                self.places[slot as usize] = ABSENT;
                if place < self.heap.len() {
                    self.rise(place);
                    self.sink(place);
                }
            }
            (place, _) => {
                self.heap[place as usize].0 = time;
                self.rise(place as usize);
                self.sink(self.places[slot as usize] as usize);
            }
        }
    }

    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let first = place * ARITY + 1;
            let children = first..(first + ARITY).min(self.heap.len());
            let least = children.min_by_key(|child| self.heap[*child]);
            let Some(child) = least.filter(|child| self.heap[*child] < entry) else { break };
            self.put(place, self.heap[child]);
            place = child;
        }
        self.put(place, entry);
    }

    #[inline]
    fn put(&mut self, place: usize, entry: (Time, u32)) {
        self.heap[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_is_the_first(changes in prop::collection::vec((0u32..20, 0u64..12), 1..200)) {
            let mut agenda = Agenda::default();
            let mut expected = BTreeMap::new();
            for (slot, time) in changes {
                let time = if time == 0 { Time::MAX } else { Time::from_ps(time) };
                agenda.set(slot, time);
                expected.insert(slot, time);
                expected.retain(|_, time| *time < Time::MAX);
                let first = expected.iter().map(|(slot, time)| (*time, *slot)).min();
                prop_assert_eq!(agenda.first(), first);
            }
        }
    }
}
