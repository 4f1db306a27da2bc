//! When each slot is due, and which slot is due first.

use flowsched_units::Time;

const ABSENT: u32 = u32::MAX;

/// Children of a node.
const ARITY: usize = 4;

/// Slots by time, then number; a slot's time can be changed.
///
/// The heap may have too early a time for a slot. Most slots' times change many times before they come, so a slot
/// whose time moves to a later one keeps its place in the heap. It is moved only once it is first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    heap: Vec<(Time, u32)>,
    /// By slot.
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The slot's time: [`Time::MAX`] if the slot is not on the agenda.
    time: Time,
    /// The slot's time in the heap, not after `time`.
    listed: Time,
    /// Its place in the heap.
    place: u32,
}

impl Agenda {
    /// The first slot and its time.
    pub(crate) fn first(&mut self) -> Option<(Time, u32)> {
        loop {
            let (listed, slot) = *self.heap.first()?;
            let time = self.entries[slot as usize].time;
            if time == listed {
                return Some((time, slot));
            }
            self.put_off(slot, time);
        }
    }

    /// The slot's time is `time` from now on; [`Time::MAX`] takes it off.
    #[inline]
    pub(crate) fn set(&mut self, slot: u32, time: Time) {
        if slot as usize >= self.entries.len() {
            let nothing = Entry { time: Time::MAX, listed: Time::MAX, place: ABSENT };
            self.entries.resize(slot as usize + 1, nothing);
        }
        let entry = &mut self.entries[slot as usize];
        entry.time = time;
        if time < entry.listed {
            self.bring_forward(slot, time);
        }
    }

    fn bring_forward(&mut self, slot: u32, time: Time) {
        let entry = &mut self.entries[slot as usize];
        entry.listed = time;
        if entry.place == ABSENT {
            entry.place = self.heap.len() as u32;
            self.heap.push((time, slot));
        }
        let place = entry.place as usize;
        self.heap[place].0 = time;
        self.rise(place);
    }

    /// Changes the time in the heap of the first slot to `time`. [`Time::MAX`] takes the slot out.
    fn put_off(&mut self, slot: u32, time: Time) {
        self.entries[slot as usize].listed = time;
        if time == Time::MAX {
            self.entries[slot as usize].place = ABSENT;
            self.heap.swap_remove(0);
        } else {
            self.heap[0].0 = time;
        }
        if !self.heap.is_empty() {
            self.sink(0);
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
        self.entries[entry.1 as usize].place = place as u32;
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
