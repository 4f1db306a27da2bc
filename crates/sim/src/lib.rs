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
//! A port decides only when an event touches it: an arrival, or a delivery of its own. It then
//! decides which packets left before that event, and no later event can change this. Each packet
//! therefore costs one event per hop. Packets on one link arrive in order, so the queue of events
//! holds only each link's first packet. In networks whose ports have an order, such as trees and
//! leaf-spine fabrics, there is no queue of events: in each window of time, the ports take in their
//! packets level by level (`fabric`).

#[doc(hidden)]
pub mod ends;
mod engine;
mod fabric;
mod hosts;
mod job;
mod link;
#[doc(hidden)]
pub mod live;
mod passage;
mod pool;
mod routing;
#[cfg(test)]
mod tests;
mod timers;
mod tournament;
mod watcher;

use flowsched_schemes::Scheme;
use flowsched_schemes::controller::Controller;
use flowsched_schemes::port::Connections;
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{Controllers, Ports, World, collecting};
use flowsched_topology::Routing;

use engine::Engine;
#[doc(hidden)]
pub use fabric::Losses;
use fabric::LostData;
use fabric::events::Events;
use fabric::windows::Windows;
pub use flowsched_schemes::world::{
    FlowOutcome, Outcome, Overhead, Parts, Passage, PortSample, Progress, SampleSink, Watch,
};
use hosts::Hosts;
pub use job::Job;
use watcher::{Nobody, Watcher};

/// Runs a job under a scheme to its end and keeps all samples in [`Outcome::ports`].
pub fn run(job: &Job<'_>, scheme: &Scheme, progress: &Progress) -> Outcome {
    collecting(progress, |watch| run_watched(job, scheme, watch))
}

/// Runs a job under a scheme to its end. Samples go to `watch`, so that memory does not grow with
/// time, and [`Outcome::ports`] stays empty.
pub fn run_watched(job: &Job<'_>, scheme: &Scheme, watch: &mut Watch<'_>) -> Outcome {
    scheme.run_in(Run { job: &job.under(scheme), watch })
}

/// The transport over the paths that the job's routing gives it.
fn on_routing<T: Transport>(job: &Job<'_>, transport: T) -> T {
    if job.routing == Routing::Spray { transport.over_sprayed_paths() } else { transport }
}

/// Runs a job to its end with parts of any types, including types that are not in the catalogue, and
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
        let probing = watch.probing.take();
        // Controllers look at both directions of a link, and probes at single ports at any time.
        let needs_events = C::Controller::IS_THERE || probing.is_some();
        let links = match needs_events {
            true => links,
            false => match Windows::new(job, links) {
                Ok(fabric) => {
                    let hosts = Hosts::new(job, transport, tagger, connections);
                    return Engine::new(job, hosts, fabric, Nobody).run(watch);
                }
                Err(links) => links,
            },
        };
        let new_controller = |site| controllers.controller(site);
        let fabric =
            Events::new(job, links, new_controller, ports.host_rate(), LostData::default());
        let hosts = Hosts::new(job, transport, tagger, connections);
        match probing {
            Some(probing) => Engine::new(job, hosts, fabric, Watcher::new(probing)).run(watch),
            None => Engine::new(job, hosts, fabric, Nobody).run(watch),
        }
    }
}
