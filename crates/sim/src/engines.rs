//! Each engine by itself, so that tests can compare what no caller can choose: windows on one thread, windows
//! on several threads, and single events.

use flowsched_schemes::Scheme;
use flowsched_schemes::port::Connections;
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{
    Controllers, Outcome, Parts, Ports, Progress, Watch, World, collecting,
};

use crate::fabric::events::Events;
use crate::fabric::windows::{self, Windows};
use crate::fabric::{self, LostData, apart};
use crate::hosts::Hosts;
use crate::job::Job;
use crate::shared::shared;
use crate::team::Team;
use crate::watcher::Nobody;
use crate::{run_to_end, together};

/// Runs a job in windows on one thread. `None` if windows cannot go through its network.
pub fn in_windows(job: &Job<'_>, scheme: &Scheme) -> Option<Outcome> {
    scheme.run_in(InWindows(&job.under(scheme)))
}

/// Runs a job in single events. If `remembers` is true, the ways of flows are remembered.
pub fn in_events(job: &Job<'_>, scheme: &Scheme, remembers: bool) -> Outcome {
    scheme.run_in(InEvents(&job.under(scheme), remembers))
}

/// Runs a job in windows on this many threads. `None` if it cannot be divided.
///
/// # Panics
/// If `threads` is 0.
pub fn on_threads(job: &Job<'_>, scheme: &Scheme, threads: usize) -> Option<Outcome> {
    scheme.run_in(OnThreads(&job.under(scheme), threads))
}

struct InWindows<'j, 'n>(&'j Job<'n>);

struct InEvents<'j, 'n>(&'j Job<'n>, bool);

struct OnThreads<'j, 'n>(&'j Job<'n>, usize);

impl World for InWindows<'_, '_> {
    type Output = Option<Outcome>;

    fn run<T, G, P, C>(self, parts: Parts<T, G, P, C>) -> Option<Outcome>
    where
        T: Transport,
        G: Tagging<T::Header>,
        P: Ports<T::Header>,
        C: Controllers<T::Header>,
    {
        let parts = shared(self.0, parts);
        let connections = Connections::new(self.0.flows.len());
        let controllers = fabric::controllers(self.0, &parts.controllers, parts.ports.host_rate());
        let apart = apart::fabric(self.0, &parts.ports, &connections, &controllers);
        let links = fabric::links(self.0, &parts.ports, &connections);
        let hosts = Hosts::new(self.0, &parts, connections, Team::alone());
        if let Some(fabric) = apart {
            let run = |watch: &mut Watch<'_>| run_to_end(self.0, hosts, fabric, Nobody, watch);
            return Some(collecting(&Progress::default(), run));
        }
        let layout = windows::layout(self.0.network, &links, &controllers)?;
        let fabric = Windows::new(self.0, layout, links, controllers, LostData::default());
        let run = |watch: &mut Watch<'_>| run_to_end(self.0, hosts, fabric, Nobody, watch);
        Some(collecting(&Progress::default(), run))
    }
}

impl World for InEvents<'_, '_> {
    type Output = Outcome;

    fn run<T, G, P, C>(self, parts: Parts<T, G, P, C>) -> Outcome
    where
        T: Transport,
        G: Tagging<T::Header>,
        P: Ports<T::Header>,
        C: Controllers<T::Header>,
    {
        let parts = shared(self.0, parts);
        let connections = Connections::new(self.0.flows.len());
        let links = fabric::links(self.0, &parts.ports, &connections);
        let controllers = fabric::controllers(self.0, &parts.controllers, parts.ports.host_rate());
        let fabric = Events::new(self.0, links, controllers, LostData::default(), self.1);
        let hosts = Hosts::new(self.0, &parts, connections, Team::alone());
        let run = |watch: &mut Watch<'_>| run_to_end(self.0, hosts, fabric, Nobody, watch);
        collecting(&Progress::default(), run)
    }
}

impl World for OnThreads<'_, '_> {
    type Output = Option<Outcome>;

    fn run<T, G, P, C>(self, parts: Parts<T, G, P, C>) -> Option<Outcome>
    where
        T: Transport,
        G: Tagging<T::Header>,
        P: Ports<T::Header, Port: Send>,
        C: Controllers<T::Header>,
    {
        let mut is_divided = false;
        let collected = collecting(&Progress::default(), |watch| {
            watch.threads.count = self.1.try_into().expect("at least one thread");
            let outcome = together::run(self.0, &shared(self.0, parts), watch);
            is_divided = outcome.is_some();
            outcome.unwrap_or_default()
        });
        is_divided.then_some(collected)
    }
}
