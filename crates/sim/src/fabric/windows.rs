//! Simulates one window of time after another, and within a window one level of ports after
//! another.
//!
//! This works if packets pass the ports of a network in one order
//! ([`flowsched_topology::Network::levels`]) and if controllers do not look at packets that come
//! back. A port then depends only on ports of earlier levels.
//!
//! A window is no longer than the shortest way from host to host. Packets that reach hosts in a
//! window left their senders before it, so hosts can handle the whole window first. Then the ports
//! follow, level by level. Each takes in the packets that reached it, decides which packets leave,
//! and passes these on. Ports continue past the window's end for as long as packets need from hosts
//! to their switch.
//!
//! There is no queue of events, and the memory of a few ports is used many times in a row. Each port
//! sees the same packets in the same order as with single events, so the results are the same.
//!
//! Controllers may send messages to ports of earlier levels: see `alarms`.

use std::ops::{ControlFlow, Range};

use flowsched_schemes::Packet;
use flowsched_schemes::controller::Controller;
use flowsched_schemes::packet::Header;
use flowsched_schemes::port::{Backlog, Port};
use flowsched_schemes::world::PortSample;
use flowsched_topology::{HostId, Network, PortId, mix};
use flowsched_units::Time;
use flowsched_workload::{Flow, LONGEST_RUN};

use super::alarms::{Alarm, Said};
use super::arrival::Arrival;
use super::banks::Layout;
use super::crossing::Post;
use super::deliveries::Deliveries;
use super::egress::{Egress, FarEnd};
use super::onward::{AnyLink, Onward, ToSwitch};
use super::order::Order;
use super::transit::Transit;
use super::{Delivered, Fabric, Losses, LostData, Tally, loses, to_sender};
use crate::job::Job;
use crate::link::Link;
use crate::routing::{Remembered, Router};
use crate::team::Team;

/// All ports, and what reaches hosts in the present window.
#[derive(Debug)]
pub(crate) struct Windows<'a, H, P, C, L = LostData> {
    network: &'a Network,
    flows: &'a [Flow],
    team: Team<'a>,
    /// Carries packets to other parts of the network.
    post: Option<&'a Post<H>>,
    /// The part's own ports, by place in the layout.
    egresses: Vec<Egress<P, C>>,
    /// The controllers' timers by place, if controllers send messages, and when each runs out next.
    alarms: Vec<Alarm>,
    deadlines: Vec<Time>,
    /// All messages sent before this instant are known at the start of the window.
    settled: Time,
    /// Messages of a controller that are not sent yet.
    said: Vec<Said<H>>,
    transit: Transit<'a, H, L>,
    /// Sorts one inbox after another.
    order: Order,
    /// The packets that reach hosts in the window.
    deliveries: Deliveries<H>,
    next_arrival: Time,
    start: Time,
    /// The first instant after the window.
    end: Time,
    /// No port is served up to this instant or later.
    limit: Time,
    /// Whether some links lose packets.
    loses: bool,
    seed: u64,
    last_event: Time,
}

/// The shortest step of time.
const INSTANT: Time = Time::from_ps(1);

