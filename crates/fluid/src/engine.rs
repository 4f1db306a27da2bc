//! The loop that handles one instant after the other.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use flowsched_schemes::flow_level::Acceptance;
use flowsched_schemes::world::{FlowOutcome, Outcome, Overhead, Progress, Watch};
use flowsched_topology::PortId;
use flowsched_units::{Bytes, PACKET_HEADER, Time};
use flowsched_workload::{Flow, LONGEST_RUN};

use crate::admissions::Admissions;
use crate::agenda::Agenda;
use crate::job::Job;
use crate::latency::{Latency, ratio_back, round_trips, wire_bits};
use crate::news::{Decided, News};
use crate::noted::Noted;
use crate::optimum::Optimum;
use crate::paths::Paths;
use crate::ports::Ports;
use crate::sharing::{Allocator, Moment};
use crate::side_traffic::SideTraffic;
use crate::transfers::{Transfer, Transfers};
use crate::ways::Ways;

/// Events between reports of how many flows have ended.
const REPORT_EVERY: u64 = 1 << 12;

/// The stage that a flow or subflow is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It does not compete yet.
    Announces,
    Sends,
    /// Its subflows announce themselves and send, each in a slot of its own.
    IsSplit,
    /// It sends no more, and other flows do not have its share yet.
    Leaves,
}

/// A simulation under way.
pub(crate) struct Engine<'a, S> {
    job: &'a Job<'a>,
    ways: Ways<'a>,
    sharing: S,
    /// The decisions of an omniscient scheduler, if the scheme has one.
    optimum: Option<Optimum>,
    /// Whether a flow is given up once it cannot meet its deadline.
    gives_up: bool,
    /// Whether flows know their remaining sizes, and so whether they will be late.
    knows_sizes: bool,
    next_flow: usize,
    transfers: Transfers,
    paths: Paths,
    side_traffic: SideTraffic,
    admissions: Admissions,
    /// When flows hear of their rates. Without it, they hear at once.
    news: Option<News>,
    /// When each flow will compete, and its delays at its end, by slot.
    latencies: Vec<Latency>,
    /// By slot.
    phases: Vec<Phase>,
    /// When each active flow competes, ends or turns.
    agenda: Agenda,
    next_sample: Time,
    ports: Ports,
    outcomes: Vec<FlowOutcome>,
    /// Flows that have ended since the last report of progress.
    ended: u64,
    /// Slots whose times on the agenda are to be updated.
    changed: Noted,
    path: Vec<PortId>,
    links: Vec<u32>,
    /// The number and the path of a flow that has not started.
    prepared: Option<(u32, Vec<PortId>)>,
}

