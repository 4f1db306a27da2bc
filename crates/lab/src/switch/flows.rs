//! Gives numbers to the flows that cross the switch, because ports know flows by numbers.

use std::collections::HashMap;

use super::headers::FlowKey;

/// The most flows that have numbers at a time: connections of 64 hosts, with 15 from each to every
/// other.
pub const MOST_FLOWS: u32 = 1 << 16;

/// The number of a packet's flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// The flow's number, which is the same in both directions.
    pub flow: u32,
    /// Whether the packet goes in the direction opposite to the first packet seen.
    pub is_back: bool,
    /// Whether the flow has just been given the number.
    pub is_new: bool,
}

/// The numbers of the flows seen last. When all numbers are taken, the flow that got its number first
/// gives it up. If that flow sends again, the ports see a new flow.
#[derive(Debug, Default)]
pub struct FlowNumbers {
    numbers: HashMap<FlowKey, u32>,
    /// The flow of each number.
    keys: Vec<FlowKey>,
    next: u32,
}

impl FlowNumbers {
    /// The number of a packet's flow. A flow without a number gets one.
    pub fn number(&mut self, key: FlowKey) -> Numbered {
        if let Some(number) = self.numbers.get(&key) {
            return Numbered { flow: *number, is_back: false, is_new: false };
        }
        match self.numbers.get(&key.reversed()) {
            Some(number) => Numbered { flow: *number, is_back: true, is_new: false },
            None => Numbered { flow: self.add(key), is_back: false, is_new: true },
        }
    }

    fn add(&mut self, key: FlowKey) -> u32 {
        let number = self.next;
        self.next = (number + 1) % MOST_FLOWS;
        match self.keys.get_mut(number as usize) {
            Some(old) => {
                self.numbers.remove(old);
                *old = key;
            }
            None => self.keys.push(key),
        }
        self.numbers.insert(key, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(port: u32) -> FlowKey {
        let addresses = ([10, 99, 0, (port >> 16) as u8].into(), [10, 99, 0, 2].into());
        FlowKey { addresses, protocol: 6, ports: (port as u16, 41_000) }
    }

    #[test]
    fn both_directions_have_one_number_and_the_table_is_bounded() {
        let mut flows = FlowNumbers::default();
        let mut number = |key| {
            let Numbered { flow, is_back, is_new } = flows.number(key);
            (flow, is_back, is_new)
        };
        assert_eq!(number(key(1)), (0, false, true));
        assert_eq!(number(key(1).reversed()), (0, true, false));
        for port in 2..=MOST_FLOWS {
            assert_eq!(number(key(port)), (port - 1, false, true));
        }
        assert_eq!(number(key(1)), (0, false, false), "it is still known");
        let newest = number(key(MOST_FLOWS + 1));
        assert_eq!(newest, (0, false, true), "the oldest gives its number up");
        assert_eq!(number(key(1)), (1, false, true));
        assert_eq!(flows.numbers.len(), MOST_FLOWS as usize);
    }
}
