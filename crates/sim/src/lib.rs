//! Packet-level simulation: every packet of every flow, over every link.
//!
//! [`run`] takes a [`Job`] (a network, its flows, a scheme, a seed) and gives an [`Outcome`].
//! What lives here is what the schemes leave to the world around them: time, links, routing,
//! who talks to whom. What may not: anything about one scheme.
//!
//! Every event has a place in a total order: its time, then the number of its source (a link,
//! the arrivals, the timers), then the source's own order. The same job gives the same outcome
//! on every machine, whatever runs beside it.
//!
//! A port decides only when it is touched, by an arrival or by a delivery of its own: which
//! packet left first is settled then, for the past, which nothing can change any more. That
//! makes one event a packet a hop, and packets on one link arrive in order, so that only a
//! link's first packet has to be in the queue of all events. Where packets pass ports in one order,
//! as in trees and leaf-spine fabrics, there is no such queue: a window of time after the other,
//! one level of ports after the other takes in what reached it ([`fabric`]).

#[cfg(test)]
mod agreement;
mod connections;
mod engine;
mod fabric;
mod hosts;
mod link;
mod outcome;
mod passage;
mod routing;
mod timers;
mod tournament;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use flowsched_schemes::controller::d3::D3Controller;
use flowsched_schemes::controller::epn::{Epn, EpnController};
use flowsched_schemes::controller::pdq::PdqController;
use flowsched_schemes::controller::{Controller, NoController, Site};
use flowsched_schemes::packet::Header;
use flowsched_schemes::port::{
    Discipline, PfabricPort, Port, PortSettings, Queueing, Queues, SameFlow, Slytherin,
    StrictPriority, WeightedRoundRobin,
};
use flowsched_schemes::scheme::{ControllerChoice, TransportChoice};
use flowsched_schemes::tagger::{Tagger, Tagging};
use flowsched_schemes::transport::d3::D3;
use flowsched_schemes::transport::pdq::Pdq;
use flowsched_schemes::transport::pdq::multipath::MultipathPdq;
use flowsched_schemes::transport::tcp::Tcp;
use flowsched_schemes::transport::{Carrying, Transport};
use flowsched_schemes::{Packet, Scheme};
use flowsched_topology::{Network, Routing};
use flowsched_units::Time;
use flowsched_workload::Flow;

use connections::{ByConnection, ConnectionNumbers};
use engine::Engine;
use fabric::events::Events;
use fabric::windows::Windows;
pub use outcome::{FlowOutcome, Outcome, Passage, PortSample};

/// What to simulate.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The network.
    pub network: &'a Network,
    /// How packets choose among equal paths.
    pub routing: Routing,
    /// The flows, in the order of their starts; a flow's id is its place.
    pub flows: &'a [Flow],
    /// The scheme.
    pub scheme: &'a Scheme,
    /// The seed of every random choice.
    pub seed: u64,
    /// How often every port's queue is looked at; [`Time::ZERO`]: only at the end.
    pub sample_interval: Time,
    /// When to stop; `None`: when nothing is left to happen.
    pub until: Option<Time>,
}

/// The four parts of a scheme, as the engine runs them.
#[derive(Clone, Copy, Debug)]
pub struct Parts<T, G, P, C> {
    /// When and how fast hosts send.
    pub transport: T,
    /// What they write on packets.
    pub tagger: G,
    /// Makes every port, in the network's order.
    pub new_port: P,
    /// Makes every port's controller, in the network's order.
    pub new_controller: C,
}

/// How far a run is, for others to watch, and whether it is to stop.
#[derive(Debug, Default)]
pub struct Progress {
    /// Flows whose sender has every byte acknowledged.
    pub finished_flows: AtomicU64,
    /// Set it and the run ends soon, with what it has.
    pub stop: AtomicBool,
}

/// Takes the samples of all ports, one sample time after the other, each time in the ports' order.
/// The run ends soon, as one that is told to stop, once it answers [`ControlFlow::Break`].
pub type SampleSink<'a> = dyn FnMut(&[PortSample]) -> ControlFlow<()> + 'a;