impl<'a, S: Allocator> Engine<'a, S> {
    pub(crate) fn new(job: &'a Job<'a>, sharing: S, optimum: Option<Optimum>) -> Engine<'a, S> {
        let is_sampled = job.sample_interval > Time::ZERO;
        let is_settled = optimum.as_ref().is_some_and(Optimum::settles_who_is_late);
        let links = job.network.ports().len();
        let news = |acceptance: Acceptance| News::new(acceptance.until_probed, links);
        Engine {
            job,
            ways: Ways::new(job.network, job.seed, job.scheme.subflows.is_some()),
            sharing,
            optimum,
            gives_up: job.scheme.gives_up && !is_settled,
            knows_sizes: job.scheme.sharing.knows_sizes(),
            next_flow: 0,
            transfers: Transfers::default(),
            paths: Paths::default(),
            side_traffic: SideTraffic::new(job.capacities()),
            admissions: Admissions::new(job.scheme.admission, links),
            news: job.scheme.admission.acceptance().map(news),
            latencies: Vec::new(),
            phases: Vec::new(),
            agenda: Agenda::default(),
            next_sample: if is_sampled { job.sample_interval } else { Time::MAX },
            ports: Ports::new(links),
            outcomes: vec![FlowOutcome::default(); job.flows.len()],
            ended: 0,
            changed: Noted::default(),
            path: Vec::new(),
            links: Vec::new(),
            prepared: None,
        }
    }

    pub(crate) fn run(mut self, watch: &mut Watch<'_>) -> Outcome {
        let worth = self.optimum.as_ref().map(|optimum| optimum.worth);
        let mut outcome = Outcome { worth, ..Outcome::default() };
        let until = self.until();
        let mut next_report = REPORT_EVERY;
        loop {
            // Checked before every instant, because an instant may concern all flows, and a sample all ports.
            if watch.progress.stop.load(Ordering::Relaxed) {
                outcome.stopped = true;
                break;
            }
            let turn = self.agenda.first().map_or(Time::MAX, |(time, _)| time);
            let event = turn.min(self.next_start());
            let now = event.min(self.next_sample);
            // Samples end with the last event.
            if event == Time::MAX {
                break;
            }
            if now > until {
                outcome.stopped = until == LONGEST_RUN;
                break;
            }
            outcome.end = now;
            if now == self.next_sample {
                self.next_sample = now.saturating_add(self.job.sample_interval);
                if self.hand_on_samples(now, watch).is_break() {
                    outcome.stopped = true;
                    break;
                }
                continue;
            }
            outcome.events += self.handle_all(now);
            self.settle(now);
            if outcome.events >= next_report {
                next_report = outcome.events + REPORT_EVERY;
                self.report(watch.progress);
            }
        }
        self.report(watch.progress);
        self.finish(outcome, watch)
    }

    /// The latest time at which the run stops.
    fn until(&self) -> Time {
        self.job.until.map_or(LONGEST_RUN, |until| until.min(LONGEST_RUN))
    }

    fn next_start(&self) -> Time {
        self.job.flows.get(self.next_flow).map_or(Time::MAX, |flow| flow.start)
    }

    /// Handles all that is due at `now`. Returns the number of events.
    fn handle_all(&mut self, now: Time) -> u64 {
        let mut events = 0;
        while let Some((time, slot)) = self.agenda.first()
            && time <= now
        {
            self.handle(slot, now);
            events += 1;
        }
        while self.next_start() <= now {
            self.start(now);
            events += 1;
        }
        events
    }

    /// Handles the agenda entry of the flow or subflow in `slot`.
    fn handle(&mut self, slot: u32, now: Time) {
        self.agenda.set(slot, Time::MAX);
        let Some(transfer) = self.transfers.get(slot) else { return };
        let is_all = self.transfers.split_flow(slot).is_none();
        match self.phases[slot as usize] {
            Phase::Announces => self.compete(slot, now),
            Phase::Leaves => self.leave(slot, now),
            _ if is_all && transfer.end() <= now => self.finish_flow(slot, now),
            _ if is_all && self.lost_at(transfer, now) <= now => self.give_up(slot, now),
            Phase::IsSplit => self.changed.note(slot),
            Phase::Sends => self.turn(slot, now),
        }
    }

    /// The flow or subflow in `slot` reaches its turning point, or hears of its rate.
    fn turn(&mut self, slot: u32, now: Time) {
        let Some(transfer) = self.transfers.get(slot) else { return };
        self.changed.note(slot);
        let moment = Moment { now, transfers: &self.transfers };
        if self.news.as_ref().is_some_and(|news| news.is_due(slot, now, transfer)) {
            self.sharing.put_in_order(slot, moment);
        } else {
            self.sharing.turn(slot, moment);
        }
    }

    /// The next flow of the workload starts.
    fn start(&mut self, now: Time) {
        let Job { network, flows, scheme, .. } = *self.job;
        let flow = &flows[self.next_flow];
        self.next_flow += 1;
        if self.optimum.as_ref().is_some_and(|optimum| optimum.gives_up(flow)) {
            self.outcomes[flow.id as usize].gave_up = Some(now);
            self.ended += 1;
            return;
        }
        let subflows = self.subflows_of(flow);
        if subflows > 1 {
            return self.split(flow, subflows, now);
        }
        let peak = self.find_path(flow, 0);
        let size = wire_bits(flow.size, scheme.header);
        let (latency, deadline) = match &self.optimum {
            None => (Latency::of_flow(flow, &self.path, 1, network, scheme), flow.deadline),
            Some(optimum) => {
                let latency = optimum.latency(&self.path, network);
                (latency, flow.deadline.map(|deadline| latency.due_time(deadline)))
            }
        };
        let slot = self.transfers.insert(Transfer::new(flow.id, size, deadline, peak));
        self.enter(slot, flow, latency);
        self.announce(slot, now);
    }

    /// Finds the flow's path of this number. Leaves its ports in `path` and its links in `links`. Returns the
    /// lowest rate of these, bit/s.
    fn find_path(&mut self, flow: &Flow, number: u32) -> f64 {
        match &self.prepared {
            Some((id, path)) if *id == flow.id && number == 0 => self.path.clone_from(path),
            _ => self.ways.there(flow, number, &mut self.path),
        }
        self.links.clear();
        self.links.extend(self.path.iter().map(|port| port.0));
        let network = self.job.network;
        let rates = self.path.iter().map(|port| network.port(*port).rate.as_bps() as f64);
        rates.fold(f64::INFINITY, f64::min)
    }

    /// The flow or subflow in `slot` announces itself.
    fn announce(&mut self, slot: u32, now: Time) {
        let latency = self.latencies[slot as usize];
        let round_trips = match self.admissions.announce(self.paths.path(slot), now, latency.before)
        {
            true => 1,
            false => 2,
        };
        let before = latency.before.saturating_mul(round_trips);
        match before {
            Time::ZERO => self.compete(slot, now),
            _ => self.agenda.set(slot, now.saturating_add(before)),
        }
    }

    /// Sets up what is known of the flow or subflow in `slot`. `links` and `path` have the path of its data.
    fn enter(&mut self, slot: u32, flow: &Flow, latency: Latency) {
        self.paths.set(slot, &self.links);
        self.find_way_back(flow);
        let ratio = ratio_back(flow.size, self.job.scheme);
        let probes = latency.probe_rate(self.job.scheme);
        self.side_traffic.start(slot, self.paths.path(slot), &self.links, ratio, probes);
        if slot as usize >= self.latencies.len() {
            self.latencies.resize(slot as usize + 1, latency);
        }
        self.latencies[slot as usize] = latency;
        self.set_phase(slot, Phase::Announces);
    }

    fn set_phase(&mut self, slot: u32, phase: Phase) {
        if slot as usize >= self.phases.len() {
            self.phases.resize(slot as usize + 1, phase);
        }
        self.phases[slot as usize] = phase;
    }

    /// Leaves in `links` the links that the flow's acknowledgements pass. `path` has the path of its data.
    fn find_way_back(&mut self, flow: &Flow) {
        let Job { network, scheme, .. } = *self.job;
        self.links.clear();
        if scheme.acknowledgements.size == Bytes::ZERO {
            return;
        }
        if scheme.acknowledgements.same_way_back {
            self.links.extend(self.path.iter().map(|port| network.reverse(*port).0));
        } else {
            self.links.extend(self.ways.back(flow).map(|port| port.0));
        }
    }

    fn compete(&mut self, slot: u32, now: Time) {
        self.phases[slot as usize] = Phase::Sends;
        self.changed.note(slot);
        self.transfers.split_flow(slot).into_iter().for_each(|flow| self.changed.note(flow));
        if let Some(news) = &mut self.news {
            news.start(slot);
        }
        let moment = Moment { now, transfers: &self.transfers };
        self.sharing.start(slot, self.paths.path(slot), moment);
    }

    /// The flow in `slot` has sent its last bit.
    fn finish_flow(&mut self, slot: u32, now: Time) {
        let Some(transfer) = self.transfers.get(slot) else { return };
        let (id, rate) = (transfer.id, transfer.rate());
        let (received, known) = self.arrival(slot, now);
        let until = self.until();
        let by_the_end = |time: Time| (time <= until).then_some(time);
        self.outcomes[id as usize] = FlowOutcome {
            finished_at_sender: by_the_end(known),
            finished_at_receiver: by_the_end(received),
            ..FlowOutcome::default()
        };
        self.end(slot, now, |engine, part| {
            let cards = engine.transfers.get(part).map_or(1.0, |transfer| rate / transfer.peak);
            engine.latencies[part as usize].after(f64::max(cards, 1.0), engine.job.scheme)
        });
    }

    /// The flow in `slot` cannot meet its deadline.
    fn give_up(&mut self, slot: u32, now: Time) {
        let Some(transfer) = self.transfers.get(slot) else { return };
        self.outcomes[transfer.id as usize].gave_up = Some(now);
        self.end(slot, now, Engine::after_giving_up);
    }

    /// When the flow is given up, if its rate stays the same: as soon as it must be late if sizes are known,
    /// otherwise when it is late (PDQ 2012, 3.1: the second condition needs the remaining size, the first does
    /// not).
    fn lost_at(&self, transfer: &Transfer, now: Time) -> Time {
        match (self.gives_up, self.knows_sizes) {
            (false, _) => Time::MAX,
            (true, true) => transfer.lost_at(now),
            (true, false) => transfer.deadline.saturating_add(Time::from_ps(1)).max(now),
        }
    }

    /// The time from giving up the flow or subflow in `slot` until other flows have its share.
    fn after_giving_up(&self, slot: u32) -> Time {
        let latency = self.latencies[slot as usize];
        let sends = self.transfers.get(slot).is_some_and(|transfer| transfer.rate() > 0.0);
        match self.job.scheme.admission.acceptance() {
            Some(acceptance) if sends => {
                round_trips(acceptance.hand_over_unforeseen(), latency.round_trip)
            }
            Some(_) => Time::ZERO,
            None => latency.after(1.0, self.job.scheme),
        }
    }

    /// The flow in `slot` sends no more. `after` gives the time until other flows have the share of a subflow, or of
    /// the whole flow if it is not split.
    fn end(&mut self, slot: u32, now: Time, after: impl Fn(&Self, u32) -> Time) {
        self.ended += 1;
        if !self.transfers.subflows(slot).is_empty() {
            return self.end_subflows(slot, now, after);
        }
        let after = after(self, slot);
        self.stop(slot, now, after);
    }

    /// The flow or subflow in `slot` sends no more. Other flows have its share after the time `after`.
    fn stop(&mut self, slot: u32, now: Time, after: Time) {
        self.fall_silent(slot, now);
        self.phases[slot as usize] = Phase::Leaves;
        match after {
            Time::ZERO => self.leave(slot, now),
            _ => self.agenda.set(slot, now.saturating_add(after)),
        }
    }

    fn fall_silent(&mut self, slot: u32, now: Time) {
        if let Some(transfer) = self.transfers.get_mut(slot) {
            transfer.stop(now);
            self.side_traffic.end(slot, self.paths.path(slot));
        }
        if let Some(news) = &mut self.news
            && self.phases[slot as usize] == Phase::Sends
        {
            news.end(slot, self.paths.path(slot));
        }
        self.admissions.forget(self.paths.path(slot));
    }

    /// Frees the share of the flow or subflow in `slot` for other flows.
    fn leave(&mut self, slot: u32, now: Time) {
        let moment = Moment { now, transfers: &self.transfers };
        self.sharing.end(slot, moment);
        if let Some(news) = &mut self.news {
            news.leave(self.paths.path(slot));
        }
        self.remove(slot, now);
    }

    /// Frees the slot, and counts what has been sent.
    fn remove(&mut self, slot: u32, now: Time) {
        if let Some(transfer) = self.transfers.get(slot) {
            let sent = transfer.sent_at(now);
            self.ports.add(self.paths.path(slot), sent);
            let (way_back, ratio) = self.side_traffic.way_back(slot);
            self.ports.add(way_back, sent * ratio);
        }
        self.transfers.remove(slot);
    }

    /// Finds the rates, and sets the times on the agenda that follow from them.
    fn settle(&mut self, now: Time) {
        self.share(now);
        self.set_rates(now);
        while let Some(slot) = self.changed.pop() {
            let moment = Moment { now, transfers: &self.transfers };
            let Some(transfer) = self.transfers.get(slot) else { continue };
            let phase = self.phases[slot as usize];
            let mut next = Time::MAX;
            if phase == Phase::Sends {
                let turn = self.sharing.turning_point(slot, moment);
                let news = self.news.as_ref().map_or(Time::MAX, |n| n.next(slot, now, transfer));
                next = turn.min(news);
            }
            // Subflows end with their flow.
            if phase == Phase::IsSplit || self.transfers.split_flow(slot).is_none() {
                next = next.min(transfer.end()).min(self.lost_at(transfer, now));
            }
            if matches!(phase, Phase::Sends | Phase::IsSplit) {
                self.agenda.set(slot, next);
            }
        }
    }

    /// Finds the rates that flows get, and what acknowledgements and probes leave of these. Notes in `changed` the
    /// flows whose rates may be new.
    fn share(&mut self, now: Time) {
        self.prepare_start();
        let Engine { sharing, transfers, changed, .. } = self;
        sharing.settle(Moment { now, transfers }, |slot| changed.note(slot));
        self.look_ahead();
        let Engine { sharing, transfers, paths, phases, changed, news, side_traffic, .. } = self;
        for slot in changed.iter() {
            let path = paths.path(slot);
            if phases[slot as usize] != Phase::Sends {
                continue;
            }
            let mut rate = sharing.rate(slot);
            if let (Some(news), Some(transfer)) = (&mut *news, transfers.get(slot)) {
                let round_trip = self.latencies[slot as usize].round_trip;
                rate = news.hear(slot, now, Decided { rate, path, transfer, round_trip });
                side_traffic.set_waiting(slot, path, rate == 0.0);
            }
            side_traffic.set_rate(slot, path, rate);
        }
        side_traffic.settle(|link| {
            sharing.on(link, |slot| changed.note(slot));
            if let Some(news) = news {
                news.sending_on(link, |slot| changed.note(slot));
            }
        });
        if let Some(news) = news {
            news.settle();
        }
    }

    /// Sets the rates of the flows in `changed`. Also notes there the flows whose turning points these rates may move.
    fn set_rates(&mut self, now: Time) {
        let mut next = 0;
        while let Some(slot) = self.changed.get(next) {
            next += 1;
            let Some(transfer) = self.transfers.get(slot) else { continue };
            if self.phases[slot as usize] != Phase::Sends {
                continue;
            }
            let rate = self.side_traffic.rate(slot, self.paths.path(slot));
            if rate != transfer.rate() {
                self.transfers.set_rate(slot, rate, now);
                let changed = &mut self.changed;
                self.sharing.behind(slot, |other| changed.note(other));
                self.note_flow_of(slot);
            }
        }
    }

    fn hand_on_samples(&mut self, now: Time, watch: &mut Watch<'_>) -> ControlFlow<()> {
        let Engine { ports, transfers, paths, side_traffic, .. } = self;
        (watch.samples)(ports.sample(now, transfers, paths, side_traffic))
    }

    fn report(&mut self, progress: &Progress) {
        progress.finished_flows.fetch_add(std::mem::take(&mut self.ended), Ordering::Relaxed);
    }

    fn finish(mut self, mut outcome: Outcome, watch: &mut Watch<'_>) -> Outcome {
        if self.ports.last_sample() != Some(outcome.end) {
            outcome.stopped |= self.hand_on_samples(outcome.end, watch).is_break();
        }
        outcome.flows = self.outcomes;
        let header = self.job.scheme.header.saturating_sub(Bytes::new(PACKET_HEADER));
        outcome.overhead = Overhead { header, ..Overhead::default() };
        outcome
    }
}

mod foresight;
mod subflows;

#[cfg(test)]
#[path = "engine/tests.rs"]
mod tests;
