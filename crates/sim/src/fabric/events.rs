//! Simulates single events: one arrival after the other, the earliest of all links first.

use std::ops::ControlFlow;

use flowsched_schemes::Packet;
use flowsched_schemes::controller::Controller;
use flowsched_schemes::packet::{Flags, Header};
use flowsched_schemes::port::Port;
use flowsched_schemes::world::{Overhead, PortSample, PortState};
use flowsched_topology::{HostId, Network, NodeId, PortId, mix};
use flowsched_units::Time;
use flowsched_workload::Flow;

use super::{Delivered, Fabric, Losses, Observable, Tally, loses, overhead, to_sender};
use crate::job::Job;
use crate::link::{Departs, Link};
use crate::routing::{Remembered, Router, Row};
use crate::timers::{Armed, Timers};
use crate::tournament::Tournament;

/// The far end of a port's link.
#[derive(Clone, Copy, Debug)]
struct Beyond {
    /// The port that leads back.
    back: PortId,
    /// The remembered ways of packets that have come through the port.
    row: Row,
}

/// All links, and which of them has the next arrival.
#[derive(Debug)]
pub(crate) struct Events<'a, H, P, C, L> {
    network: &'a Network,
    flows: &'a [Flow],
    links: Vec<Link<H, P>>,
    /// When the first packet on each link arrives at its far end.
    arrivals: Tournament,
    router: Remembered<'a>,
    /// The far end of each port's link.
    beyond: Vec<Beyond>,
    /// Whether ports share the memory of their switch.
    shares_memory: bool,
    /// Whether some links lose packets.
    loses: bool,
    seed: u64,
    /// The controller of each port, if there are controllers.
    controllers: Vec<C>,
    /// The controllers' timers, by port.
    armed: Vec<Armed>,
    timers: Timers<u32>,
    /// Messages of a controller that are not sent yet.
    messages: Vec<Packet<H>>,
    losses: L,
    packet_hops: u64,
    /// The number of times that controllers' timers ran out.
    rung: u64,
    last_event: Time,
}

