//! Flow-level simulation: flows as fluids, for whole data centres.
//!
//! [`run`] takes a [`Job`] (a network, its flows, a scheme at flow level, a seed) and returns an [`Outcome`]. There
//! are no packets. At every instant each flow has a rate, which changes only at an *event*: a flow starts, ends, is
//! demoted, passes another in the order of criticality, hears of its rate, or can no longer meet its deadline.
//! Between events everything is linear, so there are no time steps. An event recomputes only what it affects
//! (`fair` and `strict` say how far that goes). This makes a hundred thousand hosts possible.
//!
//! What lives here: how flows share links, and the order of events. What may not: packets, and
//! what a scheme is called.
//!
//! The time that a flow takes has three parts:
//!
//! 1. The flow announces itself, for as many base round trips as the scheme needs. Then it starts to compete.
//! 2. It sends its bytes, and the headers of all packets with them.
//! 3. At its end, its last packet and the acknowledgement take as long as on an idle network
//!    ([`flowsched_topology::Network::ideal_fct`]).
//!
//! A flow that is never disturbed and needs no announcement thus takes its ideal time exactly.
//!
//! A flow may be split into subflows, each over a path of its own. The subflows share the flow's bytes, and all end
//! when the last byte is sent.
//!
//! Times are whole picoseconds. All events of an instant are handled before rates are recomputed. The same job
//! gives the same outcome on every machine.

mod admissions;
mod agenda;
mod deputy;
mod engine;
mod fair;
mod job;
mod latency;
mod news;
mod noted;
mod optimum;
#[cfg(test)]
mod oracle;
mod paths;
mod ports;
mod requests;
mod sharing;
mod side_traffic;
mod strict;
mod transfers;
mod ways;

use flowsched_schemes::flow_level;
use flowsched_schemes::world::collecting;
use flowsched_units::Bytes;

use deputy::with_deputy;
use engine::Engine;
use fair::Fair;
pub use flowsched_schemes::world::{
    FlowOutcome, Outcome, PortSample, Progress, SampleSink, Watch, Worth,
};
pub use job::Job;
use optimum::Optimum;
use sharing::{Ahead, Allocator, ClassBy, Classes, Priority, Reservations, Sizes};

/// Runs a job to its end and keeps all samples in [`Outcome::ports`].
pub fn run(job: &Job<'_>, progress: &Progress) -> Outcome {
    collecting(progress, |watch| run_watched(job, watch))
}

/// Runs a job to its end. Samples go to `watch`, so that memory does not grow with time, and
/// [`Outcome::ports`] stays empty.
pub fn run_watched(job: &Job<'_>, watch: &mut Watch<'_>) -> Outcome {
    let share = job.scheme.link_share;
    let links = job.network.ports().len();
    let capacities = || job.capacities().map(|rate| rate * share).collect();
    let bits = |sizes: &[Bytes]| {
        sizes.iter().map(|size| latency::wire_bits(*size, job.scheme.header)).collect()
    };
    let alike = |by, thresholds| Classes::new(capacities(), by, thresholds);
    match &job.scheme.sharing {
        flow_level::Sharing::MaxMin if watch.threads.count.get() > 1 => {
            let fair = Fair::new(capacities(), 1);
            with_deputy(fair, watch.threads, |desk| with(job, Ahead::new(desk, links), watch))
        }
        flow_level::Sharing::MaxMin => with(job, alike(ClassBy::Size, Vec::new()), watch),
        flow_level::Sharing::BytesSent(most) => with(job, alike(ClassBy::Sent, bits(most)), watch),
        flow_level::Sharing::Sizes(most) => with(job, alike(ClassBy::Size, bits(most)), watch),
        flow_level::Sharing::InOrder(order) => {
            let sizes = Sizes::new(*order, job.scheme, job.seed);
            with(job, Priority::new(capacities(), sizes), watch)
        }
        flow_level::Sharing::Reservations => with(job, Reservations::new(capacities()), watch),
    }
}

fn with<S: Allocator>(job: &Job<'_>, sharing: S, watch: &mut Watch<'_>) -> Outcome {
    let optimum = job.scheme.is_omniscient.then(|| Optimum::new(job));
    Engine::new(job, sharing, optimum).run(watch)
}
