//! Packet-level simulation: every packet of every flow, over every link.
//!
//! [`run`] takes a [`Job`] (a network, its flows, a seed) and a scheme, and gives an [`Outcome`].
//! [`run_parts`] takes parts of any types. What lives here is what schemes leave to the world
//! around them: time, links, routing, who talks to whom. What may not: anything about one scheme.
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
//! one level of ports after the other takes in what reached it (`fabric`).

#[cfg(test)]
mod agreement;
mod engine;
mod fabric;
mod hosts;
mod link;
mod passage;
mod routing;
mod timers;
mod tournament;

use flowsched_schemes::Scheme;
use flowsched_schemes::controller::Controller;
use flowsched_schemes::port::Connections;
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{Controllers, Ports, World, collecting};
use flowsched_topology::{Network, Routing};
use flowsched_units::Time;
use flowsched_workload::Flow;

use engine::Engine;
use fabric::events::Events;
use fabric::windows::Windows;
pub use flowsched_schemes::world::{
    FlowOutcome, Outcome, Parts, Passage, PortSample, Progress, SampleSink, Watch,
};

/// What to simulate.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The network.
    pub network: &'a Network,
    /// How packets choose among equal paths.
    pub routing: Routing,
    /// The flows, in the order of their starts; a flow's id is its place.
    pub flows: &'a [Flow],
    /// The seed of every random choice.
    pub seed: u64,
    /// How often every port's queue is looked at; [`Time::ZERO`]: only at the end.
    pub sample_interval: Time,
    /// When to stop; `None`: when nothing is left to happen.
    pub until: Option<Time>,
}

/// Runs a job under a scheme to its end and keeps all samples in [`Outcome::ports`].
pub fn run(job: &Job<'_>, scheme: &Scheme, progress: &Progress) -> Outcome {
    collecting(progress, |watch| run_watched(job, scheme, watch))
}

/// Runs a job under a scheme to its end. Samples go to `watch`, so that memory does not grow with
/// time, and [`Outcome::ports`] stays empty.
pub fn run_watched(job: &Job<'_>, scheme: &Scheme, watch: &mut Watch<'_>) -> Outcome {
    scheme.run_in(Run { job: &job.under(scheme), watch })
}

impl Job<'_> {
    /// The same job with the routing that the scheme brings with it, if it does.
    #[doc(hidden)]
    pub fn under(&self, scheme: &Scheme) -> Self {
        let routing = if scheme.ns2_routing { Routing::Spray } else { self.routing };
        Job { routing, ..*self }
    }
}

/// The transport over the paths that the job's routing gives it.
fn on_routing<T: Transport>(job: &Job<'_>, transport: T) -> T {
    if job.routing == Routing::Spray { transport.over_sprayed_paths() } else { transport }
}

/// Runs a job to its end with parts of any types, also such as no scheme of the catalogue has, and
/// keeps all samples in [`Outcome::ports`].
pub fn run_parts<T, G, P, C>(
    job: &Job<'_>,
    parts: Parts<T, G, P, C>,
    progress: &Progress,
) -> Outcome
where
    T: Transport,
    G: Tagging<T::Header>,
    P: Ports<T::Header>,
    C: Controllers<T::Header>,
{
    collecting(progress, |watch| run_parts_watched(job, parts, watch))
}

/// Runs a job to its end with parts of any types. Samples go to `watch`, so that memory does not
/// grow with time, and [`Outcome::ports`] stays empty.
pub fn run_parts_watched<T, G, P, C>(
    job: &Job<'_>,
    parts: Parts<T, G, P, C>,
    watch: &mut Watch<'_>,
) -> Outcome
where
    T: Transport,
    G: Tagging<T::Header>,
    P: Ports<T::Header>,
    C: Controllers<T::Header>,
{
    Run { job, watch }.run(parts)
}

/// The packet simulator as a world: a job, and who follows its run.
struct Run<'j, 'n, 'w, 's> {
    job: &'j Job<'n>,
    watch: &'w mut Watch<'s>,
}

impl World for Run<'_, '_, '_, '_> {
    type Output = Outcome;

    fn run<T, G, P, C>(self, parts: Parts<T, G, P, C>) -> Outcome
    where
        T: Transport,
        G: Tagging<T::Header>,
        P: Ports<T::Header>,
        C: Controllers<T::Header>,
    {
        let Run { job, watch } = self;
        let Parts { transport, tagger, ports, controllers } = parts;
        let transport = on_routing(job, transport);
        let connections = Connections::new(job.flows.len());
        let links = fabric::links(job, &ports, &connections);
        // Controllers look at both directions of a link.
        let windows = if C::Controller::IS_THERE { Err(links) } else { Windows::new(job, links) };
        match windows {
            Ok(fabric) => Engine::new(job, transport, tagger, fabric, connections).run(watch),
            Err(links) => {
                let new_controller = |site| controllers.controller(site);
                let fabric = Events::new(job, links, new_controller, ports.host_rate());
                Engine::new(job, transport, tagger, fabric, connections).run(watch)
            }
        }
    }
}
