//! HPCC's header: what each port on the way wrote.

use flowsched_units::{Bytes, Rate, Time};

/// The most records in a header: a card's and those of five switches, the longest path of a
/// fat-tree. Later ports write nothing.
pub(super) const MOST_HOPS: usize = 6;

/// What a port writes into a packet when its first bit leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hop {
    /// B: the rate of the link.
    pub rate: Rate,
    /// ts: when the packet left.
    pub time: Time,
    /// txBytes: bytes that had left before the packet, ACKs included.
    pub sent: Bytes,
    /// qLen: bytes that waited behind the packet.
    pub queue: Bytes,
}

/// The records of the ports that a packet passed, in their order. An ACK returns the records of the
/// packet that it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HpccHeader {
    hops: [Hop; MOST_HOPS],
    count: u8,
}

impl HpccHeader {
    /// Adds a record if there is room for it.
    #[inline]
    pub fn push(&mut self, hop: Hop) {
        if let Some(free) = self.hops.get_mut(usize::from(self.count)) {
            *free = hop;
            self.count += 1;
        }
    }

    /// The records.
    #[inline]
    pub fn hops(&self) -> &[Hop] {
        &self.hops[..usize::from(self.count)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_beyond_the_last_place_are_left_out() {
        let mut header = HpccHeader::default();
        for port in 0..10 {
            header.push(Hop { queue: Bytes::new(port), ..Hop::default() });
        }
        let queues: Vec<u64> = header.hops().iter().map(|hop| hop.queue.get()).collect();
        assert_eq!(queues, [0, 1, 2, 3, 4, 5]);
    }
}
