//! Ports: which packet goes next, which is marked, which is dropped.
//!
//! A port is the queue of one egress, of a switch or of a host's network card. The link behind it,
//! with its rate and delay, belongs to the world that runs the port.

mod connections;
mod families;
mod fifo;
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
#[doc(hidden)]
pub use part::PortFamily;
pub use part::PortPart;
pub use pfabric::{Pfabric, PfabricPort};
pub use queue_ports::{QueuePart, QueuePorts};
pub use queues::{PriorityPort, Queues};
pub use ring::Ring;
pub use serving::{HighestFirst, Serving};
pub use settings::{
    Count, EcnScope, HostPort, MarkAt, MemorySharing, OnFull, PortSettings, SameFlow, WithoutEct,
};
pub use slytherin::{CongestedFirst, Slytherin};
pub use strict_priority::StrictPriority;
pub use weighted_round_robin::{InTurn, WeightedRoundRobin, Weights};

use flowsched_units::Bytes;

use crate::packet::Frame;

/// What waits in a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Bytes on the wire.
    pub bytes: u64,
    /// Packets.
    pub packets: u32,
}

/// What happens to a packet that comes to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is taken in as it is.
    Taken,
    /// It is taken in, and the world that runs the port marks it.
    Marked,
    /// It is dropped.
    Dropped,
}

/// The queueing part of one egress port.
pub trait Port<F: Frame> {
    /// Takes in a packet; hands every packet that it drops, this one or another, to `dropped`.
    ///
    /// `elsewhere` is how many bytes wait in the other ports of the same switch; it matters
    /// only where [`Port::shares_memory`].
    fn enqueue(&mut self, frame: F, elsewhere: u64, dropped: impl FnMut(F));

    /// The packet that goes next, removed from the port.
    fn dequeue(&mut self) -> Option<F>;

    /// Takes in a packet while nothing waits and the link is free: what goes next, if anything.
    fn pass(&mut self, frame: F, elsewhere: u64, dropped: impl FnMut(F)) -> Option<F> {
        self.enqueue(frame, elsewhere, dropped);
        self.dequeue()
    }

    /// The waiting bytes, with the new packet, up to which the port takes a packet in without a mark.
    /// `None` unless packets leave in the order in which they come, and the port decides all about a
    /// packet on arrival. A world may keep the packets of such a port itself, and call
    /// [`Port::admit`] beyond these bytes in place of `enqueue`, `dequeue` and `pass`.
    fn in_order(&self) -> Option<Bytes> {
        None
    }

    /// What happens to a packet that comes while `waiting` is ahead of it. Only where there is a
    /// [`Port::in_order`].
    fn admit(&mut self, _frame: &F, _waiting: Backlog) -> Fate {
        unreachable!("a port without an order that is known on arrival")
    }

    /// What waits.
    fn backlog(&self) -> Backlog;

    /// Packets marked so far.
    fn marks(&self) -> u64;

    /// Whether the port draws on memory that the whole switch shares.
    fn shares_memory(&self) -> bool;
}
