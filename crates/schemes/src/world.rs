//! Worlds, which run schemes: a world takes the four parts with their types, and gives an [`Outcome`].

mod outcome;
mod probe;
mod watch;

pub use outcome::{FlowOutcome, Outcome, Overhead, Passage, PortSample, Uncounted, Worth};
pub use probe::{Every, FlowState, PortState, Probe, Probing, Seen, SenderState};
pub use watch::{Progress, SampleSink, Threads, Watch, collecting};

use crate::controller::{Controller, Site};
use crate::packet::{Header, Packet};
use crate::port::{Connections, NetworkPorts, Port};
use crate::tagger::Tagging;
use crate::transport::Transport;

/// The four parts of a scheme, as a world runs them.
#[derive(Clone, Copy, Debug)]
pub struct Parts<T, G, P, C> {
    /// When and how fast hosts send.
    pub transport: T,
    /// What hosts write on packets.
    pub tagger: G,
    /// Makes the ports.
    pub ports: P,
    /// Makes the controllers.
    pub controllers: C,
}

/// Runs a scheme, whatever the types of its parts. [`Scheme::run_in`](crate::Scheme::run_in) calls
/// [`World::run`] once with the scheme's parts. The ports may be served on other threads.
pub trait World: Sized {
    /// The result of a run.
    type Output;

    /// Runs the scheme that consists of these parts.
    fn run<T, G, P, C>(self, parts: Parts<T, G, P, C>) -> Self::Output
    where
        T: Transport,
        G: Tagging<T::Header>,
        P: Ports<T::Header, Port: Send>,
        C: Controllers<T::Header>;
}

/// Makes the egress ports of a network, in the network's order. Any closure that makes a port from a [`Site`]
/// implements this.
pub trait Ports<H: Header> {
    /// A port. It borrows nothing, so that a world can keep ports of different types in boxes.
    type Port: Port<Packet<H>> + 'static;

    /// The port at `site`.
    fn port(&self, site: Site, connections: &Connections) -> Self::Port;

    /// The rate at which a host's card sends, as a share of its link's rate.
    fn host_rate(&self) -> f64 {
        1.0
    }

    /// The settings of the ports, if these are [`PriorityPort`](crate::port::PriorityPort)s: a world can then
    /// make ports for packets with another header.
    fn by_priority(&self) -> Option<&NetworkPorts> {
        None
    }
}

impl<H: Header, P: Port<Packet<H>> + 'static, F: Fn(Site) -> P> Ports<H> for F {
    type Port = P;

    fn port(&self, site: Site, _connections: &Connections) -> P {
        self(site)
    }
}

/// Makes the controllers of a network, one for each egress port, in the network's order.
pub trait Controllers<H: Header> {
    /// A controller.
    type Controller: Controller<H>;

    /// The controller of the port at `site`.
    fn controller(&self, site: Site) -> Self::Controller;
}

impl<H: Header, C: Controller<H>, F: Fn(Site) -> C> Controllers<H> for F {
    type Controller = C;

    fn controller(&self, site: Site) -> C {
        self(site)
    }
}
