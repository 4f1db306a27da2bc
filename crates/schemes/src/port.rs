//! Ports: which packet goes next, which is marked, which is dropped.
//!
//! A port is the queueing part of one egress, of a switch or of a host's network card; the link
//! behind it, with its rate and delay, belongs to whoever runs it.

mod discipline;
mod pfabric;
mod queues;
mod ring;
mod settings;
mod slytherin;
mod weighted_round_robin;

pub use discipline::{Discipline, StrictPriority};
pub use pfabric::PfabricPort;
pub use queues::{PriorityPort, Queues};
pub use ring::Ring;
pub use settings::{
    Count, EcnScope, HostPort, MarkAt, OnFull, PortSettings, Queueing, SameFlow, Sharing,
};
pub use slytherin::Slytherin;
pub use weighted_round_robin::{WeightedRoundRobin, Weights};

use crate::catalogue::{Part, Role};
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

    /// What waits.
    fn backlog(&self) -> Backlog;

    /// Packets marked so far.
    fn marks(&self) -> u64;

    /// Whether the port draws on memory that the whole switch shares.
    fn shares_memory(&self) -> bool;
}

/// One queue, first in first out.
pub const FIFO: Part = Part {
    role: Role::Port,
    name: "fifo",
    about: "One queue, first in first out.",
    source: "PIAS ToN 2017, V-C",
    parameters: &[settings::BUFFER, settings::HOST],
};

/// Several queues, the highest non-empty one served first.
pub const STRICT_PRIORITY: Part = Part {
    role: Role::Port,
    name: "strict-priority",
    about: "Several queues; the head of the highest non-empty one goes next.",
    source: "PIAS ToN 2017, III-B.2",
    parameters: &[settings::QUEUES, settings::BUFFER, settings::HOST],
};

/// Several queues that take turns.
pub const WEIGHTED_ROUND_ROBIN: Part = Part {
    role: Role::Port,
    name: "weighted-round-robin",
    about: "Several queues that take turns, each sending as many packets in a row as it weighs.",
    source: "EPN 2018; PIAS ToN 2017, III-B.2 decides against it",
    parameters: &[settings::TURNS, settings::BUFFER, settings::HOST],
};

/// Slytherin's port.
pub const SLYTHERIN: Part = Part {
    role: Role::Port,
    name: "slytherin",
    about: "Two queues: packets that arrive marked, and ACKs, go before all others; of tagged \
            packets only those of the highest priority.",
    source: "Slytherin 2018, III-B",
    parameters: &[settings::CONGESTED_AND_NORMAL, settings::BUFFER, settings::HOST],
};

/// pFabric's port.
pub const PFABRIC: Part = Part {
    role: Role::Port,
    name: "pfabric",
    about: "The first packet of the flow with the best rank goes next; when the port is full, \
            the packet of the worst rank is dropped.",
    source: "Alizadeh et al., SIGCOMM 2013, 4.1",
    parameters: &[settings::RANKED],
};
