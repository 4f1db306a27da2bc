//! The loop that handles one event after the other.

use std::sync::atomic::Ordering;

use flowsched_schemes::Packet;
use flowsched_schemes::port::Port;
use flowsched_schemes::transport::Transport;
use flowsched_topology::Routing;
use flowsched_units::Time;
use flowsched_workload::Flow;

use crate::fabric::Fabric;
use crate::hosts::Hosts;
use crate::outcome::{Outcome, PortSample};
use crate::tournament::Tournament;
use crate::{Job, Progress};

/// Events between looks at whether to stop.
const LOOK_EVERY: u64 = 1 << 16;

/// A simulation under way.
pub(crate) struct Engine<'a, T: Transport, P> {
    flows: &'a [Flow],
    next_flow: usize,
    fabric: Fabric<'a, P>,
    hosts: Hosts<'a, T>,
    events: Tournament,
    sources: Sources,
    sample_interval: Time,
    samples: Vec<PortSample>,
    until: Time,
    packet_hops: u64,
}

/// The numbers of the sources that are not links: they come after the links.
#[derive(Clone, Copy, Debug)]
struct Sources {
    flow_starts: usize,
    timers: usize,
    samples: usize,
}

impl<'a, T: Transport, P: Port<Packet>> Engine<'a, T, P> {
    pub(crate) fn new(
        job: &Job<'a>,
        routing: Routing,
        transport: T,
        new_port: impl Fn() -> P,
    ) -> Engine<'a, T, P> {
        let fabric = Fabric::new(job.network, routing, job.seed, new_port);
        let links = fabric.len();
        let sources = Sources { flow_starts: links, timers: links + 1, samples: links + 2 };
        let mut events = Tournament::new(links + 3);
        events.set(sources.flow_starts, job.flows.first().map_or(Time::MAX, |flow| flow.start));
        if job.sample_interval > Time::ZERO {
            events.set(sources.samples, job.sample_interval);
        }
        Engine {
            flows: job.flows,
            next_flow: 0,
            fabric,
            hosts: Hosts::new(job.network, job.flows, transport, &job.scheme.tagger),
            events,
            sources,
            sample_interval: job.sample_interval,
            samples: Vec::new(),
            until: job.until.unwrap_or(Time::MAX),
            packet_hops: 0,
        }
    }

    pub(crate) fn run(mut self, progress: &Progress) -> Outcome {
        let mut outcome = Outcome::default();
        loop {
            let (now, source) = self.events.first();
            if now == Time::MAX || now > self.until {
                break;
            }
            outcome.end = now;
            outcome.events += 1;
            if source < self.sources.flow_starts {
                self.deliver(source, now);
            } else if source == self.sources.flow_starts {
                self.start_flow(now);
            } else if source == self.sources.timers {
                self.run_timer(now);
            } else {
                self.sample(now);
            }
            if outcome.events % LOOK_EVERY == 0 && self.is_told_to_stop(progress) {
                outcome.stopped = true;
                break;
            }
        }
        self.is_told_to_stop(progress);
        self.finish(outcome)
    }

    #[inline]
    fn deliver(&mut self, link: usize, now: Time) {
        self.packet_hops += 1;
        if let Some((_, packet)) = self.fabric.deliver(link, now, &mut self.events) {
            let (fabric, events) = (&mut self.fabric, &mut self.events);
            self.hosts.receive(&packet, now, |host, packet| fabric.send(host, packet, now, events));
            self.set_timer();
        }
    }

    fn start_flow(&mut self, now: Time) {
        let id = self.next_flow as u32;
        self.next_flow += 1;
        let next = self.flows.get(self.next_flow).map_or(Time::MAX, |flow| flow.start);
        self.events.set(self.sources.flow_starts, next);
        let (fabric, events) = (&mut self.fabric, &mut self.events);
        self.hosts.start(id, now, |host, packet| fabric.send(host, packet, now, events));
        self.set_timer();
    }

    fn run_timer(&mut self, now: Time) {
        let (fabric, events) = (&mut self.fabric, &mut self.events);
        self.hosts.on_timer(now, |host, packet| fabric.send(host, packet, now, events));
        self.set_timer();
    }

    #[inline]
    fn set_timer(&mut self) {
        let first = self.hosts.timers.first();
        if first != self.events.time_of(self.sources.timers) {
            self.events.set(self.sources.timers, first);
        }
    }

    /// Looks at every port; the last time is when nothing else is left to happen.
    fn sample(&mut self, now: Time) {
        self.fabric.sample(now, &mut self.samples);
        self.events.set(self.sources.samples, Time::MAX);
        let (next, _) = self.events.first();
        if next != Time::MAX {
            self.events.set(self.sources.samples, now + self.sample_interval);
        }
    }

    fn is_told_to_stop(&mut self, progress: &Progress) -> bool {
        let ended = std::mem::take(&mut self.hosts.ended);
        progress.finished_flows.fetch_add(ended, Ordering::Relaxed);
        progress.stop.load(Ordering::Relaxed)
    }

    fn finish(mut self, outcome: Outcome) -> Outcome {
        self.hosts.close();
        let is_sampled = self.samples.last().is_some_and(|sample| sample.time == outcome.end);
        if !is_sampled {
            self.fabric.sample(outcome.end, &mut self.samples);
        }
        let flows = self.hosts.outcomes;
        Outcome {
            packet_hops: self.packet_hops,
            drops: self.fabric.drops(),
            ecn_marks: self.fabric.marks(),
            timeouts: flows.iter().map(|flow| u64::from(flow.timeouts)).sum(),
            retransmissions: flows.iter().map(|flow| u64::from(flow.retransmissions)).sum(),
            flows,
            ports: self.samples,
            ..outcome
        }
    }
}