/// Who follows a run while it is under way.
pub struct Watch<'a> {
    /// How far it is, and whether it is to stop.
    pub progress: &'a Progress,
    /// Where its samples go.
    pub samples: &'a mut SampleSink<'a>,
}

impl Job<'_> {
    /// How packets choose among equal paths, whatever the scheme brings with it considered.
    fn routing(&self) -> Routing {
        if self.scheme.ns2_routing { Routing::Spray } else { self.routing }
    }
}

/// Runs a job to its end and keeps all samples in [`Outcome::ports`].
pub fn run(job: &Job<'_>, progress: &Progress) -> Outcome {
    collecting(progress, |watch| run_watched(job, watch))
}

/// Runs a job to its end. Samples go to `watch`, so that memory does not grow with time, and
/// [`Outcome::ports`] stays empty.
pub fn run_watched(job: &Job<'_>, watch: &mut Watch<'_>) -> Outcome {
    match job.scheme.transport {
        TransportChoice::Tcp(settings, algorithm) => {
            let tcp = Tcp::new(settings, algorithm, job.routing() == Routing::Spray);
            match &job.scheme.controller {
                ControllerChoice::None => run_over(job, tcp, watch),
                ControllerChoice::Epn(epn) => run_epn(job, tcp, epn, watch),
            }
        }
        TransportChoice::Pdq(settings, control) => {
            run_told(job, Pdq { settings }, |site| PdqController::new(control, site), watch)
        }
        TransportChoice::MultipathPdq(settings, control) => {
            let new_controller = |site| PdqController::new(control, site);
            run_told(job, MultipathPdq { settings }, new_controller, watch)
        }
        TransportChoice::D3(settings, control) => {
            run_told(job, D3 { settings }, |site| D3Controller::new(control, site), watch)
        }
    }
}

/// Runs a job to its end with a transport that switches tell its rates.
fn run_told<T: Transport, C: Controller<T::Header>>(
    job: &Job<'_>,
    transport: T,
    new_controller: impl Fn(Site) -> C,
    watch: &mut Watch<'_>,
) -> Outcome {
    let new_port = queues(job, StrictPriority);
    let tagger = &job.scheme.tagger;
    run_plain(job, Parts { transport, tagger, new_port, new_controller }, watch)
}

/// Runs a job to its end under EPN, over the queues that the scheme's ports have.
fn run_epn(job: &Job<'_>, tcp: Tcp, epn: &Epn, watch: &mut Watch<'_>) -> Outcome {
    let transport = Carrying::new(tcp);
    let new_controller = |site: Site| EpnController::new(epn.controller, site);
    let tagger = &epn.mapper;
    match job.scheme.queueing {
        Queueing::WeightedRoundRobin(weights) => {
            let new_port = queues(job, WeightedRoundRobin::new(weights));
            run_plain(job, Parts { transport, tagger, new_port, new_controller }, watch)
        }
        _ => {
            let new_port = queues(job, StrictPriority);
            run_plain(job, Parts { transport, tagger, new_port, new_controller }, watch)
        }
    }
}

/// Runs a job to its end over the scheme's ports.
fn run_over<T: Transport<Header = ()>>(
    job: &Job<'_>,
    transport: T,
    watch: &mut Watch<'_>,
) -> Outcome {
    let settings = job.scheme.port;
    match job.scheme.queueing {
        Queueing::StrictPriority => run_queues(job, transport, StrictPriority, watch),
        Queueing::WeightedRoundRobin(weights) => {
            run_queues(job, transport, WeightedRoundRobin::new(weights), watch)
        }
        Queueing::Slytherin => run_queues(job, transport, Slytherin, watch),
        Queueing::Pfabric(SameFlow::Flow) => {
            run_plain(job, uncontrolled(job, transport, |_| PfabricPort::new(settings)), watch)
        }
        Queueing::Pfabric(SameFlow::Connection) => {
            let numbers = ConnectionNumbers::new(job.flows.len());
            let new_port = |_| ByConnection::new(settings, job.flows, numbers.clone());
            let parts = uncontrolled(job, transport, new_port);
            run_connections(job, parts, numbers.clone(), watch)
        }
    }
}

