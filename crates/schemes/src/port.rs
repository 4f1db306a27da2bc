//! Ports: which packet goes next, which is marked, which is dropped.
//!
//! A port is the queue of one egress, of a switch or of a host's network card. The link behind it,
//! with its rate and delay, belongs to the world that runs the port.

#[cfg(test)]
mod batches;
mod connections;
mod families;
mod fifo;
mod line;
pub mod parameters;
mod part;
mod pfabric;
mod queue_ports;
mod queues;
mod ring;
mod serving;
mod settings;
mod slytherin;
mod strict_priority;
mod weighted_round_robin;

pub use connections::{ConnectionId, Connections};
#[doc(hidden)]
pub use families::{AnyPort, InOrder, Queued};
pub use fifo::Fifo;
pub use line::{Arrivals, Line, Sent, Sink, serve_one_by_one};
#[doc(hidden)]
pub use part::PortFamily;
pub use part::PortPart;
pub use pfabric::{Pfabric, PfabricPort};
pub use queue_ports::{QueuePart, QueuePorts};
pub use queues::{PriorityPort, Queues};
pub use ring::Ring;
pub use serving::{HighestFirst, Serving};
pub use settings::{
    Count, EcnScope, HostPort, MarkAt, MemorySharing, NetworkPorts, OnFull, PortSettings, SameFlow,
    WithoutEct,
};
pub use slytherin::{CongestedFirst, Slytherin};
pub use strict_priority::StrictPriority;
pub use weighted_round_robin::{InTurn, WeightedRoundRobin, Weights};

use flowsched_units::Time;

use crate::packet::Frame;

/// What waits in a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Bytes on the wire.
    pub bytes: u64,
    /// Packets.
    pub packets: u32,
}

/// The queueing part of one egress port.
pub trait Port<F: Frame> {
    /// Whether packets leave in the order of their ranks. Packets of the kernel's TCP carry no rank.
    const ORDERS_BY_RANK: bool = false;

    /// Takes in a packet; hands every packet that it drops, this one or another, to `dropped`.
    ///
    /// `elsewhere` is how many bytes wait in the other ports of the same switch; it matters
    /// only where [`Port::shares_memory`].
    fn enqueue(&mut self, frame: F, elsewhere: u64, dropped: impl FnMut(F));

    /// Removes and returns the packet that goes next.
    fn dequeue(&mut self) -> Option<F>;

    /// Takes in a packet while nothing waits and the link is free. Returns whether a packet goes next, and sets `frame`
    /// to this packet.
    fn pass(&mut self, frame: &mut F, elsewhere: u64, dropped: impl FnMut(F)) -> bool
    where
        F: Copy,
    {
        self.enqueue(*frame, elsewhere, dropped);
        let next = self.dequeue();
        *frame = next.unwrap_or(*frame);
        next.is_some()
    }

    /// Takes in all packets that come before `end`, in order. Hands every packet whose first bit leaves before `end` to
    /// `sink`, in order, with the time at which its last bit leaves. Hands every dropped packet to `sink`, too. Returns
    /// what was sent. Call this only if the port does not share memory.
    ///
    /// This does what the other methods do packet by packet. Where [`Sink::LOOKS`], it shows `sink` each packet that
    /// comes. A port that needs speed has a version of its own.
    fn serve<'f, S: Sink<F>>(
        &mut self,
        line: &mut Line,
        arrivals: impl Arrivals<'f, F>,
        end: Time,
        sink: &mut S,
    ) -> Sent
    where
        F: Copy + 'f,
    {
        serve_one_by_one(self, line, arrivals, end, sink)
    }

    /// What waits.
    fn backlog(&self) -> Backlog;

    /// Packets marked so far.
    fn marks(&self) -> u64;

    /// Whether the port draws on memory that the whole switch shares.
    fn shares_memory(&self) -> bool;
}
