//! pFabric's port as in the PIAS authors' simulator: all that one host sends to another on a
//! connection is one flow.
//!
//! Their simulator gives a connection's packets the same flow number in both directions. Its ports
//! therefore do not distinguish data from the ACKs of flows in the opposite direction between the
//! same two hosts. Where both meet, each ACK lets data that has waited longer go first. The effect
//! is visible when few hosts share many connections.

use super::PfabricPort;
use crate::packet::{Flags, Frame, Header, Packet};
use crate::port::connections::ConnectionId;
use crate::port::{Backlog, Connections, Port, PortSettings};

/// pFabric's port, which treats all that one host sends to another on connections of one number as
/// one flow.
#[derive(Debug)]
pub struct ByConnection<H> {
    port: PfabricPort<Labelled<H>>,
    connections: Connections,
}

/// A packet with the number of the flow that it counts as part of.
#[derive(Clone, Copy, Debug)]
struct Labelled<H> {
    packet: Packet<H>,
    label: u32,
}

impl<H: Header> ByConnection<H> {
    /// An empty port. [`PfabricPort::new`] says which settings it uses.
    pub fn new(settings: PortSettings, connections: Connections) -> ByConnection<H> {
        ByConnection { port: PfabricPort::new(settings), connections }
    }

    fn label(&self, packet: Packet<H>) -> Labelled<H> {
        let ConnectionId { mut from, mut to, number } = self.connections.connection_of(packet.flow);
        if packet.flags.has(Flags::ACK) {
            (from, to) = (to, from);
        }
        // Labels differ for up to 4096 hosts and 256 connections of a pair, and are rarely equal
        // beyond.
        let label = (from << 20).wrapping_add(to << 8).wrapping_add(number);
        Labelled { packet, label }
    }
}

impl<H: Header> Port<Packet<H>> for ByConnection<H> {
    const ORDERS_BY_RANK: bool = true;

    fn enqueue(&mut self, packet: Packet<H>, elsewhere: u64, mut dropped: impl FnMut(Packet<H>)) {
        let labelled = self.label(packet);
        self.port.enqueue(labelled, elsewhere, |labelled| dropped(labelled.packet));
    }

    fn dequeue(&mut self) -> Option<Packet<H>> {
        self.port.dequeue().map(|labelled| labelled.packet)
    }

    fn backlog(&self) -> Backlog {
        self.port.backlog()
    }

    fn marks(&self) -> u64 {
        self.port.marks()
    }

    fn shares_memory(&self) -> bool {
        false
    }
}

impl<H: Header> Frame for Labelled<H> {
    fn wire_bytes(&self) -> u32 {
        self.packet.wire_bytes()
    }

    fn priority(&self) -> u8 {
        self.packet.priority
    }

    fn rank(&self) -> u32 {
        self.packet.rank()
    }

    fn flow(&self) -> u32 {
        self.label
    }

    fn is_ack(&self) -> bool {
        self.packet.is_ack()
    }

    fn is_marked(&self) -> bool {
        self.packet.is_marked()
    }

    fn can_be_marked(&self) -> bool {
        self.packet.can_be_marked()
    }

    fn mark(&mut self) {
        self.packet.mark();
    }
}
