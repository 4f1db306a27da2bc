//! Gives numbers to the flows that cross the switch, because ports know flows by numbers.

use std::collections::HashMap;

use super::headers::FlowKey;

/// The most flows that have a number at a time: connections of 64 hosts, each with 15 to every other.
pub const MOST_FLOWS: u32 = 1 << 16;

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
    /// The number of a packet's flow, which is also that of what comes back, and whether the packet
    /// is what comes back: the first packet seen goes there.
    pub fn number(&mut self, key: FlowKey) -> (u32, bool) {
        if let Some(number) = self.numbers.get(&key) {
            return (*number, false);
        }
        match self.numbers.get(&key.reversed()) {
            Some(number) => (*number, true),
            None => (self.add(key), false),
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
        FlowKey { addresses, protocol: 6, ports: (port as u16, 5000) }
    }

    #[test]
    fn both_directions_have_one_number_and_the_table_is_bounded() {
        let mut flows = FlowNumbers::default();
        assert_eq!(flows.number(key(1)), (0, false));
        assert_eq!(flows.number(key(1).reversed()), (0, true));
        for port in 2..=MOST_FLOWS {
            assert_eq!(flows.number(key(port)), (port - 1, false));
        }
        assert_eq!(flows.number(key(1)), (0, false), "it is still known");
        assert_eq!(flows.number(key(MOST_FLOWS + 1)), (0, false), "the oldest gives its number up");
        assert_eq!(flows.number(key(1)), (1, false));
        assert_eq!(flows.numbers.len(), MOST_FLOWS as usize);
    }
}
