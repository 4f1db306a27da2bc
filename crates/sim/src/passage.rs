//! Counts what happens to a flow's data packets and ACKs on their way.

use flowsched_schemes::Packet;
use flowsched_schemes::packet::Flags;

use flowsched_schemes::world::Passage;

/// The account of a flow under way that its receiver's host keeps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DataAccount {
    arrived: u32,
    marked: u32,
    marked_again: u32,
    reordered: u32,
    /// One more than the highest segment that arrived.
    beyond: u32,
}

/// The account of a flow under way that its sender's host keeps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckAccount {
    acks: u32,
    duplicates: u32,
    third_duplicates: u32,
    /// The segment that the last ACK expected.
    expected: u32,
    /// ACKs in a row that acknowledged nothing new.
    in_a_row: u32,
}

const NOT_DATA: Flags = Flags::SYN.with(Flags::PROBE);

impl DataAccount {
    /// Counts a data packet that arrived.
    #[inline]
    pub(crate) fn note<H>(&mut self, packet: &Packet<H>) {
        if packet.flags.has(NOT_DATA) {
            return;
        }
        self.arrived += 1;
        if packet.marks > 0 {
            self.marked += 1;
            self.marked_again += u32::from(packet.marks > 1);
        }
        if packet.seq == self.beyond {
            self.beyond += 1;
        } else {
            self.note_out_of_order(packet);
        }
    }

    #[cold]
    fn note_out_of_order<H>(&mut self, packet: &Packet<H>) {
        let is_late = packet.seq < self.beyond && !packet.flags.has(Flags::RETRANSMISSION);
        self.reordered += u32::from(is_late);
        self.beyond = self.beyond.max(packet.seq + 1);
    }

    /// Writes the account down.
    pub(crate) fn close(&self, passage: &mut Passage) {
        let DataAccount { arrived, marked, marked_again, reordered, .. } = *self;
        *passage = Passage { arrived, marked, marked_again, reordered, ..*passage };
    }
}

impl AckAccount {
    /// Counts an ACK that arrived.
    #[inline]
    pub(crate) fn note<H>(&mut self, ack: &Packet<H>) {
        if ack.flags.has(NOT_DATA) {
            return;
        }
        self.acks += 1;
        if ack.seq > self.expected {
            self.expected = ack.seq;
            self.in_a_row = 0;
        } else {
            self.note_duplicate();
        }
    }

    #[cold]
    fn note_duplicate(&mut self) {
        self.in_a_row += 1;
        self.duplicates += 1;
        self.third_duplicates += u32::from(self.in_a_row >= 3);
    }

    /// Writes the account down.
    pub(crate) fn close(&self, passage: &mut Passage) {
        passage.acks = self.acks;
        passage.duplicate_acks = self.duplicates;
        passage.third_duplicate_acks = self.third_duplicates;
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
        let mut account = DataAccount::default();
        for (seq, marks) in [(0, 0), (2, 1), (1, 2), (3, 0)] {
            account.note(&data(seq, marks, Flags::default()));
        }
        account.note(&data(1, 0, Flags::RETRANSMISSION));
        account.note(&data(0, 0, Flags::SYN));
        let DataAccount { arrived, reordered, marked, marked_again, .. } = account;
        assert_eq!((arrived, reordered, marked, marked_again), (5, 1, 2, 1));
    }

    #[test]
    fn acks_that_say_nothing_new_are_counted_by_their_place_in_a_row() {
        let mut account = AckAccount::default();
        for expected in [1, 1, 1, 1, 1, 2, 2, 3] {
            account.note(&data(expected, 0, Flags::ACK));
        }
        let AckAccount { acks, duplicates, third_duplicates, .. } = account;
        assert_eq!((acks, duplicates, third_duplicates), (8, 5, 2));
    }
}