impl<'a, H, P, C, L> Events<'a, H, P, C, L>
where
    H: Header,
    P: Port<Packet<H>>,
    C: Controller<H>,
    L: Losses<H>,
{
    /// The links of a network. `are_numbers_flows`: whether all packets with the number of a flow belong to
    /// this flow, and so go one way.
    pub(crate) fn new(
        job: &Job<'a>,
        links: Vec<Link<H, P>>,
        new_controller: impl Fn(PortId) -> C,
        losses: L,
        are_numbers_flows: bool,
    ) -> Events<'a, H, P, C, L> {
        let network = job.network;
        let router = Router::new::<H>(job, C::NEEDS_WAY_BACK);
        let levels = if are_numbers_flows { network.levels() } else { None }.unwrap_or_default();
        let rows = levels.iter().max().map_or(0, |highest| *highest as usize);
        let router = Remembered::new::<H>(router, rows, job.flows.len());
        let mut controllers = Vec::new();
        if C::IS_THERE {
            controllers.extend((0..links.len() as u32).map(|port| new_controller(PortId(port))));
        }
        Events {
            network,
            flows: job.flows,
            arrivals: Tournament::new(links.len()),
            shares_memory: links.iter().any(Link::shares_memory),
            loses: loses(job),
            seed: mix(job.seed),
            links,
            beyond: beyond(network, &levels, &router),
            router,
            armed: vec![Armed::default(); controllers.len()],
            controllers,
            timers: Timers::default(),
            messages: Vec::new(),
            losses,
            packet_hops: 0,
            rung: 0,
            last_event: Time::ZERO,
        }
    }

    /// Keeps account of packets that do not arrive.
    pub(crate) fn losses(&mut self) -> &mut L {
        &mut self.losses
    }

    #[inline]
    fn offer(&mut self, port: PortId, packet: &mut Packet<H>, now: Time) {
        if C::IS_THERE {
            self.offer_controlled(port, packet, now);
        } else {
            self.enqueue(port, packet, now);
        }
    }

    /// Shows a packet to the port's controller and sends the controller's messages.
    fn offer_controlled(&mut self, port: PortId, packet: &mut Packet<H>, now: Time) {
        self.catch_up(port, now);
        let link = &self.links[port.index()];
        let messages = &mut self.messages;
        self.controllers[port.index()].on_forward(
            now,
            packet,
            || link.backlog(),
            |message| messages.push(message),
        );
        self.take_in(port, packet, now);
        if C::SENDS {
            self.after_control(port, now);
        }
    }

    /// Sends a controller's messages and sets its timer.
    fn after_control(&mut self, port: PortId, now: Time) {
        let deadline = self.controllers[port.index()].deadline();
        self.timers.arm(&mut self.armed[port.index()], deadline, port.0);
        let owner = self.network.port(port).owner;
        while let Some(message) = self.messages.pop() {
            let mut message = to_sender(self.flows, message);
            let next = self.router.choose(owner, &message);
            self.enqueue(next, &mut message, now);
        }
    }

    #[inline]
    fn enqueue(&mut self, port: PortId, packet: &mut Packet<H>, now: Time) {
        self.catch_up(port, now);
        self.take_in(port, packet, now);
    }

    /// A packet comes to a port that has been served up to now.
    #[inline]
    fn take_in(&mut self, port: PortId, packet: &mut Packet<H>, now: Time) {
        let elsewhere = if self.shares_memory { self.elsewhere(port, now) } else { 0 };
        let link = &mut self.links[port.index()];
        let losses = &mut self.losses;
        let departs = &mut departures(&mut self.controllers, port);
        link.offer(now, packet, elsewhere, &mut |packet| losses.lose(packet), departs);
        if let Some(next) = link.next_arrival() {
            self.arrivals.add(port.index(), next, now);
        }
    }

    /// The next packet arrives. If it is at its host, it is handed to the host.
    #[inline]
    pub(crate) fn arrive(&mut self) -> Option<Packet<H>> {
        let (now, index) = self.arrivals.first()?;
        let link = &mut self.links[index];
        if link.next_arrival() != Some(now) {
            // It was too far ahead for the tournament.
            self.arrivals.replace_first(link.next_arrival(), now);
            return None;
        }
        let is_lost = self.loses && link.loses(self.seed ^ index as u64);
        let mut packet = link.deliver()?;
        self.packet_hops += 1;
        self.last_event = now;
        // What waits is looked at only now: the packet that left next arrives later anyway.
        let controllers = &mut self.controllers;
        link.catch_up_if_empty(now, &mut departures(controllers, PortId(index as u32)));
        self.arrivals.replace_first(link.next_arrival(), now);
        let peer = link.peer;
        if is_lost {
            self.links[index].note_loss();
            self.losses.lose(&packet);
            return None;
        }
        if C::IS_THERE {
            let back = self.beyond[index].back;
            self.controllers[back.index()].on_return(now, &mut packet);
        }
        if let Some(host) = self.network.host(peer)
            && host.0 == packet.to
        {
            return Some(packet);
        }
        let port = self.next_port(index, peer, &packet);
        self.offer(port, &mut packet, now);
        None
    }

    /// The port through which `node` sends on a packet that has come through port `from`. Messages start
    /// anywhere, so the ways that the router remembers for ACKs are not theirs.
    #[inline]
    fn next_port(&mut self, from: usize, node: NodeId, packet: &Packet<H>) -> PortId {
        if C::SENDS && packet.flags.has(Flags::MESSAGE) {
            return self.router.choose(node, packet);
        }
        self.router.next(self.beyond[from].row, node, packet)
    }

    /// Serves the port up to `now`.
    #[inline]
    fn catch_up(&mut self, port: PortId, now: Time) {
        let departs = &mut departures(&mut self.controllers, port);
        self.links[port.index()].catch_up(now, departs);
    }

    /// Bytes that wait in the other ports of the same node.
    fn elsewhere(&mut self, port: PortId, now: Time) -> u64 {
        let owner: NodeId = self.network.port(port).owner;
        let mut bytes = 0;
        for other in self.network.ports_of(owner) {
            if *other != port {
                self.catch_up(*other, now);
                bytes += self.links[other.index()].backlog().bytes;
            }
        }
        bytes
    }
}

