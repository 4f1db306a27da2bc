//! A run on several threads, each of which simulates a part of the network.
//!
//! Every thread has the hosts and the ports of its part and goes through the run as if it were alone, window
//! by window. Between levels of ports threads exchange packets (`fabric::crossing`), and at the end of
//! a window they agree on the next one (`team`).

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{Builder, ScopedJoinHandle, panicking, scope};

use flowsched_schemes::controller::{Controller, NoController};
use flowsched_schemes::packet::Packet;
use flowsched_schemes::port::{Connections, Port};
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{
    Controllers, Outcome, Parts, PortSample, Ports, Progress, Threads, Watch,
};
use flowsched_topology::{PortId, Routing};

use crate::division::Division;
use crate::engine::Engine;
use crate::fabric::banks::Layout;
use crate::fabric::crossing::Post;
use crate::fabric::windows::{self, Windows};
use crate::fabric::{self, LostData};
use crate::hosts::Hosts;
use crate::job::Job;
use crate::link::Link;
use crate::share::Share;
use crate::shared::Shared;
use crate::team::{Company, Team};
use crate::watcher::Nobody;

/// Runs a job on several threads. `None` if the job needs one thread:
///
/// - Its network has no windows, or its switches have controllers.
/// - Packets take turns on several paths, so that a switch decides in the order in which they come.
/// - A probe looks at ports at any time.
/// - Senders may end before their receivers have every byte ([`Transport::ENDS_AFTER_DELIVERY`]).
/// - The system refuses to start a thread.
pub(crate) fn run<T, G, P, C>(
    job: &Job<'_>,
    parts: &Shared<T, G, P, C>,
    watch: &mut Watch<'_>,
) -> Option<Outcome>
where
    T: Transport,
    G: Tagging<T::Header>,
    P: Ports<T::Header, Port: Send>,
    C: Controllers<T::Header>,
{
    let is_divisible = T::ENDS_AFTER_DELIVERY
        && !C::Controller::IS_THERE
        && watch.probing.is_none()
        && job.routing != Routing::Spray;
    if !is_divisible || watch.threads.count.get() == 1 {
        return None;
    }
    let connections = Connections::new(job.flows.len());
    let links = fabric::links(job, &parts.ports, &connections);
    let layout = windows::layout(job.network, &links, |_| NoController)?;
    let company = Company::new(Division::new(job.network, job.flows, watch.threads.count.get()));
    let whole = Whole {
        job,
        layout,
        rules: Parts {
            transport: Arc::clone(&parts.transport),
            tagger: Arc::clone(&parts.tagger),
            ports: (),
            controllers: (),
        },
        connections,
        post: Post::new(company.division.parts),
    };
    let links = divide(links, &company.division);
    whole.simulate(company.places().zip(links), watch)
}

/// The state that all parts share, and from which each part is made.
struct Whole<'j, 'n, T: Transport, G> {
    job: &'j Job<'n>,
    layout: Layout,
    rules: Shared<T, G, (), ()>,
    connections: Connections,
    post: Post<T::Header>,
}

/// The links of a part.
type Links<H, P> = Vec<(PortId, Link<H, P>)>;

impl<T: Transport, G: Tagging<T::Header>> Whole<'_, '_, T, G> {
    /// Simulates each part on a thread of its own, the first on the caller's.
    fn simulate<'t, P: Port<Packet<T::Header>> + Send>(
        &self,
        mut parts: impl Iterator<Item = (Team<'t>, Links<T::Header, P>)>,
        watch: &mut Watch<'_>,
    ) -> Option<Outcome> {
        let (leader, first) = parts.next()?;
        scope(|threads| {
            let Watch { threads: Threads { at_end, .. }, progress, .. } = *watch;
            let start = |(team, links): (Team<'t>, _)| {
                let name = format!("part-{}", team.part());
                Builder::new().name(name).spawn_scoped(threads, move || {
                    let share = self.follow(team, links, progress);
                    at_end();
                    share
                })
            };
            let others: Result<Vec<ScopedJoinHandle<'_, Share>>, _> = parts.map(start).collect();
            let Ok(others) = others else {
                leader.stop();
                return None;
            };
            let mut share = self.simulate_part(leader, first, watch);
            for other in others {
                share.add(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            Some(share.conclude(watch))
        })
    }

    /// Simulates a part on a thread other than the leader's, which hands on the samples of all parts.
    fn follow<P: Port<Packet<T::Header>>>(
        &self,
        team: Team<'_>,
        links: Links<T::Header, P>,
        progress: &Progress,
    ) -> Share {
        let mut samples = |_: &[PortSample]| ControlFlow::Continue(());
        let threads = Threads::one();
        let mut watch = Watch { threads, progress, samples: &mut samples, probing: None };
        self.simulate_part(team, links, &mut watch)
    }

    fn simulate_part<P: Port<Packet<T::Header>>>(
        &self,
        team: Team<'_>,
        links: Links<T::Header, P>,
        watch: &mut Watch<'_>,
    ) -> Share {
        let _stop = StopAtPanic(team);
        let Whole { job, layout, rules, connections, post } = self;
        let layout = match team.division() {
            Some(division) => layout.of_part(job.network, division, team.part()),
            None => layout.clone(),
        };
        let fabric = Windows::of_part(
            job,
            layout,
            links,
            |_| NoController,
            LostData::default(),
            team,
            Some(post),
        );
        let hosts = Hosts::new(job, rules, connections.clone(), team);
        Engine::new(job, hosts, fabric, Nobody, team).run(watch)
    }
}

/// The links of each part.
fn divide<H, P>(links: Vec<Link<H, P>>, division: &Division) -> Vec<Links<H, P>> {
    let mut parts: Vec<Links<H, P>> = (0..division.parts).map(|_| Vec::new()).collect();
    for (port, link) in (0..).map(PortId).zip(links) {
        parts[division.of_port(port)].push((port, link));
    }
    parts
}

/// Stops the run if the thread panics, because other threads would wait for it.
struct StopAtPanic<'a>(Team<'a>);

impl Drop for StopAtPanic<'_> {
    fn drop(&mut self) {
        if panicking() {
            self.0.stop();
        }
    }
}
