//! pFabric's port: the best rank goes next, the worst rank is dropped.
//!
//! Alizadeh et al., SIGCOMM 2013, 4.1. Priority scheduling: the packet of the best rank present
//! names a flow, and the packet of that flow which came first goes next, so that a flow's
//! packets stay in order. Priority dropping: when the port is full, the packet of the worst rank
//! is dropped, the latest of equals; an arriving packet counts as the latest.

mod by_connection;

use std::collections::VecDeque;

use flowsched_units::{SettingError, Settings};

pub use by_connection::ByConnection;

use super::{Backlog, MemorySharing, Port, PortPart, PortSettings, SameFlow, parameters};
use crate::controller::Site;
use crate::flow_level::{Fluid, Sharing, Tagged};
use crate::packet::{Frame, Header};
use crate::part::{Part, Role};
use crate::port::Connections;
use crate::tagger::Tagging;
use crate::transport::Transport;
use crate::world::{Controllers, Parts, Ports, World};

/// pFabric's ports.
#[derive(Clone, Debug, PartialEq)]
pub struct Pfabric {
    settings: PortSettings,
    same_flow: SameFlow,
}

impl PortPart for Pfabric {
    const PART: Part = Part {
        role: Role::Port,
        name: "pfabric",
        about: "The first packet of the flow with the best rank goes next; when the port is full, \
                the packet of the worst rank is dropped.",
        source: "Alizadeh et al., SIGCOMM 2013, 4.1",
        parameters: &[parameters::RANKED],
    };
    const DROPS_LEAST_URGENT: bool = true;

    fn build(settings: &Settings) -> Result<Pfabric, SettingError> {
        let same_flow = SameFlow::from_settings(settings);
        Ok(Pfabric { settings: PortSettings::from_settings(settings, 1), same_flow })
    }

    fn settings(&self) -> PortSettings {
        self.settings
    }

    fn run_in<W, T, G, C>(&self, world: W, transport: T, tagger: G, controllers: C) -> W::Output
    where
        W: World,
        T: Transport,
        G: Tagging<T::Header>,
        C: Controllers<T::Header>,
    {
        let settings = self.settings;
        match self.same_flow {
            SameFlow::Flow => {
                let ports = move |_: Site| PfabricPort::new(settings);
                world.run(Parts { transport, tagger, ports, controllers })
            }
            SameFlow::Connection => {
                let ports = PortsByConnection(settings);
                world.run(Parts { transport, tagger, ports, controllers })
            }
        }
    }

    fn fluid(&self, tagged: Tagged) -> Fluid<Sharing> {
        tagged.by_rank
    }
}

/// Makes ports that take everything on one connection for one flow.
struct PortsByConnection(PortSettings);

impl<H: Header> Ports<H> for PortsByConnection {
    type Port = ByConnection<H>;

    fn port(&self, _site: Site, connections: &Connections) -> ByConnection<H> {
        ByConnection::new(self.0, connections.clone())
    }
}

/// A port that orders packets by rank, 0 being the best.
///
/// Packets stay where they are in `slots`; what moves are the keys in `order`, which is sorted,
/// and the links that keep each flow's packets in the order in which they came.
#[derive(Clone, Debug)]
pub struct PfabricPort<F> {
    buffer: u64,
    ecn_threshold: u64,
    backlog: Backlog,
    marks: u64,
    arrivals: u64,
    /// The packets that wait, the best rank first, of equals the one that came first.
    order: VecDeque<Key>,
    slots: Vec<Slot<F>>,
    /// Places in `slots` that are not used.
    free: Vec<u32>,
    /// The flows that have a packet here.
    flows: Vec<FlowQueue>,
}

#[derive(Clone, Copy, Debug)]
struct Key {
    rank: u32,
    slot: u32,
    arrival: u64,
}

impl Key {
    fn place(self) -> (u32, u64) {
        (self.rank, self.arrival)
    }
}

/// A packet, and its neighbours among those of its flow.
#[derive(Clone, Copy, Debug)]
struct Slot<F> {
    frame: F,
    arrival: u64,
    earlier: u32,
    later: u32,
}

/// The packets of one flow, from the first to the last that came.
#[derive(Clone, Copy, Debug)]
struct FlowQueue {
    flow: u32,
    first: u32,
    last: u32,
}

/// No slot.
const NONE: u32 = u32::MAX;

impl<F: Frame + Copy> PfabricPort<F> {
    /// An empty port; of the settings it knows the memory of a port and the marking threshold,
    /// both in bytes.
    pub fn new(settings: PortSettings) -> PfabricPort<F> {
        let buffer = match settings.sharing {
            MemorySharing::Port(memory) | MemorySharing::Queue(memory) => memory,
            MemorySharing::Switch { memory, .. } => memory,
        };
        PfabricPort {
            buffer,
            ecn_threshold: settings.ecn_threshold,
            backlog: Backlog::default(),
            marks: 0,
            arrivals: 0,
            order: VecDeque::new(),
            slots: Vec::new(),
            free: Vec::new(),
            flows: Vec::new(),
        }
    }

