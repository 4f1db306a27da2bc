//! Queues that share memory and marking, whatever the discipline.
//!
//! PIAS ToN 2017, III-B.2: an arriving packet is marked "if the instant buffer occupancy is
//! larger than the marking threshold".

use std::sync::Arc;

use flowsched_units::Bytes;

use super::parameters::MOST_QUEUES;
use super::{
    Admission, Backlog, Count, EcnScope, HighestFirst, MarkAt, MemorySharing, OnFull, Port,
    PortSettings, Ring, Serving, WithoutEct,
};
use crate::packet::Frame;

/// A port with up to 64 queues, each first in first out.
#[derive(Clone, Debug)]
pub struct Queues<F, D> {
    /// Shared by ports that are alike: they stay in the cache.
    settings: Arc<PortSettings>,
    queues: Box<[Queue<F>]>,
    /// Bit i is set while queue i holds a packet.
    occupied: u64,
    backlog: Backlog,
    marks: u64,
    /// Up to this amount, the new packet counted, a packet has room and is not marked, whatever
    /// else holds.
    unhindered: u64,
    serving: D,
}

/// A port whose highest non-empty queue is served first; with one queue, FIFO.
pub type PriorityPort<F> = Queues<F, HighestFirst>;

#[derive(Clone, Debug)]
struct Queue<F> {
    frames: Ring<F>,
    bytes: u64,
}

impl<F: Frame + Copy + Default> PriorityPort<F> {
    /// An empty port that serves by strict priority.
    pub fn new(settings: impl Into<Arc<PortSettings>>) -> PriorityPort<F> {
        Queues::with_serving(settings, HighestFirst)
    }
}

impl<F: Frame + Copy + Default, D: Serving> Queues<F, D> {
    /// An empty port that serves by `serving`.
    pub fn with_serving(settings: impl Into<Arc<PortSettings>>, serving: D) -> Queues<F, D> {
        let settings = settings.into();
        let queue = Queue { frames: Ring::default(), bytes: 0 };
        Queues {
            queues: vec![queue; settings.queues.clamp(1, MOST_QUEUES)].into_boxed_slice(),
            unhindered: unhindered(&settings),
            settings,
            occupied: 0,
            backlog: Backlog::default(),
            marks: 0,
            serving,
        }
    }

    /// What waits in queue `index`; nothing if there is no such queue.
    pub fn queue_backlog(&self, index: usize) -> Backlog {
        self.queues.get(index).map_or(Backlog::default(), |queue| Backlog {
            bytes: queue.bytes,
            packets: queue.frames.len() as u32,
        })
    }

    #[inline]
    fn amount(&self, bytes: u64, packets: usize) -> u64 {
        match self.settings.count {
            Count::Bytes => bytes,
            Count::Packets => packets as u64,
        }
    }

    #[inline]
    fn port_amount(&self) -> u64 {
        self.amount(self.backlog.bytes, self.backlog.packets as usize)
    }

    #[inline]
    fn queue_amount(&self, index: usize) -> u64 {
        let queue = &self.queues[index];
        self.amount(queue.bytes, queue.frames.len())
    }

    #[inline]
    fn has_room(&self, index: usize, more: u64, elsewhere: u64) -> bool {
        match self.settings.sharing {
            MemorySharing::Port(memory) => self.port_amount() + more <= memory,
            MemorySharing::Queue(memory) => self.queue_amount(index) + more <= memory,
            MemorySharing::Switch { memory, alpha } => {
                let used = self.port_amount() + elsewhere;
                let free = memory.saturating_sub(used);
                more <= free && (self.queue_amount(index) + more) as f64 <= alpha * free as f64
            }
        }
    }

    /// The queue that takes the packet in, if one has room; marks the packet if it is to be marked
    /// there.
    #[inline]
    fn place(&mut self, frame: &mut F, elsewhere: u64) -> Option<usize> {
        let index = self.serving.queue_of(frame).min(self.queues.len() - 1);
        let more = self.amount(u64::from(frame.wire_bytes()), 1);
        if self.port_amount() + more <= self.unhindered {
            return Some(index);
        }
        self.place_hindered(index, more, frame, elsewhere)
    }

