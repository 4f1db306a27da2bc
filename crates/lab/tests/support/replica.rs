//! A network of ports, links and controllers that handles its events one by one. Between two hosts there is one way.
//!
//! It shares ports and controllers with the lab's switch, and nothing else: no links, no order of events and no frames.
//! From the packets that hosts send, it computes what leaves every port and when, and what arrives.

use std::collections::VecDeque;

use flowsched_schemes::Packet;
use flowsched_schemes::controller::{Controller, Site};
use flowsched_schemes::packet::{Flags, Header};
use flowsched_schemes::port::{Connections, Port};
use flowsched_schemes::world::{Controllers, Ports};
use flowsched_topology::{HostId, Network, NodeId, PortId};
use flowsched_units::{Bytes, Rate, Time};
use flowsched_workload::Flow;

/// The replica of a network.
pub struct Replica<'a, H, P, C> {
    network: &'a Network,
    flows: &'a [Flow],
    pub egresses: Vec<Egress<H, P, C>>,
    /// The packets that have arrived at each host.
    pub arrived: Vec<Vec<Packet<H>>>,
}

/// A port, its controller and the link behind it.
pub struct Egress<H, P, C> {
    pub port: P,
    controller: C,
    rate: Rate,
    delay: Time,
    /// When the link has sent the last packet that left.
    free: Time,
    /// When each packet on the link arrives.
    on_link: VecDeque<(Time, Packet<H>)>,
    /// When each packet's first bit left.
    pub departures: Vec<(Time, Packet<H>)>,
    pub drops: u64,
}

/// The next event of a port. At the same time, the first of these comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Departure,
    Arrival,
    Timer,
}

impl<'a, H, P, C> Replica<'a, H, P, C>
where
    H: Header,
    P: Port<Packet<H>>,
    C: Controller<H>,
{
    pub fn new(
        (network, flows): (&'a Network, &'a [Flow]),
        ports: &impl Ports<H, Port = P>,
        controllers: &impl Controllers<H, Controller = C>,
        connections: &Connections,
    ) -> Replica<'a, H, P, C> {
        let egresses = (0..).zip(network.ports()).map(|(number, end)| {
            let is_host = network.host(end.owner).is_some();
            let share = if is_host { ports.host_rate() } else { 1.0 };
            let rate = Rate::from_bps((end.rate.as_bps() as f64 * share) as u64);
            let site = Site { port: number, rate, is_host };
            Egress {
                port: ports.port(site, connections),
                controller: controllers.controller(site),
                rate,
                delay: end.delay,
                free: Time::ZERO,
                on_link: VecDeque::new(),
                departures: Vec::new(),
                drops: 0,
            }
        });
        let arrived = network.hosts().map(|_| Vec::new()).collect();
        Replica { network, flows, egresses: egresses.collect(), arrived }
    }

    /// Has a host hand a packet to its card.
    pub fn send(&mut self, host: u32, packet: Packet<H>, now: Time) {
        self.run_until(now);
        self.offer(self.network.nic(HostId(host)), packet, now);
    }

    /// Handles all events that are due by `end`.
    pub fn run_until(&mut self, end: Time) {
        while let Some((at, next, port)) = self.next()
            && at <= end
        {
            match next {
                Next::Departure => self.depart(port, at),
                Next::Arrival => self.arrive(port, at),
                Next::Timer => self.ring(port, at),
            }
        }
    }

    fn next(&self) -> Option<(Time, Next, PortId)> {
        let of_port = |(number, egress): (u32, &Egress<H, P, C>)| {
            let waits = egress.port.backlog().packets > 0;
            let departure = if waits { egress.free } else { Time::MAX };
            let arrival = egress.on_link.front().map_or(Time::MAX, |(at, _)| *at);
            let timer = if C::IS_THERE { egress.controller.deadline() } else { Time::MAX };
            [(departure, Next::Departure), (arrival, Next::Arrival), (timer, Next::Timer)]
                .map(|(at, next)| (at, next, PortId(number)))
        };
        let all = (0..).zip(&self.egresses).flat_map(of_port);
        all.filter(|(at, ..)| *at < Time::MAX).min()
    }

    fn depart(&mut self, port: PortId, now: Time) {
        let egress = &mut self.egresses[port.index()];
        if let Some(packet) = egress.port.dequeue() {
            egress.leave(packet, now);
        }
    }

    /// Handles a packet that comes to the far end of the link behind `port`.
    fn arrive(&mut self, port: PortId, now: Time) {
        let (_, mut packet) = self.egresses[port.index()].on_link.pop_front().unwrap();
        if C::IS_THERE {
            let back = self.network.reverse(port);
            self.egresses[back.index()].controller.on_return(now, &mut packet);
        }
        let node = self.network.port(port).peer;
        match self.network.host(node) {
            Some(host) => self.arrived[host.index()].push(packet),
            None => self.offer(self.towards(node, HostId(packet.to)), packet, now),
        }
    }

    /// The port through which a switch sends to a host.
    fn towards(&self, switch: NodeId, host: HostId) -> PortId {
        let [port] = *self.network.routes().next(switch, host) else { panic!("several ways") };
        port
    }

    fn ring(&mut self, port: PortId, now: Time) {
        let mut messages = Vec::new();
        let controller = &mut self.egresses[port.index()].controller;
        controller.on_timer(now, |message| messages.push(message));
        self.send_messages(port, messages, now);
    }

    /// Handles a packet that is to be sent through `port`.
    fn offer(&mut self, port: PortId, mut packet: Packet<H>, now: Time) {
        let mut messages = Vec::new();
        if C::IS_THERE {
            let Egress { port, controller, .. } = &mut self.egresses[port.index()];
            let send = |message| messages.push(message);
            controller.on_forward(now, &mut packet, || port.backlog(), send);
        }
        self.enqueue(port, packet, now);
        self.send_messages(port, messages, now);
    }

    /// Sends the messages of a port's controller to the senders of their flows. The last message leaves first.
    fn send_messages(&mut self, port: PortId, messages: Vec<Packet<H>>, now: Time) {
        let switch = self.network.port(port).owner;
        for mut message in messages.into_iter().rev() {
            let sender = self.flows[message.flow as usize].src;
            message.flags = message.flags.with(Flags::MESSAGE);
            message.to = sender.0;
            self.enqueue(self.towards(switch, sender), message, now);
        }
    }

    fn enqueue(&mut self, port: PortId, mut packet: Packet<H>, now: Time) {
        let of_node = self.network.ports_of(self.network.port(port).owner).iter();
        let others = of_node.filter(|other| **other != port);
        let elsewhere = others.map(|other| self.egresses[other.index()].port.backlog().bytes).sum();
        let egress = &mut self.egresses[port.index()];
        let drops = &mut egress.drops;
        if egress.free > now {
            egress.port.enqueue(packet, elsewhere, |_| *drops += 1);
        } else if egress.port.pass(&mut packet, elsewhere, |_| *drops += 1) {
            egress.leave(packet, now);
        }
    }
}

impl<H: Header, P: Port<Packet<H>>, C: Controller<H>> Egress<H, P, C> {
    fn leave(&mut self, mut packet: Packet<H>, now: Time) {
        if C::IS_THERE {
            self.controller.on_departure(now, &mut packet, self.port.backlog());
        }
        self.departures.push((now, packet));
        self.free = now + self.rate.transmission_time(Bytes::new(packet.wire.into()));
        self.on_link.push_back((self.free + self.delay, packet));
    }
}
