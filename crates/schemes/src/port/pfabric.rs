//! pFabric's port: the best rank goes next, the worst rank is dropped.
//!
//! Alizadeh et al., SIGCOMM 2013, 4.1:
//!
//! - Priority scheduling: the packet of the best rank chooses a flow, and the packet of that flow
//!   that came first goes next. A flow's packets therefore stay in order.
//! - Priority dropping: when the port is full, the packet of the worst rank is dropped, and of
//!   equals the latest. An arriving packet counts as the latest.

mod by_connection;
mod waiting;

use flowsched_units::{SettingError, Settings, Time};

pub use by_connection::ByConnection;

use super::line::Batch;
use super::{
    Arrivals, Backlog, Line, MemorySharing, Port, PortPart, PortSettings, SameFlow, Sent, Sink,
    parameters,
};
use crate::controller::Site;
use crate::flow_level::{Fluid, Sharing, Tagged};
use crate::packet::{Frame, Header};
use crate::part::{Part, Role};
use crate::port::Connections;
use crate::tagger::Tagging;
use crate::transport::Transport;
use crate::world::{Controllers, Parts, Ports, World};
use waiting::Waiting;

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

/// Makes ports that treat everything on one connection as one flow.
struct PortsByConnection(PortSettings);

impl<H: Header> Ports<H> for PortsByConnection {
    type Port = ByConnection<H>;

    fn port(&self, _site: Site, connections: &Connections) -> ByConnection<H> {
        ByConnection::new(self.0, connections.clone())
    }
}

/// A port that orders packets by rank, 0 being the best.
#[derive(Clone, Debug)]
pub struct PfabricPort<F> {
    buffer: u64,
    ecn_threshold: u64,
    backlog: Backlog,
    marks: u64,
    waiting: Waiting<F>,
}

impl<F: Frame + Copy> PfabricPort<F> {
    /// An empty port. Of the settings, it uses only the memory of a port and the marking threshold,
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
            waiting: Waiting::new(),
        }
    }

    /// The packets that wait, in no particular order.
    pub fn waiting(&self) -> impl Iterator<Item = &F> {
        self.waiting.iter()
    }

    /// Whether the packet has room without any drop, and is not marked.
    #[inline]
    fn is_unhindered(&self, frame: &F) -> bool {
        let bytes = self.backlog.bytes + u64::from(frame.wire_bytes());
        bytes <= self.buffer.min(self.ecn_threshold)
    }

    /// Makes room for a packet, and marks it if it must be marked. Returns the packet, or `None` if
    /// it was dropped itself.
    #[cold]
    #[inline(never)]
    fn admit(&mut self, mut frame: F, mut dropped: impl FnMut(F)) -> Option<F> {
        let bytes = u64::from(frame.wire_bytes());
        while self.backlog.bytes + bytes > self.buffer {
            let Some(worst) = self.waiting.remove_worse_than(frame.rank()) else {
                dropped(frame);
                return None;
            };
            self.forget(worst.wire_bytes());
            dropped(worst);
        }
        if self.backlog.bytes + bytes > self.ecn_threshold && frame.can_be_marked() {
            frame.mark();
            self.marks += 1;
        }
        Some(frame)
    }

    #[inline]
    fn insert(&mut self, frame: &F) {
        self.backlog.bytes += u64::from(frame.wire_bytes());
        self.backlog.packets += 1;
        self.waiting.insert(frame);
    }

    /// Takes a packet of this many bytes off the backlog.
    #[inline]
    fn forget(&mut self, bytes: u32) {
        self.backlog.bytes -= u64::from(bytes);
        self.backlog.packets -= 1;
    }

    /// Sends waiting packets whose transmission begins at `until` or earlier.
    #[inline(always)]
    fn send_until(&mut self, until: Time, batch: &mut Batch<'_, impl Sink<F>>) {
        while batch.line.free_at() <= until
            && let Some((queue, frame)) = self.waiting.first()
        {
            let bytes = frame.wire_bytes();
            batch.send(batch.line.free_at(), frame);
            self.waiting.remove_first(queue);
            self.forget(bytes);
        }
    }
}

