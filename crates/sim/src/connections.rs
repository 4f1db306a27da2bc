//! Which connection carries which flow, for ports that take everything on one for one flow.
//!
//! The PIAS authors' simulator gives a connection's packets the same flow number in both
//! directions, so that its pFabric ports do not tell data from the ACKs of flows that go the
//! other way between the same two hosts: where these meet, each ACK lets data go first that has
//! waited longer. That shows where few hosts share many connections.

use std::cell::Cell;
use std::rc::Rc;

use flowsched_schemes::Packet;
use flowsched_schemes::packet::{Flags, Frame, Header};
use flowsched_schemes::port::{Backlog, PfabricPort, Port, PortSettings};
use flowsched_workload::Flow;

/// By flow: the number of its pair's connection that carries it, once it has started.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionNumbers(Rc<[Cell<u32>]>);

impl ConnectionNumbers {
    pub(crate) fn new(flows: usize) -> ConnectionNumbers {
        ConnectionNumbers(vec![Cell::new(0); flows].into())
    }

    pub(crate) fn note(&self, flow: u32, number: u32) {
        self.0[flow as usize].set(number);
    }
}

/// pFabric's port, with everything between two hosts on connections of one number as one flow.
#[derive(Debug)]
pub(crate) struct ByConnection<'a, H> {
    port: PfabricPort<Labelled<H>>,
    flows: &'a [Flow],
    numbers: ConnectionNumbers,
}

/// A packet with the number of what counts as its flow.
#[derive(Clone, Copy, Debug)]
struct Labelled<H> {
    packet: Packet<H>,
    label: u32,
}

impl<'a, H: Header> ByConnection<'a, H> {
    pub(crate) fn new(
        settings: PortSettings,
        flows: &'a [Flow],
        numbers: ConnectionNumbers,
    ) -> ByConnection<'a, H> {
        ByConnection { port: PfabricPort::new(settings), flows, numbers }
    }

    fn label(&self, packet: Packet<H>) -> Labelled<H> {
        let flow = &self.flows[packet.flow as usize];
        let (mut from, mut to) = (flow.src.0, flow.dst.0);
        if packet.flags.has(Flags::ACK) {
            (from, to) = (to, from);
        }
        let number = self.numbers.0[packet.flow as usize].get();
        // Distinct for up to 4096 hosts and 256 connections of a pair, and rarely alike beyond.
        let label = (from << 20).wrapping_add(to << 8).wrapping_add(number);
        Labelled { packet, label }
    }
}

impl<H: Header> Port<Packet<H>> for ByConnection<'_, H> {
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
