use flowsched_units::Bytes;
use proptest::prelude::*;

use super::*;
use crate::packet::{Flags, Packet};
use crate::port::batches;

fn packet(seq: u32, priority: u8, wire: u16) -> Packet {
    Packet { seq, priority, wire, flags: Flags::ECT, ..Packet::default() }
}

fn settings(queues: usize, sharing: MemorySharing) -> PortSettings {
    let fifo = PortSettings::fifo(Bytes::MAX, Bytes::MAX);
    PortSettings { queues, sharing, ..fifo }
}

fn drain(port: &mut PriorityPort<Packet>) -> Vec<u32> {
    std::iter::from_fn(|| port.dequeue()).map(|packet| packet.seq).collect()
}

#[test]
fn the_highest_queue_goes_first_and_each_in_order() {
    // PIAS ToN 2017, III-B.2: "the head packet from the highest non-empty priority queue is
    // transmitted".
    let mut port = PriorityPort::new(settings(3, MemorySharing::Port(u64::MAX)));
    for (seq, priority) in [(0, 2), (1, 0), (2, 1), (3, 0), (4, 9)] {
        port.enqueue(packet(seq, priority, 1500), 0, |_| panic!("dropped"));
    }
    assert_eq!(drain(&mut port), [1, 3, 2, 0, 4], "queue 9 is the lowest there is");
}

#[test]
fn packets_are_marked_above_the_threshold_the_arriving_one_counted() {
    // PIAS ToN 2017, III-B.2: "The arriving packet is marked with Congestion Experienced (CE)
    // if the instant buffer occupancy is larger than the marking threshold".
    let mut port = PriorityPort::new(PortSettings {
        ecn_threshold: 3000,
        ..settings(1, MemorySharing::Port(u64::MAX))
    });
    for seq in 0..4 {
        port.enqueue(packet(seq, 0, 1500), 0, |_| panic!("dropped"));
    }
    let marked: Vec<bool> =
        std::iter::from_fn(|| port.dequeue()).map(|packet| packet.flags.has(Flags::CE)).collect();
    assert_eq!(marked, [false, false, true, true]);
    assert_eq!(port.marks(), 2);
}

#[test]
fn at_dequeue_what_stays_behind_counts() {
    let mut port = PriorityPort::new(PortSettings {
        ecn_threshold: 3000,
        mark_at: MarkAt::Dequeue,
        ..settings(1, MemorySharing::Port(u64::MAX))
    });
    for seq in 0..4 {
        port.enqueue(packet(seq, 0, 1500), 0, |_| panic!("dropped"));
    }
    let marked: Vec<bool> =
        std::iter::from_fn(|| port.dequeue()).map(|packet| packet.flags.has(Flags::CE)).collect();
    assert_eq!(marked, [true, false, false, false]);
}

#[test]
fn a_queue_threshold_looks_at_the_queue_alone() {
    // PIAS ToN 2017, IV-A.2: by queue, each "performs ECN marking independently to other
    // queues"; by port, "when the sum of all queue sizes belong to the port exceeds the marking
    // threshold".
    for (ecn_scope, expected) in [(EcnScope::Port, 1), (EcnScope::Queue, 0)] {
        let mut port = PriorityPort::new(PortSettings {
            ecn_threshold: 1500,
            ecn_scope,
            ..settings(2, MemorySharing::Port(u64::MAX))
        });
        port.enqueue(packet(0, 1, 1500), 0, |_| panic!("dropped"));
        port.enqueue(packet(1, 0, 1500), 0, |_| panic!("dropped"));
        assert_eq!(port.marks(), expected, "{ecn_scope:?}");
    }
}

#[test]
fn what_cannot_be_marked_is_not() {
    let mut port = PriorityPort::new(PortSettings {
        ecn_threshold: 0,
        ..settings(1, MemorySharing::Port(9000))
    });
    port.enqueue(Packet::<()> { wire: 1500, ..Packet::default() }, 0, |_| panic!("dropped"));
    assert!(!port.dequeue().unwrap().flags.has(Flags::CE));
    assert_eq!(port.marks(), 0);
}