    /// The same for a packet that may find no room, or be marked.
    #[inline(never)]
    fn place_hindered(
        &mut self,
        mut index: usize,
        more: u64,
        frame: &mut F,
        elsewhere: u64,
    ) -> Option<usize> {
        if !self.has_room(index, more, elsewhere) {
            index = self.place_below(index, more, elsewhere)?;
        }
        if self.above_threshold(index, more) {
            if self.refuses(frame) {
                return None;
            }
            if self.settings.mark_at == MarkAt::Enqueue {
                self.mark(frame);
            }
        }
        Some(index)
    }

    /// The next queue below a full one that has room, where packets are demoted.
    #[cold]
    fn place_below(&self, full: usize, more: u64, elsewhere: u64) -> Option<usize> {
        if self.settings.on_full == OnFull::Drop {
            return None;
        }
        (full + 1..self.queues.len()).find(|index| self.has_room(*index, more, elsewhere))
    }

    #[inline]
    fn above_threshold(&self, index: usize, more: u64) -> bool {
        let waiting = match self.settings.ecn_scope {
            EcnScope::Port => self.port_amount(),
            EcnScope::Queue => self.queue_amount(index),
        };
        waiting + more > self.settings.ecn_threshold
    }

    /// Whether a packet is dropped if more than the threshold waits.
    #[inline]
    fn refuses(&self, frame: &F) -> bool {
        self.settings.without_ect == WithoutEct::Drop && !frame.can_be_marked()
    }

    #[inline]
    fn mark(&mut self, frame: &mut F) {
        if frame.can_be_marked() {
            frame.mark();
            self.marks += 1;
        }
    }
}

impl<F: Frame + Copy + Default, D: Serving> Port<F> for Queues<F, D> {
    #[inline]
    fn enqueue(&mut self, mut frame: F, elsewhere: u64, mut dropped: impl FnMut(F)) {
        let Some(index) = self.place(&mut frame, elsewhere) else { return dropped(frame) };
        let bytes = u64::from(frame.wire_bytes());
        let queue = &mut self.queues[index];
        queue.frames.push(frame);
        queue.bytes += bytes;
        self.occupied |= 1 << index;
        self.backlog.bytes += bytes;
        self.backlog.packets += 1;
    }

    #[inline]
    fn dequeue(&mut self) -> Option<F> {
        if self.occupied == 0 {
            return None;
        }
        let index = self.serving.next(self.occupied);
        let queue = &mut self.queues[index];
        let mut frame = queue.frames.pop()?;
        let bytes = u64::from(frame.wire_bytes());
        queue.bytes -= bytes;
        if queue.frames.is_empty() {
            self.occupied &= !(1 << index);
        }
        self.backlog.bytes -= bytes;
        self.backlog.packets -= 1;
        if self.settings.mark_at == MarkAt::Dequeue && self.above_threshold(index, 0) {
            self.mark(&mut frame);
        }
        Some(frame)
    }

    #[inline]
    fn pass(&mut self, mut frame: F, elsewhere: u64, mut dropped: impl FnMut(F)) -> Option<F> {
        debug_assert_eq!(self.occupied, 0);
        if self.amount(u64::from(frame.wire_bytes()), 1) <= self.unhindered {
            return Some(frame);
        }
        if self.place(&mut frame, elsewhere).is_none() {
            dropped(frame);
            return None;
        }
        Some(frame)
    }

    /// Marking at dequeue depends on what comes later; shared memory depends on other ports.
    fn in_order(&self) -> Option<Bytes> {
        let settings = &self.settings;
        let is_marked_early = settings.mark_at == MarkAt::Enqueue;
        let is_in_order =
            self.queues.len() == 1 && is_marked_early && !Port::<F>::shares_memory(self);
        is_in_order.then_some(match settings.count {
            Count::Bytes => Bytes::new(self.unhindered),
            Count::Packets => Bytes::ZERO,
        })
    }

