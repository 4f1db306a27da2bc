//! The loop that handles one event after the other.

use std::sync::atomic::Ordering;

use flowsched_schemes::Packet;
use flowsched_schemes::controller::{Controller, Site};
use flowsched_schemes::port::Port;
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_units::Time;
use flowsched_workload::Flow;

use crate::connections::ConnectionNumbers;
use crate::fabric::Fabric;
use crate::hosts::Hosts;
use crate::outcome::{Outcome, PortSample};
use crate::{Job, Progress};

/// Events between looks at whether to stop.
const LOOK_EVERY: u64 = 1 << 16;

/// A simulation under way.
pub(crate) struct Engine<'a, T: Transport, G: Tagging<T::Header>, P, C> {
    flows: &'a [Flow],
    next_flow: usize,
    fabric: Fabric<'a, T::Header, P, C>,
    hosts: Hosts<'a, T, G>,
    sample_interval: Time,
    next_sample: Time,
    /// The earliest event that is not a link's.
    next_other: Time,
    samples: Vec<PortSample>,
    until: Time,
    packet_hops: u64,
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

/// Where the next event comes from; of those at the same time the first of this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Links,
    FlowStarts,
    Timers,
    Controllers,
    Samples,
}

impl<'a, T, G, P, C> Engine<'a, T, G, P, C>
where
    T: Transport,
    G: Tagging<T::Header>,
    P: Port<Packet<T::Header>>,
    C: Controller<T::Header>,
{
    pub(crate) fn new(
        job: &Job<'a>,
        parts: Parts<T, G, impl Fn(Site) -> P, impl Fn(Site) -> C>,
        connections: ConnectionNumbers,
    ) -> Engine<'a, T, G, P, C> {
        let is_sampled = job.sample_interval > Time::ZERO;
        let Parts { transport, tagger, new_port, new_controller } = parts;
        let mut engine = Engine {
            flows: job.flows,
            next_flow: 0,
            fabric: Fabric::new(job, new_port, new_controller),
            hosts: Hosts::new(job, transport, tagger, connections),
            sample_interval: job.sample_interval,
            next_sample: if is_sampled { job.sample_interval } else { Time::MAX },
            next_other: Time::MAX,
            samples: Vec::new(),
            until: job.until.unwrap_or(Time::MAX),
            packet_hops: 0,
        };
        engine.look_ahead();
        engine
    }

    pub(crate) fn run(mut self, progress: &Progress) -> Outcome {
        let mut outcome = Outcome::default();
        loop {
            let (now, source) = self.next_event();
            if now == Time::MAX || now > self.until {
                break;
            }
            outcome.end = now;
            outcome.events += 1;
            match source {
                Source::Links => self.deliver(now),
                Source::FlowStarts => self.start_flow(now),
                Source::Timers => self.run_timer(now),
                Source::Controllers => self.run_controller(now),
                Source::Samples => self.sample(now),
            }
            if outcome.events.is_multiple_of(LOOK_EVERY) && self.is_told_to_stop(progress) {
                outcome.stopped = true;
                break;
            }
        }
        self.is_told_to_stop(progress);
        self.finish(outcome)
    }

    #[inline]
    fn next_event(&self) -> (Time, Source) {
        let arrival = self.fabric.next_arrival();
        if arrival <= self.next_other {
            return (arrival, Source::Links);
        }
        let source = if self.next_other == self.next_flow_start() {
            Source::FlowStarts
        } else if self.next_other == self.hosts.timers.first() {
            Source::Timers
        } else if self.next_other == self.fabric.timers.first() {
            Source::Controllers
        } else {
            Source::Samples
        };
        (self.next_other, source)
    }

    /// Finds the next event that is not a link's, after any of them may have changed.
    #[inline]
    fn look_ahead(&mut self) {
        let timer = self.hosts.timers.first();
        self.next_other = self.next_flow_start().min(timer).min(self.next_sample);
        if C::IS_THERE {
            self.next_other = self.next_other.min(self.fabric.timers.first());
        }
    }

    #[inline]
    fn next_flow_start(&self) -> Time {
        self.flows.get(self.next_flow).map_or(Time::MAX, |flow| flow.start)
    }

    #[inline]
    fn deliver(&mut self, now: Time) {
        self.packet_hops += 1;
        if let Some((_, packet)) = self.fabric.deliver() {
            let fabric = &mut self.fabric;
            self.hosts.receive(&packet, now, |host, packet| fabric.send(host, packet, now));
            self.look_ahead();
        } else if C::IS_THERE {
            self.look_ahead();
        }
    }

    fn start_flow(&mut self, now: Time) {
        let id = self.next_flow as u32;
        self.next_flow += 1;
        let fabric = &mut self.fabric;
        self.hosts.start(id, now, |host, packet| fabric.send(host, packet, now));
        self.look_ahead();
    }

    fn run_timer(&mut self, now: Time) {
        let fabric = &mut self.fabric;
        self.hosts.on_timer(now, |host, packet| fabric.send(host, packet, now));
        self.look_ahead();
    }

    fn run_controller(&mut self, now: Time) {
        self.fabric.on_timer(now);
        self.look_ahead();
    }

    /// Looks at every port; the last time is when nothing else is left to happen.
    fn sample(&mut self, now: Time) {
        self.fabric.sample(now, &mut self.samples);
        self.next_sample = Time::MAX;
        self.look_ahead();
        if self.next_event().0 != Time::MAX {
            self.next_sample = now + self.sample_interval;
            self.look_ahead();
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
        let mut flows = self.hosts.outcomes;
        for flow in &self.fabric.lost {
            flows[*flow as usize].passage.lost += 1;
        }
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