impl<H, P, C, L> Fabric<H> for Events<'_, H, P, C, L>
where
    H: Header,
    P: Port<Packet<H>>,
    C: Controller<H>,
    L: Losses<H>,
{
    const HAS_TIMERS: bool = C::IS_THERE && C::SENDS;

    #[inline]
    fn send(&mut self, host: HostId, mut packet: Packet<H>, now: Time) {
        let port = if self.network.hosts_forward() {
            self.router.choose(host.node(), &packet)
        } else {
            self.network.nic(host)
        };
        self.offer(port, &mut packet, now);
    }

    #[inline]
    fn next_arrival(&self) -> Time {
        self.arrivals.first().map_or(Time::MAX, |(time, _)| time)
    }

    #[inline]
    fn deliver(
        &mut self,
        mut handle: impl FnMut(&mut Self, Time, Option<Delivered<'_, H>>) -> ControlFlow<(), Time>,
    ) -> Time {
        loop {
            let now = self.next_arrival();
            let packet = self.arrive();
            let delivered = packet.as_ref().map(|packet| Delivered { packet, next: None });
            match handle(self, now, delivered) {
                ControlFlow::Continue(last) if self.next_arrival() <= last => {}
                _ => return now,
            }
        }
    }

    /// Single events know everything at once: there is no horizon.
    #[inline]
    fn horizon(&self) -> Time {
        Time::MAX
    }

    fn advance(&mut self, _: Time, _: impl FnOnce() -> Time) -> Time {
        Time::MAX
    }

    #[inline]
    fn next_timer(&self) -> Time {
        self.timers.first()
    }

    fn on_timer(&mut self, now: Time) {
        let Some((time, port)) = self.timers.pop() else { return };
        self.rung += 1;
        self.last_event = now;
        if self.armed[port as usize].disarm(time) {
            let messages = &mut self.messages;
            self.controllers[port as usize].on_timer(now, |message| messages.push(message));
            self.after_control(PortId(port), now);
        }
    }

    fn sample(&mut self, now: Time, samples: &mut Vec<PortSample>) {
        for port in 0..self.links.len() {
            self.catch_up(PortId(port as u32), now);
        }
        samples.extend((0..).zip(&self.links).map(|(port, link)| link.sample(now, port)));
    }

    fn is_quiet(&self) -> bool {
        self.arrivals.first().is_none()
    }

    fn last_event(&self) -> Time {
        self.last_event
    }

    fn overhead(&self) -> Overhead {
        overhead(self.network, &self.controllers)
    }

    fn tally(self) -> Tally {
        Tally {
            // Those on links are not counted.
            sent: self.packet_hops,
            on_links: 0,
            rung: self.rung,
            drops: self.links.iter().map(Link::drops).sum(),
            marks: self.links.iter().map(Link::marks).sum(),
            lost: self.losses.flows(),
        }
    }
}

impl<H, P, C, L> Observable<H> for Events<'_, H, P, C, L>
where
    H: Header,
    P: Port<Packet<H>>,
    C: Controller<H>,
    L: Losses<H>,
{
    fn look(&mut self, port: u32, now: Time) -> PortState {
        self.catch_up(PortId(port), now);
        self.links[port as usize].state(now, port)
    }

    fn next_departure(&self, port: u32) -> Time {
        self.links[port as usize].next_departure()
    }
}

/// The far ends of all links. Without levels, no ways are remembered.
fn beyond(network: &Network, levels: &[u32], router: &Remembered<'_>) -> Vec<Beyond> {
    let side = |port: PortId| Beyond {
        back: network.reverse(port),
        row: router.row(levels.get(port.index()).copied().unwrap_or_default()),
    };
    (0..network.ports().len() as u32).map(PortId).map(side).collect()
}

/// Shows the packets that leave through a port to its controller, if there are controllers.
#[inline]
fn departures<H: Header, C: Controller<H>>(controllers: &mut [C], port: PortId) -> impl Departs<H> {
    move |start, packet: &mut Packet<H>, behind| {
        if C::IS_THERE && C::LOOKS_AT_DEPARTURES {
            controllers[port.index()].on_departure(start, packet, behind);
        }
    }
}