    /// The packets that wait, in no particular order.
    pub fn waiting(&self) -> impl Iterator<Item = &F> {
        self.order.iter().map(|key| &self.slots[key.slot as usize].frame)
    }

    #[inline]
    fn has_room(&self, bytes: u64) -> bool {
        self.backlog.bytes + bytes <= self.buffer
    }

    #[inline]
    fn mark_where_due(&mut self, frame: &mut F, bytes: u64) {
        if self.backlog.bytes + bytes > self.ecn_threshold && frame.can_be_marked() {
            frame.mark();
            self.marks += 1;
        }
    }

    #[inline]
    fn insert(&mut self, frame: F) {
        let arrival = self.arrivals;
        self.arrivals += 1;
        let flow = frame.flow();
        let rank = frame.rank();
        let mut slot = Slot { frame, arrival, earlier: NONE, later: NONE };
        let queue = self.flows.iter().position(|queue| queue.flow == flow);
        if let Some(queue) = queue {
            slot.earlier = self.flows[queue].last;
        }
        let place = match self.free.pop() {
            Some(place) => {
                self.slots[place as usize] = slot;
                place
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        };
        match queue {
            Some(queue) => {
                self.slots[slot.earlier as usize].later = place;
                self.flows[queue].last = place;
            }
            None => self.flows.push(FlowQueue { flow, first: place, last: place }),
        }
        // The latest of equals: behind all of the same rank.
        let index = self.order.partition_point(|key| key.rank <= rank);
        self.order.insert(index, Key { rank, slot: place, arrival });
    }

    /// Removes the packet whose key is at `index` in the order.
    #[inline]
    fn remove(&mut self, index: usize) -> Option<F> {
        let key = self.order.remove(index)?;
        let Slot { frame, earlier, later, .. } = self.slots[key.slot as usize];
        if earlier != NONE {
            self.slots[earlier as usize].later = later;
        }
        if later != NONE {
            self.slots[later as usize].earlier = earlier;
        }
        if (earlier == NONE || later == NONE)
            && let Some(queue) = self.flows.iter().position(|queue| queue.flow == frame.flow())
        {
            let ends = &mut self.flows[queue];
            ends.first = if earlier == NONE { later } else { ends.first };
            ends.last = if later == NONE { earlier } else { ends.last };
            if earlier == NONE && later == NONE {
                self.flows.swap_remove(queue);
            }
        }
        self.free.push(key.slot);
        self.backlog.bytes -= u64::from(frame.wire_bytes());
        self.backlog.packets -= 1;
        Some(frame)
    }
}

impl<F: Frame + Copy> Port<F> for PfabricPort<F> {
    #[inline]
    fn enqueue(&mut self, mut frame: F, _elsewhere: u64, mut dropped: impl FnMut(F)) {
        let bytes = u64::from(frame.wire_bytes());
        while !self.has_room(bytes) {
            let worst = self.order.back().filter(|worst| worst.rank > frame.rank());
            if worst.is_none() {
                return dropped(frame);
            }
            if let Some(worst) = self.remove(self.order.len() - 1) {
                dropped(worst);
            }
        }
        self.mark_where_due(&mut frame, bytes);
        self.insert(frame);
        self.backlog.bytes += bytes;
        self.backlog.packets += 1;
    }

    #[inline]
    fn dequeue(&mut self) -> Option<F> {
        let best = *self.order.front()?;
        let flow = self.slots[best.slot as usize].frame.flow();
        let queue = self.flows.iter().find(|queue| queue.flow == flow)?;
        if queue.first == best.slot {
            return self.remove(0);
        }
        let first = &self.slots[queue.first as usize];
        let place = (first.frame.rank(), first.arrival);
        let index = self.order.partition_point(|key| key.place() < place);
        self.remove(index)
    }

    #[inline]
    fn pass(&mut self, mut frame: F, _elsewhere: u64, mut dropped: impl FnMut(F)) -> Option<F> {
        debug_assert_eq!(self.backlog.packets, 0);
        let bytes = u64::from(frame.wire_bytes());
        if !self.has_room(bytes) {
            dropped(frame);
            return None;
        }
        self.mark_where_due(&mut frame, bytes);
        Some(frame)
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
        false
    }
}

#[cfg(test)]
mod tests {
    use flowsched_units::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::packet::{Flags, Packet};

    fn packet(flow: u32, seq: u32, rank: u32, wire: u16) -> Packet {
        let mut packet = Packet::data(flow, 0, seq, wire, Flags::ECT);
        packet.set_rank(rank);
        packet
    }

    fn port(buffer: u64) -> PfabricPort<Packet> {
        PfabricPort::new(PortSettings::fifo(Bytes::new(buffer), Bytes::MAX))
    }

    fn drain(port: &mut PfabricPort<Packet>) -> Vec<(u32, u32)> {
        std::iter::from_fn(|| port.dequeue()).map(|packet| (packet.flow, packet.seq)).collect()
    }