impl<'a, H, P, C, L> Windows<'a, H, P, C, L>
where
    H: Header,
    P: Port<Packet<H>>,
    C: Controller<H>,
    L: Losses<H>,
{
    /// The links of a whole network.
    pub(crate) fn new(
        job: &Job<'a>,
        layout: Layout,
        links: Vec<Link<H, P>>,
        controllers: impl Fn(PortId) -> C,
        losses: L,
    ) -> Windows<'a, H, P, C, L> {
        let links = (0..).map(PortId).zip(links).collect();
        Windows::of_part(job, layout, links, controllers, losses, Team::alone(), None)
    }

    /// The links of a part of a network.
    pub(crate) fn of_part(
        job: &Job<'a>,
        layout: Layout,
        mut links: Vec<(PortId, Link<H, P>)>,
        controllers: impl Fn(PortId) -> C,
        losses: L,
        team: Team<'a>,
        post: Option<&'a Post<H>>,
    ) -> Windows<'a, H, P, C, L> {
        let router = Router::new::<H>(job, C::NEEDS_WAY_BACK);
        let levels = layout.level_of.iter().max().map_or(0, |level| *level as usize);
        let router = Remembered::new::<H>(router, levels, job.flows.len());
        links.sort_by_key(|(port, _)| layout.place_of[port.index()]);
        let egresses = links
            .into_iter()
            .map(|(port, link)| egress(job.network, &layout, port, link, controllers(port)));
        let egresses: Vec<Egress<P, C>> = egresses.collect();
        let alarms = if C::SENDS { egresses.len() } else { 0 };
        Windows {
            network: job.network,
            flows: job.flows,
            team,
            post,
            egresses,
            alarms: std::iter::repeat_with(Alarm::default).take(alarms).collect(),
            deadlines: vec![Time::MAX; alarms],
            settled: Time::ZERO,
            said: Vec::new(),
            transit: Transit::new(router, layout, losses),
            order: Order::default(),
            deliveries: Deliveries::default(),
            next_arrival: Time::MAX,
            start: Time::ZERO,
            end: Time::ZERO,
            limit: Time::ZERO,
            loses: loses(job),
            seed: mix(job.seed),
            last_event: Time::ZERO,
        }
    }

    /// Brings packets through the network as far as they get in the window. Returns when something
    /// changes next in this part: [`Time::MAX`] if nothing does or if the run is to stop.
    fn carry(&mut self) -> Time {
        let mut next_change = Time::MAX;
        self.foresee();
        loop {
            for stage in 0..self.transit.layout().stages.len() {
                if stage > 0 && self.exchange().is_break() {
                    return Time::MAX;
                }
                next_change = next_change.min(self.serve_stage(stage));
            }
            if !self.ring_alarms() {
                break;
            }
        }
        next_change = self.deadlines.iter().copied().fold(next_change, Time::min);
        let (egresses, last_event) = (&mut self.egresses, &mut self.last_event);
        let next_loss = self.transit.settle_losses(self.end, |place, arrival| {
            egresses[place as usize].drops += 1;
            *last_event = arrival.at.max(*last_event);
        });
        next_change.min(next_loss).min(self.transit.next_at_host())
    }

    /// Sends the messages of the window that are known before it.
    fn foresee(&mut self) {
        let until = self.end.min(self.limit).min(self.settled);
        for place in 0..self.deadlines.len() {
            if self.deadlines[place] < until {
                let said = &mut self.said;
                let controller = &self.egresses[place].controller;
                controller.foresee(until, |now, message| said.push((now, message)));
                self.send_messages(place);
            }
        }
    }

    /// Runs the controllers' timers that run out in the window and after the last packet of their
    /// port. Returns whether a controller sent a message that was not foreseen.
    fn ring_alarms(&mut self) -> bool {
        let (end, mut has_spoken) = (self.end.min(self.limit), false);
        for place in 0..self.deadlines.len() {
            if self.deadlines[place] < end {
                let (alarm, egress) = (&mut self.alarms[place], &mut self.egresses[place]);
                alarm.ring(end, self.settled, &mut egress.controller, &mut self.said);
                self.deadlines[place] = alarm.next();
                has_spoken |= self.send_messages(place);
            }
        }
        has_spoken
    }

    /// Sends the messages of the controller of the port at `place`, the last one first, as single
    /// events do. Returns whether there were any.
    #[inline]
    fn send_messages(&mut self, place: usize) -> bool {
        let has_spoken = !self.said.is_empty();
        while let Some((now, message)) = self.said.pop() {
            let port = self.transit.layout().order[place];
            let owner = self.network.port(port).owner;
            // A number above all ports: the message comes after packets of the same time.
            let from = PortId(self.network.ports().len() as u32 + port.0);
            self.transit.speak(owner, now, from, &to_sender(self.flows, message));
        }
        has_spoken
    }

    /// Finds out up to when messages are known at the start of the window. Returns the latest end of
    /// the window. Messages of its last instant need not be known: they reach the next ports later.
    fn settle(&mut self) -> Time {
        self.settled = self.start.saturating_add(self.transit.layout().foresight);
        for (deadline, egress) in self.deadlines.iter().zip(&self.egresses) {
            if *deadline < self.settled {
                self.settled = self.settled.min(egress.controller.settled_until(self.start));
            }
        }
        self.settled.saturating_add(INSTANT)
    }

    /// Serves the ports of a stage that have something to do. Returns when one of them next has
    /// something to do.
    fn serve_stage(&mut self, stage: usize) -> Time {
        let Range { start, end } = self.transit.layout().stages[stage].clone();
        let mut next_change = Time::MAX;
        let mut from = start;
        while let Some((place, port)) = self.transit.next_active(from)
            && place < end
        {
            let next = self.serve(place, port);
            if next == Time::MAX {
                self.transit.rest(place);
            }
            next_change = next_change.min(next);
            from = place + 1;
        }
        next_change
    }

    /// Exchanges packets with the other parts of the network.
    fn exchange(&mut self) -> ControlFlow<()> {
        if let (Some(post), Some(division)) = (self.post, self.team.division()) {
            self.transit.post(post, division, self.team.part());
            self.team.meet()?;
            self.transit.take_in(post, self.team.part());
        }
        ControlFlow::Continue(())
    }

    /// Serves a port for the window: it takes in the packets that reach it and sends those that leave.
    /// Returns when it next has something to do.
    fn serve(&mut self, place: u32, port: PortId) -> Time {
        // The first instant that is unknown to it.
        let end = self.end.saturating_add(self.egresses[place as usize].lead).min(self.limit);
        self.serve_until(place, port, end)
    }

    /// Serves a port up to `end`, exclusive. Returns when it next has something to do.
    fn serve_until(&mut self, place: u32, port: PortId, end: Time) -> Time {
        // A message, or a packet of a host that looked at its port, may come at the last instant up to which the
        // port was served.
        let start = self.egresses[place as usize].served.max(self.start).saturating_sub(INSTANT);
        let next_turn = self.take_turns(port, start, end);
        let mut inbox = std::mem::take(&mut self.transit.inboxes[port.index()]);
        let egress = &mut self.egresses[place as usize];
        let mut onward = Onward {
            port,
            delay: egress.delay,
            is_long: C::SENDS && start.saturating_add(egress.delay) >= end,
            to: (egress.to.node, self.transit.row(egress.to.level)),
            drops: 0,
            transit: &mut self.transit,
        };
        let (loses, stream) = (self.loses, mix(self.seed ^ u64::from(port.0)));
        let last_event = &mut self.last_event;
        let mut alarm = if C::SENDS { self.alarms.get_mut(place as usize) } else { None };
        let next_arrival = inbox.take(&mut self.order, start, end, |inbox, keys| {
            if let Some(last) = keys.last() {
                *last_event = inbox[last.index()].at.max(*last_event);
            }
            if let Some(alarm) = &mut alarm {
                egress.show(inbox, keys, alarm);
            }
            let arrivals = keys.iter().map(|key| {
                let Arrival { at, packet, .. } = &inbox[key.index()];
                (*at, packet)
            });
            let FarEnd { is_host: is_to_host, .. } = egress.to;
            let sent = if loses | is_to_host | onward.transit.takes_turns() {
                let (loss, packets, onward) = (egress.loss, egress.sent_packets, &mut onward);
                let mut sink = AnyLink { onward, is_to_host, loses, loss, stream, packets };
                egress.serve(arrivals, end, &mut sink)
            } else {
                egress.serve(arrivals, end, &mut ToSwitch::<H, L, C>::new(&mut onward))
            };
            egress.sent_bytes += sent.bytes;
            egress.sent_packets += sent.packets;
        });
        egress.drops += onward.drops;
        if let Some(alarm) = alarm {
            self.deadlines[place as usize] = alarm.next();
        }
        egress.served = end;
        let next_choice = egress.next_choice();
        self.transit.inboxes[port.index()] = inbox;
        next_choice.min(next_arrival).min(next_turn)
    }

    /// Packets that take turns choose among the port and its neighbours. Returns when the next of them
    /// chooses.
    fn take_turns(&mut self, port: PortId, start: Time, end: Time) -> Time {
        let Some(turns) = self.transit.turns_at(port) else { return Time::MAX };
        let mut waiting = std::mem::take(turns);
        let node = self.network.port(port).owner;
        let transit = &mut self.transit;
        let next = waiting.take(&mut self.order, start, end, |waiting, keys| {
            for key in keys {
                let arrival = &waiting[key.index()];
                let next = transit.take_turn(node, &arrival.packet);
                transit.enter(next, arrival.at, arrival.from, &arrival.packet);
            }
        });
        self.transit.give_back_turns(port, waiting);
        next
    }

    /// Takes the deliveries out, so that hosts can send packets while they handle them.
    #[inline]
    pub(super) fn take_deliveries(&mut self) -> Deliveries<H> {
        std::mem::take(&mut self.deliveries)
    }

    /// Puts the deliveries back after hosts have handled some of them.
    #[inline]
    pub(super) fn give_back(&mut self, deliveries: Deliveries<H>) {
        self.deliveries = deliveries;
        self.expect_next();
    }

    #[inline]
    fn expect_next(&mut self) {
        self.next_arrival = self.deliveries.rest().next().map_or(Time::MAX, |next| next.at);
    }

    /// What waits in the port at `now`, after hosts have done everything before.
    pub(super) fn backlog(&mut self, port: PortId, now: Time) -> Backlog {
        let place = self.transit.layout().place_of[port.index()];
        self.serve_until(place, port, now.saturating_add(INSTANT));
        self.egresses[place as usize].port.backlog()
    }

    /// Keeps account of packets that do not arrive.
    pub(super) fn losses(&mut self) -> &mut L {
        &mut self.transit.lost
    }

    /// The end of the next window, given when a port next changes. A packet under way may reach a host
    /// a last link's delay after the next change. A change after the time up to which ports were served
    /// is farther from hosts.
    fn end_after(&self, next_change: Time) -> Time {
        let Layout { longest, last_way, .. } = *self.transit.layout();
        if next_change == Time::MAX {
            return self.start.saturating_add(longest);
        }
        let known = self.end.saturating_add(longest).min(self.limit.saturating_add(last_way));
        known.max(self.start.saturating_add(last_way))
    }

    /// Collects the packets that reach hosts in the window, in order.
    fn gather(&mut self) {
        let to_hosts = &mut self.transit.to_hosts;
        if let Some(last) = self.deliveries.gather(to_hosts, self.start, self.end) {
            self.last_event = self.last_event.max(last);
        }
        self.expect_next();
    }
}

