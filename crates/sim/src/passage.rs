//! Keeps an account of what a flow's packets met on their way.

use flowsched_schemes::Packet;
use flowsched_schemes::packet::Flags;

use flowsched_schemes::world::Passage;

/// The account of a flow under way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Account {
    pub(crate) passage: Passage,
    /// One more than the highest segment that arrived.
    beyond: u32,
    /// The segment that the last ACK expected.
    expected: u32,
    /// ACKs in a row that acknowledged nothing new.
    in_a_row: u32,
}

const NOT_DATA: Flags = Flags::SYN.with(Flags::PROBE);

impl Account {
    /// A data packet arrived.
    #[inline]
    pub(crate) fn on_data<H>(&mut self, packet: &Packet<H>) {
        if packet.flags.has(NOT_DATA) {
            return;
        }
        let is_late = packet.seq < self.beyond && !packet.flags.has(Flags::RETRANSMISSION);
        self.beyond = self.beyond.max(packet.seq + 1);
        self.passage.arrived += 1;
        self.passage.reordered += u32::from(is_late);
        self.passage.marked += u32::from(packet.marks > 0);
        self.passage.marked_again += u32::from(packet.marks > 1);
    }

    /// An ACK arrived.
    #[inline]
    pub(crate) fn on_ack<H>(&mut self, ack: &Packet<H>) {
        if ack.flags.has(NOT_DATA) {
            return;
        }
        let is_duplicate = ack.seq <= self.expected;
        self.in_a_row = (self.in_a_row + 1) * u32::from(is_duplicate);
        self.expected = self.expected.max(ack.seq);
        self.passage.acks += 1;
        self.passage.duplicate_acks += u32::from(is_duplicate);
        self.passage.third_duplicate_acks += u32::from(self.in_a_row >= 3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(seq: u32, marks: u8, flags: Flags) -> Packet {
        let mut packet = Packet::data(0, 0, seq, 1500, flags);
        packet.marks = marks;
        packet
    }

    #[test]
    fn late_first_sendings_and_marks_are_counted() {
        let mut account = Account::default();
        for (seq, marks) in [(0, 0), (2, 1), (1, 2), (3, 0)] {
            account.on_data(&data(seq, marks, Flags::default()));
        }
        account.on_data(&data(1, 0, Flags::RETRANSMISSION));
        account.on_data(&data(0, 0, Flags::SYN));
        let Passage { arrived, reordered, marked, marked_again, .. } = account.passage;
        assert_eq!((arrived, reordered, marked, marked_again), (5, 1, 2, 1));
    }

    #[test]
    fn acks_that_say_nothing_new_are_counted_by_their_place_in_a_row() {
        let mut account = Account::default();
        for expected in [1, 1, 1, 1, 1, 2, 2, 3] {
            account.on_ack(&data(expected, 0, Flags::ACK));
        }
        let Passage { acks, duplicate_acks, third_duplicate_acks, .. } = account.passage;
        assert_eq!((acks, duplicate_acks, third_duplicate_acks), (8, 5, 2));
    }
}
