//! Gives numbers to the flows that cross the switch, because ports know flows by numbers.

use std::collections::HashMap;

use super::headers::FlowKey;

/// The most flows that have a number at a time: connections of 64 hosts, each with 15 to every other.
pub const MOST_FLOWS: u32 = 1 << 16;

/// The number of a packet's flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// The number, which is also that of what comes back.
    pub flow: u32,
    /// Whether the packet is what comes back: the first packet seen goes there.
    pub is_back: bool,
    /// Whether the flow has the number from now on.
    pub is_new: bool,
}

/// The flows seen last. When all numbers are taken, the flow that got its number first gives it up: if
/// it sends on, it is a new flow to the ports.
#[derive(Debug, Default)]
pub struct FlowNumbers {
    numbers: HashMap<FlowKey, u32>,
    /// By number.
    keys: Vec<FlowKey>,
    next: u32,
}

impl FlowNumbers {
    /// The number of a packet's flow.
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
