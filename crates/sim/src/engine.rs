//! The loop that handles the events of hosts one after another.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use flowsched_schemes::packet::Header;
use flowsched_schemes::tagger::Tagging;
use flowsched_schemes::transport::Transport;
use flowsched_schemes::world::{Overhead, PortSample, Progress, Watch};
use flowsched_units::{Bytes, Time};
use flowsched_workload::{Flow, LONGEST_RUN};

use crate::fabric::{Delivered, Fabric};
use crate::hosts::Hosts;
use crate::job::Job;
use crate::share::Share;
use crate::team::Team;
use crate::watcher::Watching;

/// The number of arrivals between two checks whether to stop. Where ports share memory, an arrival
/// may visit all ports of a switch.
const LOOK_EVERY: u32 = 1 << 8;

/// A simulation under way, of a network or of a part of one.
pub(crate) struct Engine<'a, T: Transport, G: Tagging<T::Header>, F, W> {
    flows: &'a [Flow],
    /// The flows that have an end in this part, in the order of their starts.
    starts: Vec<u32>,
    /// How many of these have started.
    started: usize,
    fabric: F,
    hosts: Hosts<'a, T, G>,
    watcher: W,
    team: Team<'a>,
    sample_interval: Time,
    next_sample: Time,
    /// The next flow's start or the next sample, whichever is earlier.
    next_planned: Time,
    /// The time of the earliest event other than a packet's arrival.
    next_other: Time,
    /// The last sample of every port.
    samples: Vec<PortSample>,
    last_sample: Option<Time>,
    until: Time,
    /// The last event's time.
    end: Time,
    /// The number of events of hosts and of samples.
    events: u64,
}

