//! Slytherin's port: packets that met congestion before, and ACKs, go first.
//!
//! Slytherin 2018, III-B: "two queues per switch port"; the first is for "congestion experienced
//! packets", ACKs join it, and "packets in the second queue get served if and only if the first
//! queue is empty". Algorithm 1: a packet goes to the higher queue if its CE bit is set when it
//! comes, so that nothing is promoted at the first hop, where nothing is marked yet.

use flowsched_units::{SettingError, Settings};

use super::{QueuePart, QueuePorts, Serving, parameters};
use crate::flow_level::{Fluid, NoFluid, Sharing, Tagged};
use crate::packet::Frame;
use crate::part::{Part, Role};

/// Decides which of the two queues a packet joins.
///
/// Only packets of the highest priority are promoted. Without a tagger, all packets have it. With a
/// tagger that knows sizes, the packets of short flows have it, which is the variant of III-B that
/// "requires application knowledge".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CongestedFirst;

/// The queue of marked packets and ACKs.
const CONGESTED: usize = 0;
/// The queue of all others.
const NORMAL: usize = 1;

/// The number of queues.
const QUEUES: usize = 2;

/// Slytherin's port.
#[derive(Clone, Debug, PartialEq)]
pub struct Slytherin(QueuePorts<CongestedFirst>);

impl QueuePart for Slytherin {
    const PART: Part = Part {
        role: Role::Port,
        name: "slytherin",
        about: "Two queues: packets that arrive marked and have the highest priority, and ACKs, go \
                before all others.",
        source: "Slytherin 2018, III-B",
        parameters: &[parameters::CONGESTED_AND_NORMAL, parameters::QUEUED, parameters::HOST],
    };
    type Serving = CongestedFirst;

    fn build(settings: &Settings) -> Result<Slytherin, SettingError> {
        Ok(Slytherin(QueuePorts::from_settings(settings, QUEUES, CongestedFirst)))
    }

    fn ports(&self) -> &QueuePorts<CongestedFirst> {
        &self.0
    }

    fn fluid(&self, _tagged: Tagged) -> Fluid<Sharing> {
        Err(NoFluid {
            key: Role::Port.key(),
            why: "it orders packets, and fluid flows have none",
            instead: "fifo, strict-priority or pfabric",
        })
    }
}

impl Serving for CongestedFirst {
    #[inline]
    fn queue_of<F: Frame>(&self, frame: &F) -> usize {
        let is_promoted = frame.is_marked() && frame.priority() == 0;
        if is_promoted || frame.is_ack() { CONGESTED } else { NORMAL }
    }

    #[inline]
    fn next(&mut self, occupied: u64) -> usize {
        occupied.trailing_zeros() as usize
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::packet::{Flags, Packet};
    use crate::port::{EcnScope, MemorySharing, OnFull, Port, PortSettings, Queues};

    fn packet(seq: u32, flags: Flags) -> Packet {
        Packet { seq, wire: 1500, flags: flags.with(Flags::ECT), ..Packet::default() }
    }

    fn port(settings: PortSettings) -> Queues<Packet, CongestedFirst> {
        Queues::with_serving(PortSettings { queues: QUEUES, ..settings }, CongestedFirst)
    }

    fn unlimited() -> PortSettings {
        PortSettings::fifo(Bytes::MAX, Bytes::MAX)
    }

    fn drain(port: &mut Queues<Packet, CongestedFirst>) -> Vec<u32> {
        std::iter::from_fn(|| port.dequeue()).map(|packet| packet.seq).collect()
    }

    #[test]
    fn marked_packets_and_acks_go_first() {
        // Algorithm 1, and "we prioritize ACK packets over other packets by scheduling them in
        // the priority queue" (III-B). "Both queues drain packets in a FIFO fashion".
        let mut port = port(unlimited());
        let plain = Flags::default();
        for (seq, flags) in [plain, Flags::CE, plain, Flags::ACK, Flags::CE].into_iter().enumerate()
        {
            port.enqueue(packet(seq as u32, flags), 0, |_| panic!("dropped"));
        }
        assert_eq!(drain(&mut port), [1, 3, 4, 0, 2]);
    }

    #[test]
    fn a_port_does_not_promote_what_it_marks_itself() {
        // "Slytherin is designed to prioritize packets *after* the first hop upon observing ECN
        // marks" (III-B).
        let mut port = port(PortSettings { ecn_threshold: 0, ..unlimited() });
        for seq in 0..3 {
            port.enqueue(packet(seq, Flags::default()), 0, |_| panic!("dropped"));
        }
        assert_eq!((port.marks(), port.queue_backlog(CONGESTED).packets), (3, 0));
        assert_eq!(drain(&mut port), [0, 1, 2]);
    }

    #[test]
    fn long_flows_can_be_left_out() {
        // "prioritizing congested packets of short flows may be more efficient, it requires
        // application knowledge" (III-B): with size-known tags, long flows have priority 1.
        let mut port = port(unlimited());
        let long = Packet { priority: 1, ..packet(0, Flags::CE) };
        port.enqueue(long, 0, |_| panic!("dropped"));
        port.enqueue(packet(1, Flags::CE), 0, |_| panic!("dropped"));
        assert_eq!(drain(&mut port), [1, 0]);
    }

    #[test]
    fn a_limited_priority_queue_drops_or_demotes() {
        // "when the capacity of each of those sub-queues is limited, PIAS needs to either drop
        // or demote packets to a lower priority queue" (V-F); the same for Slytherin.
        for (on_full, expected) in [(OnFull::Drop, vec![0, 2]), (OnFull::Demote, vec![0, 2, 1])] {
            let sharing = MemorySharing::Queue(3000);
            let ecn_scope = EcnScope::Queue;
            let mut port = port(PortSettings { sharing, on_full, ecn_scope, ..unlimited() });
            let mut drops = 0;
            let ack = Packet { wire: 2000, ..packet(0, Flags::ACK) };
            port.enqueue(ack, 0, |_| drops += 1);
            port.enqueue(packet(1, Flags::CE), 0, |_| drops += 1);
            let small = Packet { wire: 500, ..packet(2, Flags::CE) };
            port.enqueue(small, 0, |_| drops += 1);
            assert_eq!(drain(&mut port), expected);
            assert_eq!(drops, 3 - expected.len());
        }
    }

    proptest! {
        #[test]
        fn data_that_was_not_marked_before_is_never_promoted(
            steps in prop::collection::vec(prop::option::weighted(0.7, (any::<bool>(), any::<bool>())), 1..200),
        ) {
            let mut port = port(PortSettings { ecn_threshold: 4500, ..unlimited() });
            let mut waiting_first = 0u32;
            for step in steps {
                match step {
                    Some((marked, ack)) => {
                        let flags = Flags::default()
                            .with_if(marked, Flags::CE)
                            .with_if(ack, Flags::ACK);
                        port.enqueue(packet(0, flags), 0, |_| panic!("dropped"));
                        waiting_first += u32::from(marked || ack);
                    }
                    None => {
                        port.dequeue();
                        waiting_first = waiting_first.saturating_sub(1);
                    }
                }
                prop_assert_eq!(port.queue_backlog(CONGESTED).packets, waiting_first);
            }
        }
    }
}