impl<F: Frame + Copy> Port<F> for PfabricPort<F> {
    const ORDERS_BY_RANK: bool = true;

    #[inline]
    fn enqueue(&mut self, frame: F, _elsewhere: u64, dropped: impl FnMut(F)) {
        if self.is_unhindered(&frame) {
            self.insert(&frame);
        } else if let Some(frame) = self.admit(frame, dropped) {
            self.insert(&frame);
        }
    }

    #[inline]
    fn dequeue(&mut self) -> Option<F> {
        let (queue, frame) = self.waiting.first()?;
        let frame = *frame;
        self.waiting.remove_first(queue);
        self.forget(frame.wire_bytes());
        Some(frame)
    }

    #[inline]
    fn pass(&mut self, frame: &mut F, _elsewhere: u64, dropped: impl FnMut(F)) -> bool {
        debug_assert_eq!(self.backlog.packets, 0);
        if self.is_unhindered(frame) {
            return true;
        }
        let admitted = self.admit(*frame, dropped);
        *frame = admitted.unwrap_or(*frame);
        admitted.is_some()
    }

    #[inline]
    fn serve<'f, S: Sink<F>>(
        &mut self,
        line: &mut Line,
        arrivals: impl Arrivals<'f, F>,
        end: Time,
        sink: &mut S,
    ) -> Sent
    where
        F: 'f,
    {
        let mut batch = Batch::new(*line, sink);
        for (now, arrived) in arrivals {
            self.send_until(now, &mut batch);
            let mut frame = arrived;
            let (mut looked_at, admitted);
            if S::LOOKS {
                looked_at = *arrived;
                batch.sink.coming(now, &mut looked_at, || self.backlog);
                frame = &looked_at;
            }
            if !self.is_unhindered(frame) {
                match self.admit(*frame, |frame| batch.sink.dropped(frame)) {
                    Some(taken) => admitted = taken,
                    None => continue,
                }
                frame = &admitted;
            }
            if batch.line.free_at() > now {
                self.insert(frame);
            } else {
                batch.send(now, frame);
            }
        }
        // Up to the last instant before the end.
        self.send_until(end.saturating_sub(Time::from_ps(1)), &mut batch);
        *line = batch.line;
        batch.sent
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
    use crate::port::batches;

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

    /// A model that applies the paper's rules by searching a list.
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
        fn a_batch_is_served_as_its_packets_would_be(
            packets in prop::collection::vec((0u32..5, 0u32..9, 40u16..1501, 0u64..1_500), 1..80),
            windows in prop::collection::vec(prop_oneof![0u64..3_000, 0u64..20_000], 1..20),
            (buffer, ecn_threshold) in (0u64..20_000, 0u64..20_000),
        ) {
            let settings = PortSettings::fifo(Bytes::new(buffer), Bytes::new(ecn_threshold));
            let packets = packets.into_iter().enumerate().map(|(seq, (flow, rank, wire, gap))| {
                (gap, packet(flow, seq as u32, rank, wire))
            });
            batches::check([(); 2].map(|()| PfabricPort::new(settings)), packets, windows);
        }

        #[test]
        fn ranks_that_rise_or_fall_with_each_packet_of_a_flow_change_nothing(
            steps in prop::collection::vec(prop::option::weighted(0.65, (0u32..4, 0u32..2)), 1..300),
            rising in any::<[bool; 4]>(),
        ) {
            let mut port = port(9_000);
            let mut model = Model::default();
            let mut ranks = [1_000u32; 4];
            for (seq, step) in steps.into_iter().enumerate() {
                let Some((flow, more)) = step else {
                    prop_assert_eq!(port.dequeue(), model.dequeue());
                    continue;
                };
                let rank = &mut ranks[flow as usize];
                *rank = if rising[flow as usize] { *rank + more } else { *rank - more };
                let packet = packet(flow, seq as u32, *rank, 1500);
                let mut dropped = Vec::new();
                port.enqueue(packet, 0, |packet| dropped.push(packet));
                prop_assert_eq!(dropped, model.enqueue(packet, 9_000));
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
