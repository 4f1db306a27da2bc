//! Packet-level simulation: every packet of every flow, over every link.
//!
//! [`run`] takes a [`Job`] (a network, its flows, a seed) and a scheme, and gives an [`Outcome`].
//! [`run_parts`] takes parts of any types instead of a scheme. This crate has what schemes leave to the
//! world around them: time, links, routing, and who talks to whom. It knows nothing of any single
//! scheme.
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

mod division;
#[doc(hidden)]
pub mod ends;
mod engine;
#[doc(hidden)]
pub mod engines;
mod fabric;
mod hosts;
mod job;
mod link;
#[doc(hidden)]
pub mod live;
mod meeting;
mod passage;
mod pool;
mod routing;
mod share;
mod shared;
mod slots;
mod sync;
mod team;
mod timers;
mod together;
mod tournament;
mod watcher;

use flowsched_schemes::Scheme;
use flowsched_schemes::port::Connections;
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{Controllers, Ports, World, collecting};

use engine::Engine;
#[doc(hidden)]
pub use fabric::Losses;
use fabric::events::Events;
use fabric::windows::{self, Windows};
use fabric::{Fabric, LostData, apart};
pub use flowsched_schemes::world::{
    FlowOutcome, Outcome, Overhead, Parts, Passage, PortSample, Progress, SampleSink, Threads,
    Watch,
};
use hosts::Hosts;
pub use job::Job;
use shared::{Shared, shared};
use team::Team;
use watcher::{Nobody, Watcher, Watching};

/// Runs a job under a scheme to its end and keeps all samples in [`Outcome::ports`].
pub fn run(job: &Job<'_>, scheme: &Scheme, progress: &Progress) -> Outcome {
    collecting(progress, |watch| run_watched(job, scheme, watch))
}

/// Runs a job under a scheme to its end. Samples go to `watch`, so that memory does not grow with
/// time, and [`Outcome::ports`] stays empty.
pub fn run_watched(job: &Job<'_>, scheme: &Scheme, watch: &mut Watch<'_>) -> Outcome {
    scheme.run_in(Run { job: &job.under(scheme), watch })
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

/// Runs a job to its end with parts of any types, on one thread. Samples go to `watch`, so that memory
/// does not grow with time, and [`Outcome::ports`] stays empty.
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
    run_on_one(job, &shared(job, parts), watch)
}

/// Runs a job to its end with parts of any types, on up to as many threads as `watch` says. Ports must
/// be [`Send`], because any of the threads may serve them. Samples go to `watch`, so that memory does
/// not grow with time, and [`Outcome::ports`] stays empty.
pub fn run_parts_on_threads<T, G, P, C>(
    job: &Job<'_>,
    parts: Parts<T, G, P, C>,
    watch: &mut Watch<'_>,
) -> Outcome
where
    T: Transport,
    G: Tagging<T::Header>,
    P: Ports<T::Header, Port: Send>,
    C: Controllers<T::Header>,
{
    let parts = &shared(job, parts);
    together::run(job, parts, watch).unwrap_or_else(|| run_on_one(job, parts, watch))
}

/// Runs a job on one thread.
fn run_on_one<T, G, P, C>(
    job: &Job<'_>,
    parts: &Shared<T, G, P, C>,
    watch: &mut Watch<'_>,
) -> Outcome
where
    T: Transport,
    G: Tagging<T::Header>,
    P: Ports<T::Header>,
    C: Controllers<T::Header>,
{
    let connections = Connections::new(job.flows.len());
    let controllers = fabric::controllers(job, &parts.controllers, parts.ports.host_rate());
    // Probes look at single ports at any time.
    let probing = watch.probing.take();
    if probing.is_none()
        && let Some(fabric) = apart::fabric(job, &parts.ports, &connections, &controllers)
    {
        let hosts = Hosts::new(job, parts, connections, Team::alone());
        return run_to_end(job, hosts, fabric, Nobody, watch);
    }
    let links = fabric::links(job, &parts.ports, &connections);
    let hosts = Hosts::new(job, parts, connections, Team::alone());
    let layout = windows::layout(job.network, &links, &controllers);
    if let Some(layout) = layout
        && probing.is_none()
    {
        let fabric = Windows::new(job, layout, links, controllers, LostData::default());
        return run_to_end(job, hosts, fabric, Nobody, watch);
    }
    let fabric = Events::new(job, links, controllers, LostData::default(), true);
    match probing {
        Some(probing) => run_to_end(job, hosts, fabric, Watcher::new(probing), watch),
        None => run_to_end(job, hosts, fabric, Nobody, watch),
    }
}

/// Runs a job on one thread, with any fabric.
fn run_to_end<'a, T, G, F, W>(
    job: &Job<'a>,
    hosts: Hosts<'a, T, G>,
    fabric: F,
    watcher: W,
    watch: &mut Watch<'_>,
) -> Outcome
where
    T: Transport,
    G: Tagging<T::Header>,
    F: Fabric<T::Header>,
    W: Watching<T, G, F>,
{
    Engine::new(job, hosts, fabric, watcher, Team::alone()).run(watch).conclude(watch)
}

/// The packet simulator as a world: a job, and the watch that follows its run.
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
        P: Ports<T::Header, Port: Send>,
        C: Controllers<T::Header>,
    {
        run_parts_on_threads(self.job, parts, self.watch)
    }
}