    #[test]
    fn the_earliest_packet_of_the_best_packets_flow_goes_next() {
        // "dequeues the earliest packet of the best packet's flow".
        let mut port = port(u64::MAX);
        for (flow, seq, rank) in [(1, 0, 9), (2, 0, 5), (1, 1, 8), (1, 2, 4), (2, 1, 4)] {
            port.enqueue(packet(flow, seq, rank, 1500), 0, |_| panic!("dropped"));
        }
        // Flow 1 has the best rank (4, which came before flow 2's) until its packets are gone.
        assert_eq!(drain(&mut port), [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]);
    }

    #[test]
    fn the_worst_is_dropped_and_of_equals_the_latest() {
        // "evicts the packet of the largest priority value (the latest on ties)".
        let mut port = port(3 * 1500);
        let mut dropped = Vec::new();
        for (flow, rank) in [(1, 5), (2, 7), (3, 7), (4, 6), (5, 7), (6, 9), (7, 1)] {
            port.enqueue(packet(flow, 0, rank, 1500), 0, |packet| dropped.push(packet.flow));
        }
        assert_eq!(dropped, [3, 5, 6, 2], "5 and 6 are dropped as they come");
        assert_eq!(drain(&mut port), [(7, 0), (1, 0), (4, 0)]);
    }

    #[test]
    fn an_ack_is_better_than_all_data() {
        let mut port = port(1500);
        port.enqueue(packet(1, 0, 1, 1500), 0, |_| panic!("dropped"));
        let ack = Packet { flow: 2, wire: 40, flags: Flags::ACK, ..Packet::default() };
        let mut dropped = Vec::new();
        port.enqueue(ack, 0, |packet: Packet| dropped.push(packet.flow));
        assert_eq!((dropped, drain(&mut port)), (vec![1], vec![(2, 0)]));
    }

    #[test]
    fn packets_are_marked_above_the_threshold() {
        let mut port = PfabricPort::new(PortSettings::fifo(Bytes::MAX, Bytes::new(1500)));
        for seq in 0..3 {
            port.enqueue(packet(1, seq, 1, 1500), 0, |_| panic!("dropped"));
        }
        assert_eq!(port.marks(), 2);
        assert!(!port.dequeue().unwrap().flags.has(Flags::CE));
        assert!(port.dequeue().unwrap().flags.has(Flags::CE));
    }

    /// The paper's rules by searching a list.
    #[derive(Default)]
    struct Model(Vec<Packet>);

    impl Model {
        fn bytes(&self) -> u64 {
            self.0.iter().map(|packet| u64::from(packet.wire)).sum()
        }

        fn enqueue(&mut self, packet: Packet, buffer: u64) -> Vec<Packet> {
            self.0.push(packet);
            let mut dropped = Vec::new();
            while self.bytes() > buffer {
                let worst = self.0.iter().map(Packet::rank).max().unwrap();
                let latest = self.0.iter().rposition(|packet| packet.rank() == worst).unwrap();
                dropped.push(self.0.remove(latest));
                if dropped.last() == Some(&packet) {
                    break;
                }
            }
            dropped
        }

        fn dequeue(&mut self) -> Option<Packet> {
            let best = self.0.iter().min_by_key(|packet| packet.rank())?;
            let first = self.0.iter().position(|packet| packet.flow == best.flow)?;
            Some(self.0.remove(first))
        }
    }

    proptest! {
        #[test]
        fn behaves_as_the_rules_say(
            steps in prop::collection::vec(
                prop::option::weighted(0.65, (0u32..6, 0u32..12, 40u16..1501)), 1..500),
            buffer in 1500u64..20_000,
        ) {
            let mut port = port(buffer);
            let mut model = Model::default();
            for (seq, step) in steps.into_iter().enumerate() {
                match step {
                    Some((flow, rank, wire)) => {
                        let packet = packet(flow, seq as u32, rank, wire);
                        let mut dropped = Vec::new();
                        port.enqueue(packet, 0, |packet| dropped.push(packet));
                        for packet in &dropped {
                            let worst = port.waiting().map(Packet::rank).max().unwrap_or(0);
                            prop_assert!(packet.rank() >= worst, "a worse packet stayed");
                        }
                        prop_assert_eq!(dropped, model.enqueue(packet, buffer));
                    }
                    None => prop_assert_eq!(port.dequeue(), model.dequeue()),
                }
                prop_assert_eq!(port.backlog().bytes, model.bytes());
                prop_assert_eq!(port.backlog().packets as usize, model.0.len());
            }
        }

        #[test]
        fn a_flows_packets_stay_in_order(
            packets in prop::collection::vec((0u32..4, 0u32..100), 1..100),
        ) {
            let mut port = port(u64::MAX);
            for (seq, (flow, rank)) in packets.into_iter().enumerate() {
                port.enqueue(packet(flow, seq as u32, rank, 1500), 0, |_| panic!("dropped"));
            }
            let mut last = [None; 4];
            for (flow, seq) in drain(&mut port) {
                prop_assert!(last[flow as usize] < Some(seq));
                last[flow as usize] = Some(seq);
            }
        }
    }
}