/// The source of an event. Of events at the same time, the one whose source is first in this list
/// comes first.
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
        team: Team<'a>,
    ) -> Engine<'a, T, G, F, W> {
        let is_sampled = job.sample_interval > Time::ZERO;
        let has_end = |flow: &&Flow| team.has(flow.src) || team.has(flow.dst);
        let mut engine = Engine {
            flows: job.flows,
            starts: job.flows.iter().filter(has_end).map(|flow| flow.id).collect(),
            started: 0,
            fabric,
            hosts,
            watcher,
            team,
            sample_interval: job.sample_interval,
            next_sample: if is_sampled { job.sample_interval } else { Time::MAX },
            next_planned: Time::MAX,
            next_other: Time::MAX,
            samples: Vec::new(),
            last_sample: None,
            until: job.until.map_or(LONGEST_RUN, |until| until.min(LONGEST_RUN)),
            end: Time::ZERO,
            events: 0,
        };
        engine.plan();
        engine
    }

    /// Runs the simulation to its end.
    pub(crate) fn run(mut self, watch: &mut Watch<'_>) -> Share {
        let mut stopped = false;
        loop {
            let (now, source) = self.next_event();
            let is_known = now < self.fabric.horizon();
            let next = if is_known { now } else { self.advance() };
            if next == Time::MAX {
                break;
            }
            if next > self.until {
                self.end = self.until;
                stopped = self.until == LONGEST_RUN;
                break;
            }
            if (is_known && self.handle(now, source, watch).is_break())
                || watch.progress.stop.load(Ordering::Relaxed)
            {
                stopped = true;
                self.team.stop();
                break;
            }
            self.report(watch.progress);
        }
        self.report(watch.progress);
        self.finish(stopped)
    }

    /// Moves the fabric's horizon on: the fabric brings packets to hosts. Returns when something
    /// happens next.
    #[inline]
    fn advance(&mut self) -> Time {
        let last = self.until.min(self.next_sample);
        let Engine { fabric, hosts, next_planned, next_other, .. } = self;
        fabric.advance(last, || {
            hosts.hear_endings();
            *next_other = (*next_planned).min(hosts.timers.first());
            *next_other
        })
    }

    #[inline]
    fn handle(&mut self, now: Time, source: Source, watch: &mut Watch<'_>) -> ControlFlow<()> {
        self.watcher.look_before(now, &mut self.fabric, &self.hosts)?;
        match source {
            Source::Links => {
                self.end = self.deliver();
                self.look_ahead();
            }
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

    /// Finds the next event other than an arrival, when a start, a sample or a timer may have
    /// changed.
    fn plan(&mut self) {
        self.next_planned = self.next_flow_start().min(self.next_sample);
        self.look_ahead();
    }

    /// Finds the next event other than an arrival, when nothing but timers may have changed.
    #[inline]
    fn look_ahead(&mut self) {
        self.next_other = self.next_planned.min(next_timer(&self.fabric, &self.hosts));
    }

    #[inline]
    fn next_flow_start(&self) -> Time {
        self.starts.get(self.started).map_or(Time::MAX, |flow| self.flows[*flow as usize].start)
    }

    /// Delivers the packets that arrive before anything else happens, up to a limit. Returns the
    /// time of the last arrival.
    fn deliver(&mut self) -> Time {
        // Deliveries move neither the horizon, which is after the first of them, nor starts and
        // samples.
        let known = self.fabric.horizon() - Time::from_ps(1);
        let last = known.min(self.until).min(self.next_planned);
        let mut left = if W::LOOKS { 1 } else { LOOK_EVERY };
        let Engine { fabric, hosts, watcher, .. } = self;
        fabric.deliver(|fabric, now, delivered| {
            if let Some(Delivered { packet, next }) = delivered {
                if let Some(next) = next {
                    hosts.expect(next);
                }
                hosts.receive(packet, now, |host, packet| {
                    if W::LOOKS {
                        watcher.note_sent(&packet);
                    }
                    fabric.send(host, packet, now);
                });
            }
            left -= 1;
            if left == 0 {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(last.min(next_timer(fabric, hosts)))
        })
    }

    fn start_flow(&mut self, now: Time) {
        let id = self.starts[self.started];
        self.started += 1;
        let Engine { fabric, hosts, watcher, .. } = self;
        let is_sender_here = hosts.start(id, now, |host, packet| {
            if W::LOOKS {
                watcher.note_sent(&packet);
            }
            fabric.send(host, packet, now);
        });
        self.end = now;
        self.events += u64::from(is_sender_here);
        self.plan();
    }

    fn run_timer(&mut self, now: Time) {
        let Engine { fabric, hosts, watcher, .. } = self;
        let is_event = hosts.on_timer(now, |host, packet| {
            if W::LOOKS {
                watcher.note_sent(&packet);
            }
            fabric.send(host, packet, now);
        });
        if is_event {
            self.end = now;
            self.events += 1;
        }
        self.look_ahead();
    }

    fn run_controller(&mut self, now: Time) {
        self.fabric.on_timer(now);
        self.look_ahead();
    }

    /// Takes a sample of every port. The last regular sample is taken when nothing else is left to
    /// happen.
    fn sample(&mut self, now: Time, watch: &mut Watch<'_>) -> ControlFlow<()> {
        self.end = now;
        self.events += u64::from(self.team.leads());
        self.look_at_ports(now);
        let handed_on = self.hand_on_samples(watch);
        self.hosts.hear_endings();
        self.next_sample = Time::MAX;
        self.plan();
        let next = if self.fabric.is_quiet() { self.next_other } else { now };
        if self.team.earliest([next]) != [Time::MAX] {
            self.next_sample = now.saturating_add(self.sample_interval);
            self.plan();
        }
        handed_on
    }

    fn look_at_ports(&mut self, now: Time) {
        self.samples.clear();
        self.fabric.sample(now, &mut self.samples);
        self.last_sample = Some(now);
    }

    /// Hands the samples of all parts on to `watch`.
    fn hand_on_samples(&mut self, watch: &mut Watch<'_>) -> ControlFlow<()> {
        self.team.gather_samples(&mut self.samples)?;
        if self.team.leads() { (watch.samples)(&self.samples) } else { ControlFlow::Continue(()) }
    }

    fn report(&mut self, progress: &Progress) {
        let ended = std::mem::take(&mut self.hosts.ended);
        if ended > 0 {
            progress.finished_flows.fetch_add(ended, Ordering::Relaxed);
        }
    }

    fn finish(mut self, stopped: bool) -> Share {
        let end = self.team.latest(self.end.max(self.fabric.last_event()));
        let after = end.saturating_add(Time::from_ps(1));
        let looked = self.watcher.look_before(after, &mut self.fabric, &self.hosts);
        self.hosts.close();
        if self.last_sample == Some(end) {
            self.samples.clear();
        } else {
            self.look_at_ports(end);
        }
        Share {
            flows: self.hosts.outcomes,
            samples: self.samples,
            events: self.events,
            overhead: Overhead {
                header: Bytes::new(T::Header::WIRE_BYTES.into()),
                probes: self.hosts.probes,
                ..self.fabric.overhead()
            },
            tally: self.fabric.tally(),
            stopped: stopped || looked.is_break(),
            end,
        }
    }
}

/// When the next timer of a host or of a controller runs out.
#[inline]
fn next_timer<T, G, F>(fabric: &F, hosts: &Hosts<'_, T, G>) -> Time
where
    T: Transport,
    G: Tagging<T::Header>,
    F: Fabric<T::Header>,
{
    let of_hosts = hosts.timers.first();
    if F::HAS_TIMERS { of_hosts.min(fabric.next_timer()) } else { of_hosts }
}