/// Runs a job to its end over ports with queues.
fn run_queues<T: Transport<Header = ()>, D: Discipline + Copy>(
    job: &Job<'_>,
    transport: T,
    discipline: D,
    watch: &mut Watch<'_>,
) -> Outcome {
    run_plain(job, uncontrolled(job, transport, queues(job, discipline)), watch)
}

/// Ports with queues, hosts' as the scheme says.
fn queues<H: Header, D: Discipline + Copy>(
    job: &Job<'_>,
    discipline: D,
) -> impl Fn(Site) -> Queues<Packet<H>, D> {
    let (switch, card) = (Arc::new(job.scheme.port), Arc::new(PortSettings::card()));
    let host_port = job.scheme.host_port;
    move |site: Site| {
        let is_plain = site.is_host && !host_port.is_like_switch;
        let settings = if is_plain { &card } else { &switch };
        Queues::with_discipline(Arc::clone(settings), discipline)
    }
}

/// The scheme's tagger with this transport and these ports, and switches that say nothing.
fn uncontrolled<'a, T, P>(
    job: &Job<'a>,
    transport: T,
    new_port: P,
) -> Parts<T, &'a Tagger, P, impl Fn(Site) -> NoController> {
    Parts { transport, tagger: &job.scheme.tagger, new_port, new_controller: |_| NoController }
}

/// Runs a job to its end with a transport and ports in place of the scheme's own; `new_port` is
/// called once for every port of the network, in their order.
pub fn run_with<T: Transport<Header = ()>, P: Port<Packet>>(
    job: &Job<'_>,
    transport: T,
    new_port: impl Fn() -> P,
    progress: &Progress,
) -> Outcome {
    run_parts(job, uncontrolled(job, transport, |_| new_port()), progress)
}

/// Runs a job to its end with all four parts in place of the scheme's own, which is asked for
/// nothing but its hosts' sending rate and its routing.
pub fn run_parts<T, G, P, C>(
    job: &Job<'_>,
    parts: Parts<T, G, impl Fn(Site) -> P, impl Fn(Site) -> C>,
    progress: &Progress,
) -> Outcome
where
    T: Transport,
    G: Tagging<T::Header>,
    P: Port<Packet<T::Header>>,
    C: Controller<T::Header>,
{
    collecting(progress, |watch| run_plain(job, parts, watch))
}

/// Runs a job whose samples are kept.
fn collecting(progress: &Progress, run: impl FnOnce(&mut Watch<'_>) -> Outcome) -> Outcome {
    let mut ports = Vec::new();
    let mut keep = |samples: &[PortSample]| {
        ports.extend_from_slice(samples);
        ControlFlow::Continue(())
    };
    let outcome = run(&mut Watch { progress, samples: &mut keep });
    Outcome { ports, ..outcome }
}

/// Runs a job to its end with these parts.
fn run_plain<T, G, P, C>(
    job: &Job<'_>,
    parts: Parts<T, G, impl Fn(Site) -> P, impl Fn(Site) -> C>,
    watch: &mut Watch<'_>,
) -> Outcome
where
    T: Transport,
    G: Tagging<T::Header>,
    P: Port<Packet<T::Header>>,
    C: Controller<T::Header>,
{
    run_connections(job, parts, ConnectionNumbers::new(job.flows.len()), watch)
}

/// The same, with the numbers of connections that some ports know.
fn run_connections<T, G, P, C>(
    job: &Job<'_>,
    parts: Parts<T, G, impl Fn(Site) -> P, impl Fn(Site) -> C>,
    connections: ConnectionNumbers,
    watch: &mut Watch<'_>,
) -> Outcome
where
    T: Transport,
    G: Tagging<T::Header>,
    P: Port<Packet<T::Header>>,
    C: Controller<T::Header>,
{
    let Parts { transport, tagger, new_port, new_controller } = parts;
    let links = fabric::links(job, new_port);
    // Controllers look at both directions of a link.
    let windows = if C::IS_THERE { Err(links) } else { Windows::new(job, links) };
    match windows {
        Ok(fabric) => Engine::new(job, transport, tagger, fabric, connections).run(watch),
        Err(links) => {
            let fabric = Events::new(job, links, new_controller);
            Engine::new(job, transport, tagger, fabric, connections).run(watch)
        }
    }
}