#[test]
fn above_the_threshold_packets_without_ect_may_be_dropped() {
    // PIAS ToN 2017, IV-A.3: "our switch drops any non-ECT packets from ECN-enabled queues, when
    // the instant queue length is larger than the ECN marking threshold".
    for mark_at in [MarkAt::Enqueue, MarkAt::Dequeue] {
        let mut port = PriorityPort::new(PortSettings {
            ecn_threshold: 3000,
            mark_at,
            without_ect: WithoutEct::Drop,
            ..settings(1, MemorySharing::Port(u64::MAX))
        });
        let mut dropped = Vec::new();
        for seq in 0..6 {
            let flags = if seq % 2 == 0 { Flags::default() } else { Flags::ECT };
            let packet = Packet::<()> { flags, ..packet(seq, 0, 1500) };
            port.enqueue(packet, 0, |packet| dropped.push(packet.seq));
        }
        assert_eq!(dropped, [2, 4], "{mark_at:?}");
        assert_eq!(drain(&mut port), [0, 1, 3, 5], "{mark_at:?}");
    }
}

#[test]
fn packets_count_alike_when_counted_in_packets() {
    let mut port = PriorityPort::new(PortSettings {
        count: Count::Packets,
        ..settings(1, MemorySharing::Port(2))
    });
    let mut drops = 0;
    for seq in 0..3 {
        port.enqueue(packet(seq, 0, 40), 0, |_| drops += 1);
    }
    assert_eq!((port.backlog().packets, drops), (2, 1));
}

#[test]
fn dynamic_thresholds_leave_room_for_others() {
    let sharing = MemorySharing::Switch { memory: 12_000, alpha: 1.0 };
    let mut port = PriorityPort::new(settings(1, sharing));
    let mut drops = 0;
    for seq in 0..8 {
        port.enqueue(packet(seq, 0, 1500), 0, |_| drops += 1);
    }
    // With alpha 1, one queue settles at half of the memory: T = alpha (B - Q).
    assert_eq!((port.backlog().bytes, drops), (6000, 4));
    let mut port = PriorityPort::new(settings(1, sharing));
    port.enqueue(packet(0, 0, 1500), 11_000, |_| drops += 1);
    assert_eq!((port.backlog().bytes, drops), (0, 5), "others hold the rest");
}

