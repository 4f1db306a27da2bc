//! The flows that a priority controller knows at one output link, in the order of their desired
//! priority.

use flowsched_units::Time;

use super::header::{Br, Dp, Tp};

/// A flow at one output link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The flow.
    pub flow: u32,
    /// Its desired priority.
    pub dp: Dp,
    /// The rate of the slowest link of its path, this link included, in whole Gbps.
    pub rate: u32,
    /// The bottleneck rate that messages carry: the lower one of the BR in its packets and the BR of
    /// this link.
    pub br: Br,
    /// The switch, identified by the TTL that the flow's packets have there.
    pub switch: u8,
    /// The priority that its sender uses as far as known, or was last told to use.
    pub tp: Tp,
    /// When its sender was told to use this priority: [`Time::MAX`] if the sender has answered.
    pub told_at: Time,
    /// When the controller last saw a packet of it.
    pub seen_at: Time,
    /// Bytes that the switch counts while the flow is HIGH, as programmable counters do.
    pub bytes: u64,
    /// The counted bytes at the last reading.
    pub bytes_read: u64,
    /// Readings in a row without a sign of life.
    pub silent_readings: u32,
}

impl Entry {
    /// The flow's place among all flows: by DP; "ties are broken by comparing flow five-tuple"
    /// (Algorithm 1, line 4). The flow's number stands for the five-tuple. It is mixed, because
    /// five-tuples do not follow the order in which flows start.
    fn place(&self) -> (Dp, u32) {
        (self.dp, self.flow.wrapping_mul(0x9e37_79b9))
    }
}

/// All flows of one output link, in order.
#[derive(Clone, Debug, Default)]
pub struct FlowTable {
    /// In the order of their places.
    entries: Vec<Entry>,
    /// The number of HIGH flows, which come first: kappa.
    high: usize,
}

impl FlowTable {
    /// All flows, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The flows in the HIGH queue.
    pub fn high(&self) -> &[Entry] {
        &self.entries[..self.high]
    }

    /// Inserts a flow that the table does not have. [`FlowTable::select`] must follow.
    pub fn insert(&mut self, entry: Entry) {
        let place = self.entries.partition_point(|other| other.place() < entry.place());
        self.entries.insert(place, entry);
    }

    /// Removes a flow, and returns it if it was there.
    pub fn remove(&mut self, flow: u32) -> Option<Entry> {
        let place = self.entries.iter().position(|entry| entry.flow == flow)?;
        self.high -= usize::from(place < self.high);
        Some(self.entries.remove(place))
    }

    /// Keeps the flows for which `is_kept` returns true. It gets each flow and its TP, and may
    /// change the flow but not its place.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&mut Entry, Tp) -> bool) {
        let (mut place, high) = (0, self.high);
        self.entries.retain_mut(|entry| {
            let tp = if place < high { Tp::HIGH } else { Tp::LOW };
            place += 1;
            let is_kept = is_kept(entry, tp);
            self.high -= usize::from(!is_kept && tp == Tp::HIGH);
            is_kept
        });
    }

    /// The switch sends a packet of `flow`. Raises the flow's counter, which it has only while it
    /// is HIGH.
    #[inline]
    pub fn count(&mut self, flow: u32, bytes: u32) {
        if let Some(entry) = self.entries[..self.high].iter_mut().find(|entry| entry.flow == flow) {
            entry.bytes += u64::from(bytes);
        }
    }

    /// Algorithm 1, lines 5 and 6: the first flows whose bottleneck rates together do not exceed
    /// the link's are HIGH, all others LOW. Flows whose senders use another TP are handed to
    /// `changed`, with the new TP.
    pub fn select(&mut self, link_gbps: u32, mut changed: impl FnMut(&mut Entry)) {
        let mut sum = 0;
        self.high = self
            .entries
            .iter()
            .take_while(|entry| {
                sum += entry.rate;
                sum <= link_gbps
            })
            .count();
        for (place, entry) in self.entries.iter_mut().enumerate() {
            let tp = if place < self.high { Tp::HIGH } else { Tp::LOW };
            if entry.tp != tp {
                entry.tp = tp;
                changed(entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::Rate;
    use proptest::prelude::*;

    use super::*;

    fn entry(flow: u32, dp: u64, gbps: u32) -> Entry {
        Entry {
            flow,
            dp: Dp::of_bytes(dp, 15),
            rate: gbps,
            br: Br::of_link(Rate::from_gbps(u64::from(gbps))),
            switch: 63,
            tp: Tp::HIGH,
            told_at: Time::MAX,
            seen_at: Time::ZERO,
            bytes: 0,
            bytes_read: 0,
            silent_readings: 0,
        }
    }

    fn high(table: &FlowTable) -> Vec<u32> {
        table.high().iter().map(|entry| entry.flow).collect()
    }

    #[test]
    fn kappa_flows_fill_the_link_and_the_next_would_not_fit() {
        // Algorithm 1, line 5. The third does not fit; the fourth would, but comes after it.
        let mut table = FlowTable::default();
        for (flow, dp, gbps) in [(4, 40, 1), (3, 30, 10), (2, 20, 10), (1, 10, 5)] {
            table.insert(entry(flow, dp, gbps));
        }
        let mut told = Vec::new();
        table.select(20, |entry| told.push((entry.flow, entry.tp)));
        assert_eq!(high(&table), [1, 2]);
        assert_eq!(told, [(3, Tp::LOW), (4, Tp::LOW)]);
    }

    #[test]
    fn equal_desires_are_told_apart_and_always_alike() {
        // EPN 2018, Algorithm 1, line 4: "ties are broken by comparing flow five-tuple".
        let order = |flows: &[u32]| {
            let mut table = FlowTable::default();
            for flow in flows {
                table.insert(entry(*flow, 10, 1));
            }
            table.select(1, |_| {});
            high(&table)
        };
        assert_eq!(order(&[1, 2, 3]), order(&[3, 1, 2]));
        assert_eq!(order(&[1, 2, 3]).len(), 1);
    }

    proptest! {
        /// After every step, flows are sorted, HIGH ones first, and these never need more than the
        /// link.
        #[test]
        fn high_flows_never_sum_to_more_than_the_link(
            link in 1u32..100,
            steps in prop::collection::vec((0u32..12, 0u64..5, 1u32..40, 0u8..4), 1..100),
        ) {
            let mut table = FlowTable::default();
            for (flow, dp, gbps, step) in steps {
                match step {
                    0 => drop(table.remove(flow)),
                    1 => table.retain(|entry, _| entry.flow != flow),
                    _ => {
                        table.remove(flow);
                        table.insert(entry(flow, dp, gbps.min(link)));
                        table.select(link, |_| {});
                        prop_assert!(!table.high().is_empty());
                    }
                }
                prop_assert!(table.entries().is_sorted_by(|a, b| a.place() < b.place()));
                if step > 1 {
                    let rates = |entries: &[Entry]| entries.iter().map(|e| e.rate).sum::<u32>();
                    prop_assert!(rates(table.high()) <= link);
                    let and_next = (table.high().len() + 1).min(table.entries().len());
                    let is_all = table.high().len() == table.entries().len();
                    prop_assert!(is_all || rates(&table.entries()[..and_next]) > link);
                    prop_assert!(table.high().iter().all(|entry| entry.tp == Tp::HIGH));
                    prop_assert!(table.entries()[table.high().len()..].iter().all(|e| e.tp == Tp::LOW));
                }
            }
        }
    }
}
