//! Ports: which packet goes next, which is marked, which is dropped.
//!
//! A port is the queueing part of one egress, of a switch or of a host's network card; the link
//! behind it, with its rate and delay, belongs to whoever runs it.

mod connections;
mod fifo;
mod pfabric;
mod queue_ports;
mod queues;
mod ring;
mod serving;
mod settings;
mod slytherin;
mod strict_priority;
mod weighted_round_robin;

pub use connections::{Connection, Connections};
pub use fifo::Fifo;
pub use pfabric::{Pfabric, PfabricPort};
pub use queue_ports::{QueuePart, QueuePorts};
pub use queues::{PriorityPort, Queues};
pub use ring::Ring;
pub use serving::Serving;
pub use settings::{
    Count, EcnScope, HostPort, MarkAt, MemorySharing, OnFull, PortSettings, SameFlow,
};
pub use slytherin::{CongestedFirst, Slytherin};
pub use strict_priority::{HighestFirst, StrictPriority};
pub use weighted_round_robin::{InTurn, WeightedRoundRobin, Weights};

use flowsched_units::{SettingError, Settings};

use crate::flow_level::{Fluid, Sharing, Tagged};
use crate::packet::Frame;
use crate::part::{self, Part, Role};
use crate::tagger::Tagging;
use crate::transport::Transport;
use crate::world::{Controllers, World};

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

/// A port of the catalogue.
pub trait PortPart: Clone + std::fmt::Debug {
    /// What experiment files and catalogues say of it.
    const PART: Part;
    /// Whether a full port drops the least urgent packet that it has, so that it is built to be
    /// full.
    const DROPS_LEAST_URGENT: bool = false;

    /// The ports that complete and checked settings describe.
    ///
    /// # Errors
    /// If the values do not fit each other.
    fn build(settings: &Settings) -> Result<Self, SettingError>;

    /// Memory, queues and marking of a switch's port.
    fn settings(&self) -> PortSettings;

    /// Has the world run these ports with the other three parts.
    fn run_in<W, T, G, C>(&self, world: W, transport: T, tagger: G, controllers: C) -> W::Output
    where
        W: World,
        T: Transport,
        G: Tagging<T::Header>,
        C: Controllers<T::Header>;

    /// How flows share links where they are fluids, given what their tags come down to; or the
    /// reason why there is nothing like these ports.
    fn fluid(&self, tagged: Tagged) -> Fluid<Sharing>;
}

/// The ports that some hosts and switches work with: one of them.
pub trait PortFamily: Clone + std::fmt::Debug {
    /// The port that the settings name.
    ///
    /// # Errors
    /// If it is not one of the family, or its values do not fit.
    fn from_settings(settings: &Settings) -> Result<Self, SettingError>;

    /// Memory, queues and marking of a switch's port.
    fn settings(&self) -> PortSettings;

    /// Has the world run these ports with the other three parts.
    fn run_in<W, T, G, C>(&self, world: W, transport: T, tagger: G, controllers: C) -> W::Output
    where
        W: World,
        T: Transport,
        G: Tagging<T::Header>,
        C: Controllers<T::Header>;

    /// How flows share links where they are fluids, given what their tags come down to.
    fn fluid(&self, tagged: Tagged) -> Fluid<Sharing>;
}

/// Writes a family of ports.
macro_rules! port_family {
    ($(#[$about:meta])* $Family:ident: $($Name:ident),*) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub enum $Family {
            $(#[allow(missing_docs, reason = "the type says it")] $Name($Name)),*
        }

        impl $Family {
            /// All of them.
            pub const PARTS: &[Part] = &[$(<$Name as PortPart>::PART),*];

            /// Whether a full port drops the least urgent packet that it has.
            pub fn drops_least_urgent(&self) -> bool {
                match self { $($Family::$Name(_) => <$Name as PortPart>::DROPS_LEAST_URGENT),* }
            }
        }

        impl PortFamily for $Family {
            fn from_settings(settings: &Settings) -> Result<$Family, SettingError> {
                $(if <$Name as PortPart>::PART.is_named_by(settings) {
                    return <$Name as PortPart>::build(settings).map($Family::$Name);
                })*
                Err(part::does_not_fit(Role::Port, Role::Controller, settings, $Family::PARTS))
            }

            fn settings(&self) -> PortSettings {
                match self { $($Family::$Name(ports) => PortPart::settings(ports)),* }
            }

            fn run_in<W, T, G, C>(
                &self,
                world: W,
                transport: T,
                tagger: G,
                controllers: C,
            ) -> W::Output
            where
                W: World,
                T: Transport,
                G: Tagging<T::Header>,
                C: Controllers<T::Header>,
            {
                match self {
                    $($Family::$Name(ports) => {
                        PortPart::run_in(ports, world, transport, tagger, controllers)
                    })*
                }
            }

            fn fluid(&self, tagged: Tagged) -> Fluid<Sharing> {
                match self { $($Family::$Name(ports) => PortPart::fluid(ports, tagged)),* }
            }
        }
    };
}

port_family!(
    /// Any port of the catalogue.
    AnyPort: Fifo, StrictPriority, WeightedRoundRobin, Slytherin, Pfabric
);
port_family!(
    /// Ports whose queues packets choose by their priority.
    Queued: Fifo, StrictPriority, WeightedRoundRobin
);
port_family!(
    /// Ports that serve the packets of one priority in the order in which they came.
    InOrder: Fifo, StrictPriority
);
