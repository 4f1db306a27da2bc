//! The loop that handles the events of hosts one after another.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use flowsched_schemes::packet::Header;
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{Outcome, Overhead, PortSample, Progress, Watch};
use flowsched_units::{Bytes, Time};
use flowsched_workload::{Flow, LONGEST_RUN};

use crate::fabric::{Fabric, Tally};
use crate::hosts::Hosts;
use crate::job::Job;
use crate::watcher::Watching;

/// Arrivals between looks at whether to stop. Where ports share memory, an arrival may visit all
/// ports of a switch.
const LOOK_EVERY: u32 = 1 << 8;

/// A simulation under way.
pub(crate) struct Engine<'a, T: Transport, G: Tagging<T::Header>, F, W> {
    flows: &'a [Flow],
    next_flow: usize,
    fabric: F,
    hosts: Hosts<'a, T, G>,
    watcher: W,
    sample_interval: Time,
    next_sample: Time,
    /// The next flow's start or the next sample, whichever is earlier.
    next_planned: Time,
    /// The earliest event that is not a link's.
    next_other: Time,
    /// Every port at the last sample time.
    samples: Vec<PortSample>,
    until: Time,
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

impl<'a, T, G, F, W> Engine<'a, T, G, F, W>
where
    T: Transport,
    G: Tagging<T::Header>,
    F: Fabric<T::Header>,
    W: Watching<T, G, F>,
{
    pub(crate) fn new(
        job: &Job<'a>,
        hosts: Hosts<'a, T, G>,
        fabric: F,
        watcher: W,
    ) -> Engine<'a, T, G, F, W> {
        let is_sampled = job.sample_interval > Time::ZERO;
        let mut engine = Engine {
            flows: job.flows,
            next_flow: 0,
            fabric,
            hosts,
            watcher,
            sample_interval: job.sample_interval,
            next_sample: if is_sampled { job.sample_interval } else { Time::MAX },
            next_planned: Time::MAX,
            next_other: Time::MAX,
            samples: Vec::new(),
            until: job.until.map_or(LONGEST_RUN, |until| until.min(LONGEST_RUN)),
        };
        engine.plan();
        engine
    }

    pub(crate) fn run(mut self, watch: &mut Watch<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        loop {
            let (now, source) = self.next_event();
            let is_known = now < self.fabric.horizon();
            let next = if is_known { now } else { self.advance() };
            if next == Time::MAX {
                break;
            }
            if next > self.until {
                outcome.end = self.until;
                outcome.stopped = self.until == LONGEST_RUN;
                break;
            }
            if is_known {
                if self.watcher.look_before(now, &mut self.fabric, &self.hosts).is_break() {
                    outcome.stopped = true;
                    break;
                }
                outcome.end = now;
                outcome.events += u64::from(source != Source::Links);
                if self.handle(now, source, &mut outcome.end, watch).is_break() {
                    outcome.stopped = true;
                    break;
                }
            }
            if watch.progress.stop.load(Ordering::Relaxed) {
                outcome.stopped = true;
                break;
            }
            self.report(watch.progress);
        }
        self.report(watch.progress);
        self.finish(outcome, watch)
    }

    /// Has the fabric bring packets to hosts up to a new horizon: when something happens next.
    #[inline]
    fn advance(&mut self) -> Time {
        self.fabric.advance(self.next_other, self.until.min(self.next_sample))
    }

    #[inline]
    fn handle(
        &mut self,
        now: Time,
        source: Source,
        end: &mut Time,
        watch: &mut Watch<'_>,
    ) -> ControlFlow<()> {
        match source {
            Source::Links if W::LOOKS => self.deliver_one(now),
            Source::Links => *end = self.deliver(now),
            Source::FlowStarts => self.start_flow(now),
            Source::Timers => self.run_timer(now),
            Source::Controllers => self.run_controller(now),
            Source::Samples => return self.sample(now, watch),
        }
        ControlFlow::Continue(())
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
        } else if self.next_other == self.fabric.next_timer() {
            Source::Controllers
        } else {
            Source::Samples
        };
        (self.next_other, source)
    }

    /// Finds the next event that is not a link's, after any of them may have changed.
    fn plan(&mut self) {
        self.next_planned = self.next_flow_start().min(self.next_sample);
        self.look_ahead();
    }

    /// The same after timers may have changed.
    #[inline]
    fn look_ahead(&mut self) {
        self.next_other = self.next_planned.min(self.hosts.timers.first());
        if F::HAS_TIMERS {
            self.next_other = self.next_other.min(self.fabric.next_timer());
        }
    }

    #[inline]
    fn next_flow_start(&self) -> Time {
        self.flows.get(self.next_flow).map_or(Time::MAX, |flow| flow.start)
    }

    /// Delivers what arrives from `now` on before anything else happens, up to a limit: the time of
    /// the last arrival.
    fn deliver(&mut self, mut now: Time) -> Time {
        let mut left = LOOK_EVERY;
        loop {
            self.deliver_one(now);
            left -= 1;
            let next = self.fabric.next_arrival();
            let is_over = next > self.next_other.min(self.until) || next >= self.fabric.horizon();
            if is_over || left == 0 {
                return now;
            }
            now = next;
        }
    }

    #[inline]
    fn deliver_one(&mut self, now: Time) {
        if let Some(packet) = self.fabric.deliver() {
            let Engine { fabric, hosts, watcher, .. } = self;
            hosts.receive(&packet, now, |host, packet| {
                if W::LOOKS {
                    watcher.note_sent(&packet);
                }
                fabric.send(host, packet, now);
            });
            self.look_ahead();
        } else if F::HAS_TIMERS {
            self.look_ahead();
        }
    }

    fn start_flow(&mut self, now: Time) {
        let id = self.next_flow as u32;
        self.next_flow += 1;
        let Engine { fabric, hosts, watcher, .. } = self;
        hosts.start(id, now, |host, packet| {
            if W::LOOKS {
                watcher.note_sent(&packet);
            }
            fabric.send(host, packet, now);
        });
        self.plan();
    }

    fn run_timer(&mut self, now: Time) {
        let Engine { fabric, hosts, watcher, .. } = self;
        hosts.on_timer(now, |host, packet| {
            if W::LOOKS {
                watcher.note_sent(&packet);
            }
            fabric.send(host, packet, now);
        });
        self.look_ahead();
    }

    fn run_controller(&mut self, now: Time) {
        self.fabric.on_timer(now);
        self.look_ahead();
    }

    /// Looks at every port; the last time is when nothing else is left to happen.
    fn sample(&mut self, now: Time, watch: &mut Watch<'_>) -> ControlFlow<()> {
        let handed_on = self.hand_on_samples(now, watch);
        self.next_sample = Time::MAX;
        self.plan();
        if self.next_other != Time::MAX || !self.fabric.is_quiet() {
            self.next_sample = now.saturating_add(self.sample_interval);
            self.plan();
        }
        handed_on
    }

    fn hand_on_samples(&mut self, now: Time, watch: &mut Watch<'_>) -> ControlFlow<()> {
        self.samples.clear();
        self.fabric.sample(now, &mut self.samples);
        (watch.samples)(&self.samples)
    }

    fn report(&mut self, progress: &Progress) {
        let ended = std::mem::take(&mut self.hosts.ended);
        if ended > 0 {
            progress.finished_flows.fetch_add(ended, Ordering::Relaxed);
        }
    }

    fn finish(mut self, mut outcome: Outcome, watch: &mut Watch<'_>) -> Outcome {
        let end = outcome.end.max(self.fabric.last_hop());
        let after = end.saturating_add(Time::from_ps(1));
        outcome.stopped |=
            self.watcher.look_before(after, &mut self.fabric, &self.hosts).is_break();
        self.hosts.close();
        let is_sampled = self.samples.last().is_some_and(|sample| sample.time == end);
        if !is_sampled {
            outcome.stopped |= self.hand_on_samples(end, watch).is_break();
        }
        let overhead = Overhead {
            header: Bytes::new(T::Header::WIRE_BYTES.into()),
            probes: self.hosts.probes,
            ..self.fabric.overhead()
        };
        let Tally { packet_hops, drops, marks, lost } = self.fabric.tally();
        let mut flows = self.hosts.outcomes;
        for flow in lost {
            flows[flow as usize].passage.lost += 1;
        }
        Outcome {
            packet_hops,
            drops,
            ecn_marks: marks,
            timeouts: flows.iter().map(|flow| u64::from(flow.timeouts.all)).sum(),
            retransmissions: flows.iter().map(|flow| u64::from(flow.retransmissions)).sum(),
            overhead,
            flows,
            events: outcome.events + packet_hops,
            end,
            ..outcome
        }
    }
}
