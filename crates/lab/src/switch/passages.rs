//! Counts the data packets of the kernel's TCP, and how many were sent again, marked or reordered.
//!
//! The switch knows connections, but not the flows that each carries one after the other. It therefore counts all
//! flows together. Where the simulator's hosts count by segment, the switch counts by TCP's sequence numbers.

use std::collections::HashMap;

use flowsched_schemes::world::Passage;

use super::headers::Segment;

/// A flow's number, and whether the bytes go back to the host that sent first.
pub(super) type Way = (u32, bool);

/// The counters, and what they need to know of each connection.
#[derive(Debug, Default)]
pub(super) struct Passages {
    connections: HashMap<Way, Connection>,
    all: Passage,
    sent_again: u64,
}

/// The sequence numbers after the last byte sent and the last byte arrived, in one direction.
#[derive(Clone, Copy, Debug)]
struct Connection {
    sent: u32,
    arrived: u32,
}

impl Passages {
    /// Notes a segment that enters the network. Returns whether its first byte had been sent before.
    pub fn enter(&mut self, way: Way, segment: Segment) -> bool {
        let begins = Connection { sent: segment.first, arrived: segment.first };
        let connection = self.connections.entry(way).or_insert(begins);
        let is_again = is_before(segment.first, connection.sent);
        connection.sent = later(connection.sent, segment.first.wrapping_add(segment.bytes));
        self.sent_again += u64::from(is_again);
        is_again
    }

    /// Counts a segment that arrives after this many marks by ports.
    pub fn arrive(&mut self, way: Way, segment: Segment, is_again: bool, marks: u8) {
        let Some(connection) = self.connections.get_mut(&way) else { return };
        let is_late = is_before(segment.first, connection.arrived) && !is_again;
        connection.arrived = later(connection.arrived, segment.first.wrapping_add(segment.bytes));
        self.all.arrived += 1;
        self.all.reordered += u32::from(is_late);
        self.all.marked += u32::from(marks > 0);
        self.all.marked_again += u32::from(marks > 1);
    }

    /// Forgets a flow whose number is given to another connection.
    pub fn forget(&mut self, flow: u32) {
        self.connections.remove(&(flow, false));
        self.connections.remove(&(flow, true));
    }

    /// The segments whose first byte had been sent before, lost ones included.
    pub fn sent_again(&self) -> u64 {
        self.sent_again
    }

    /// The sums over all flows.
    pub fn all(&self) -> Passage {
        self.all
    }
}

/// Whether a sequence number is before another one. Sequence numbers begin anew after 4 GiB (RFC 9293, section 3.4).
fn is_before(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) < 0
}

fn later(one: u32, other: u32) -> u32 {
    if is_before(one, other) { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAY: Way = (3, false);

    #[test]
    fn what_is_overtaken_is_counted_and_what_is_sent_again_is_not() {
        // The third segment is the first after sequence number 0.
        let segment = |number: u32| Segment {
            first: (u32::MAX - 199).wrapping_add(100 * number),
            bytes: 100,
        };
        let mut passages = Passages::default();
        let again: Vec<bool> =
            [0, 1, 2, 3, 1].map(|number| passages.enter(WAY, segment(number))).to_vec();
        assert_eq!(again, [false, false, false, false, true]);
        assert_eq!(passages.sent_again(), 1);
        for (number, is_again, marks) in [(0, false, 0), (3, false, 1), (2, false, 2), (1, true, 0)]
        {
            passages.arrive(WAY, segment(number), is_again, marks);
        }
        let expected =
            Passage { arrived: 4, reordered: 1, marked: 2, marked_again: 1, ..Passage::default() };
        assert_eq!(passages.all(), expected);
        assert!(!passages.enter((3, true), segment(0)), "the other way");
        passages.forget(3);
        assert!(!passages.enter(WAY, segment(0)), "another connection");
    }
}