    fn admit(&mut self, frame: &F, waiting: Backlog) -> Admission {
        let bytes = waiting.bytes + u64::from(frame.wire_bytes());
        let after = self.amount(bytes, waiting.packets as usize + 1);
        let memory = match self.settings.sharing {
            MemorySharing::Port(memory) | MemorySharing::Queue(memory) => memory,
            MemorySharing::Switch { .. } => 0,
        };
        if after > memory {
            return Admission::Dropped;
        }
        if after <= self.settings.ecn_threshold {
            Admission::Taken
        } else if frame.can_be_marked() {
            self.marks += 1;
            Admission::Marked
        } else if self.refuses(frame) {
            Admission::Dropped
        } else {
            Admission::Taken
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn marks(&self) -> u64 {
        self.marks
    }

    #[inline]
    fn shares_memory(&self) -> bool {
        matches!(self.settings.sharing, MemorySharing::Switch { .. })
    }
}

/// The amount that finds room and is not marked.
fn unhindered(settings: &PortSettings) -> u64 {
    match settings.sharing {
        MemorySharing::Port(memory) | MemorySharing::Queue(memory) => {
            memory.min(settings.ecn_threshold)
        }
        // How much room there is depends on the other ports.
        MemorySharing::Switch { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::{Flags, Packet};

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
        let marked: Vec<bool> = std::iter::from_fn(|| port.dequeue())
            .map(|packet| packet.flags.has(Flags::CE))
            .collect();
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
        let marked: Vec<bool> = std::iter::from_fn(|| port.dequeue())
            .map(|packet| packet.flags.has(Flags::CE))
            .collect();
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
        /// To pass an idle port is to enter it and to leave it.
        #[test]
        fn what_passes_is_what_would_enter_and_leave(
            (queues, wire, priority) in (1usize..9, 40u16..1501, 0u8..10),
            (memory, ecn_threshold, elsewhere) in (0u64..3_000, 0u64..3_000, 0u64..3_000),
            (kind, in_packets, scope, mark_at) in (0u8..3, any::<bool>(), any::<bool>(), any::<bool>()),
            (has_ect, refuses) in any::<(bool, bool)>(),
        ) {
            // In packets: 0 to 2 of them.
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
            let through = passed.pass(packet, elsewhere, |_| drops += 1);
            entered.enqueue(packet, elsewhere, |_| drops_of_entered += 1);
            prop_assert_eq!(through, entered.dequeue());
            prop_assert_eq!(drops, drops_of_entered);
            prop_assert_eq!(passed.marks(), entered.marks());
            prop_assert_eq!(passed.backlog(), Backlog::default());
        }

        /// What a port in order says of a packet is what becomes of it in the queue.
        #[test]
        fn what_is_admitted_is_what_would_enter(
            packets in prop::collection::vec((40u16..1501, any::<bool>()), 1..40),
            (memory, ecn_threshold) in (0u64..20_000, 0u64..20_000),
            (in_packets, refuses) in any::<(bool, bool)>(),
        ) {
            let unit = if in_packets { 1000 } else { 1 };
            let settings = PortSettings {
                ecn_threshold: ecn_threshold / unit,
                count: if in_packets { Count::Packets } else { Count::Bytes },
                without_ect: if refuses { WithoutEct::Drop } else { WithoutEct::Queue },
                ..settings(1, MemorySharing::Port(memory / unit))
            };
            let (mut asked, mut entered) = (PriorityPort::new(settings), PriorityPort::new(settings));
            prop_assert!(Port::<Packet>::in_order(&asked).is_some());
            for (wire, has_ect) in packets {
                let flags = if has_ect { Flags::ECT } else { Flags::default() };
                let packet = Packet::<()> { flags, ..packet(7, 0, wire) };
                let (before, marks) = (entered.backlog(), entered.marks());
                entered.enqueue(packet, 0, |_| ());
                let expected = if entered.backlog() == before {
                    Admission::Dropped
                } else if entered.marks() > marks {
                    Admission::Marked
                } else {
                    Admission::Taken
                };
                prop_assert_eq!(asked.admit(&packet, before), expected);
                prop_assert_eq!(asked.marks(), entered.marks());
            }
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
}