/// How windows go through these links of a network; nothing if they cannot.
pub(crate) fn layout<H: Header, P: Port<Packet<H>>, C: Controller<H>>(
    network: &Network,
    links: &[Link<H, P>],
    new_controller: impl Fn(PortId) -> C,
) -> Option<Layout> {
    if links.iter().any(Link::shares_memory) || !C::LOOKS_ONE_WAY {
        return None;
    }
    if !C::SENDS {
        return Layout::new::<H>(network);
    }
    let ports = (0..links.len() as u32).map(PortId);
    let foresight = ports.map(|port| new_controller(port).settled_until(Time::ZERO)).min()?;
    Layout::in_step::<H>(network, foresight)
}

/// A link as windows see it.
fn egress<H: Header, P: Port<Packet<H>>, C>(
    network: &Network,
    layout: &Layout,
    port: PortId,
    link: Link<H, P>,
    controller: C,
) -> Egress<P, C> {
    let Link { line, delay, peer, loss, port: queue, .. } = link;
    let owner = network.port(port).owner;
    let (is_host, level) = (network.host(peer).is_some(), layout.level_of[port.index()]);
    let to = FarEnd { node: peer, is_host, level };
    let lead = layout.lead_of[owner.index()];
    let (sent_bytes, sent_packets, drops) = (0, 0, 0);
    let served = Time::ZERO;
    let port = queue;
    // Nothing arrives within a run that takes longer than the longest run.
    let delay = delay.min(LONGEST_RUN);
    Egress {
        line,
        delay,
        to,
        lead,
        served,
        sent_bytes,
        sent_packets,
        drops,
        loss,
        port,
        controller,
    }
}