proptest! {
    /// `pass` on an idle port does what `enqueue` and `dequeue` do.
    #[test]
    fn what_passes_is_what_would_enter_and_leave(
        (queues, wire, priority) in (1usize..9, 40u16..1501, 0u8..10),
        (memory, ecn_threshold, elsewhere) in (0u64..3_000, 0u64..3_000, 0u64..3_000),
        (kind, in_packets, scope, mark_at) in (0u8..3, any::<bool>(), any::<bool>(), any::<bool>()),
        (has_ect, refuses) in any::<(bool, bool)>(),
    ) {
        // If counted in packets, memory and threshold are 0 to 2 packets.
        let unit = if in_packets { 1000 } else { 1 };
        let memory = memory / unit;
        let sharing = match kind {
            0 => MemorySharing::Port(memory),
            1 => MemorySharing::Queue(memory),
            _ => MemorySharing::Switch { memory, alpha: 0.5 },
        };
        let settings = PortSettings {
            ecn_threshold: ecn_threshold / unit,
            count: if in_packets { Count::Packets } else { Count::Bytes },
            ecn_scope: if scope { EcnScope::Port } else { EcnScope::Queue },
            mark_at: if mark_at { MarkAt::Enqueue } else { MarkAt::Dequeue },
            without_ect: if refuses { WithoutEct::Drop } else { WithoutEct::Queue },
            ..settings(queues, sharing)
        };
        let flags = if has_ect { Flags::ECT } else { Flags::default() };
        let packet = Packet::<()> { flags, ..packet(7, priority, wire) };
        let (mut passed, mut entered) = (PriorityPort::new(settings), PriorityPort::new(settings));
        let (mut drops, mut drops_of_entered) = (0, 0);
        let mut next = packet;
        let passes = passed.pass(&mut next, elsewhere, |_| drops += 1);
        entered.enqueue(packet, elsewhere, |_| drops_of_entered += 1);
        prop_assert_eq!(passes.then_some(next), entered.dequeue());
        prop_assert_eq!(drops, drops_of_entered);
        prop_assert_eq!(passed.marks(), entered.marks());
        prop_assert_eq!(passed.backlog(), Backlog::default());
    }

    /// A batch is served as its packets would be one by one.
    #[test]
    fn a_batch_is_served_as_its_packets_would_be(
        packets in prop::collection::vec((40u16..1501, any::<bool>(), 0u8..10, 0u64..1_500), 1..80),
        windows in prop::collection::vec(prop_oneof![0u64..3_000, 0u64..20_000], 1..20),
        (queues, memory, ecn_threshold) in (1usize..4, 0u64..20_000, 0u64..20_000),
        (in_packets, refuses, early) in any::<(bool, bool, bool)>(),
        (by_queue, scope, demotes) in any::<(bool, bool, bool)>(),
    ) {
        let unit = if in_packets { 1000 } else { 1 };
        let memory = memory / unit;
        let sharing =
            if by_queue { MemorySharing::Queue(memory) } else { MemorySharing::Port(memory) };
        let settings = PortSettings {
            ecn_threshold: ecn_threshold / unit,
            count: if in_packets { Count::Packets } else { Count::Bytes },
            without_ect: if refuses { WithoutEct::Drop } else { WithoutEct::Queue },
            mark_at: if early { MarkAt::Enqueue } else { MarkAt::Dequeue },
            ecn_scope: if scope { EcnScope::Port } else { EcnScope::Queue },
            on_full: if demotes { OnFull::Demote } else { OnFull::Drop },
            ..settings(queues, sharing)
        };
        let packets = packets.into_iter().map(|(wire, has_ect, priority, gap)| {
            let flags = if has_ect { Flags::ECT } else { Flags::default() };
            (gap, Packet { flags, ..packet(7, priority, wire) })
        });
        batches::check([(); 2].map(|()| PriorityPort::new(settings)), packets, windows);
    }

    #[test]
    fn conserves_orders_and_fits(
        steps in prop::collection::vec(prop::option::weighted(0.7, (0u8..10, 40u16..1501)), 1..400),
        queues in 1usize..9,
        memory in 1500u64..40_000,
        kind in 0u8..3,
    ) {
        let sharing = match kind {
            0 => MemorySharing::Port(memory),
            1 => MemorySharing::Queue(memory),
            _ => MemorySharing::Switch { memory, alpha: 0.5 },
        };
        let mut port = PriorityPort::new(settings(queues, sharing));
        let (mut came, mut left, mut drops) = (0u64, 0u64, 0u64);
        let mut last_left = vec![None; queues];
        for (seq, step) in steps.into_iter().enumerate() {
            match step {
                Some((priority, wire)) => {
                    came += u64::from(wire);
                    port.enqueue(packet(seq as u32, priority, wire), 0, |p: Packet| drops += u64::from(p.wire));
                }
                None => {
                    let highest = (0..queues).find(|q| port.queue_backlog(*q).packets > 0);
                    let packet = port.dequeue();
                    prop_assert_eq!(packet.is_some(), highest.is_some(), "work conservation");
                    if let Some(packet) = packet {
                        let queue = usize::from(packet.priority).min(queues - 1);
                        prop_assert_eq!(Some(queue), highest, "a higher queue waits");
                        prop_assert!(last_left[queue] < Some(packet.seq), "order in a queue");
                        last_left[queue] = Some(packet.seq);
                        left += u64::from(packet.wire);
                    }
                }
            }
            prop_assert_eq!(came, left + drops + port.backlog().bytes, "bytes are conserved");
            match sharing {
                MemorySharing::Queue(memory) => for queue in 0..queues {
                    prop_assert!(port.queue_backlog(queue).bytes <= memory);
                },
                MemorySharing::Port(memory) | MemorySharing::Switch { memory, .. } => {
                    prop_assert!(port.backlog().bytes <= memory);
                }
            }
        }
    }
}