impl<H, P, C, L> Fabric<H> for Windows<'_, H, P, C, L>
where
    H: Header,
    P: Port<Packet<H>>,
    C: Controller<H>,
    L: Losses<H>,
{
    const HAS_TIMERS: bool = false;

    #[inline]
    fn send(&mut self, host: HostId, packet: Packet<H>, now: Time) {
        let port = self.network.nic(host);
        self.transit.enter(port, now, port, &packet);
    }

    #[inline]
    fn next_arrival(&self) -> Time {
        self.next_arrival
    }

    #[inline]
    fn deliver(
        &mut self,
        mut handle: impl FnMut(&mut Self, Time, Option<Delivered<'_, H>>) -> ControlFlow<(), Time>,
    ) -> Time {
        let mut deliveries = self.take_deliveries();
        let last = deliveries.hand_over(|Arrival { packet, at, .. }, next| {
            let next = next.map(|next| &next.packet);
            handle(self, *at, Some(Delivered { packet, next }))
        });
        self.give_back(deliveries);
        last.unwrap_or_default()
    }

    #[inline]
    fn horizon(&self) -> Time {
        self.end
    }

    fn advance(&mut self, last: Time, next: impl FnOnce() -> Time) -> Time {
        self.team.reach(self.end);
        self.limit = last.saturating_add(INSTANT);
        let next_change = self.carry();
        let [next, next_change] = self.team.earliest([next(), next_change]);
        let start = next.min(next_change);
        if start <= last && start < Time::MAX {
            self.start = start;
            self.end = self.end_after(next_change).min(self.limit).min(self.settle());
            self.gather();
        }
        start
    }

    fn next_timer(&self) -> Time {
        Time::MAX
    }

    fn on_timer(&mut self, _: Time) {}

    fn sample(&mut self, now: Time, samples: &mut Vec<PortSample>) {
        let after = now.saturating_add(INSTANT);
        self.team.reach(after);
        self.limit = self.limit.min(after);
        self.carry();
        let mut in_flight = vec![0; self.network.ports().len()];
        for arrival in self.transit.on_links() {
            in_flight[arrival.from.index()] += u64::from(arrival.packet.wire);
        }
        let places = &self.transit.layout().place_of;
        let numbered = (0..).zip(places).zip(in_flight);
        samples.extend(numbered.map(|((port, place), in_flight_bytes)| {
            match self.egresses.get(*place as usize) {
                Some(egress) => egress.sample(now, port, in_flight_bytes),
                None => PortSample { time: now, port, in_flight_bytes, ..PortSample::default() },
            }
        }));
    }

    fn is_quiet(&self) -> bool {
        self.transit.is_quiet() && self.deadlines.iter().all(|deadline| *deadline == Time::MAX)
    }

    fn last_event(&self) -> Time {
        let rung = self.alarms.iter().map(Alarm::last).max();
        self.last_event.max(rung.unwrap_or_default())
    }

    fn tally(self) -> Tally {
        Tally {
            sent: self.egresses.iter().map(|egress| egress.sent_packets).sum(),
            on_links: self.transit.on_links().count() as u64,
            rung: self.alarms.iter().map(Alarm::rung).sum(),
            drops: self.egresses.iter().map(|egress| egress.drops).sum(),
            marks: self.egresses.iter().map(|egress| egress.port.marks()).sum(),
            lost: self.transit.lost.flows(),
        }
    }
}
