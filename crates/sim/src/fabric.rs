//! The links of a network and what crosses them.

use flowsched_schemes::Packet;
use flowsched_schemes::controller::{Controller, Site};
use flowsched_schemes::packet::{Flags, Header};
use flowsched_schemes::port::Port;
use flowsched_topology::{HostId, Loss, Network, NodeId, Port as LinkEnd, PortId, mix};
use flowsched_units::{Rate, Time};
use flowsched_workload::Flow;

use crate::Job;
use crate::link::Link;
use crate::outcome::PortSample;
use crate::routing::Router;
use crate::timers::{Armed, Timers};
use crate::tournament::Tournament;

/// All links, and which of them has the next arrival.
#[derive(Debug)]
pub(crate) struct Fabric<'a, H, P, C> {
    network: &'a Network,
    flows: &'a [Flow],
    links: Vec<Link<H, P>>,
    /// When the first packet on each link arrives at its far end.
    arrivals: Tournament,
    router: Router<'a>,
    /// Whether ports draw on memory that their switch shares.
    shares_memory: bool,
    /// Whether some links lose packets.
    loses: bool,
    seed: u64,
    /// By port, if there are any.
    controllers: Vec<(C, Armed)>,
    /// Of the controllers, by port.
    pub(crate) timers: Timers<u32>,
    /// Messages of a controller that are yet to be sent.
    messages: Vec<Packet<H>>,
    /// The flow of every data packet that was dropped or lost.
    pub(crate) lost: Vec<u32>,
}

/// What carries no data of a flow.
const NOT_DATA: Flags = Flags::ACK.with(Flags::MESSAGE).with(Flags::SYN).with(Flags::PROBE);

fn note<H>(lost: &mut Vec<u32>, packet: &Packet<H>) {
    if !packet.flags.has(NOT_DATA) {
        lost.push(packet.flow);
    }
}

impl<'a, H: Header, P: Port<Packet<H>>, C: Controller<H>> Fabric<'a, H, P, C> {
    pub(crate) fn new(
        job: &Job<'a>,
        new_port: impl Fn(Site) -> P,
        new_controller: impl Fn(Site) -> C,
    ) -> Fabric<'a, H, P, C> {
        let network = job.network;
        let host_rate = job.scheme.host_port.rate;
        let mut links = Vec::with_capacity(network.ports().len());
        let mut controllers = Vec::new();
        for (index, port) in network.ports().iter().enumerate() {
            let is_host = network.host(port.owner).is_some();
            let share = if is_host { host_rate } else { 1.0 };
            let rate = Rate::from_bps((port.rate.as_bps() as f64 * share) as u64);
            let site = Site { port: index as u32, rate, is_host };
            links.push(Link::new(new_port(site), LinkEnd { rate, ..*port }));
            if C::IS_THERE {
                controllers.push((new_controller(site), Armed::default()));
            }
        }
        Fabric {
            network,
            flows: job.flows,
            arrivals: Tournament::new(links.len()),
            shares_memory: links.iter().any(Link::shares_memory),
            loses: network.ports().iter().any(|port| port.loss != Loss::NONE),
            seed: mix(job.seed),
            links,
            router: Router::new(job, C::NEEDS_WAY_BACK, H::IS_SPREAD),
            controllers,
            timers: Timers::default(),
            messages: Vec::new(),
            lost: Vec::new(),
        }
    }

    /// When the next packet arrives anywhere.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Time {
        self.arrivals.first().map_or(Time::MAX, |(time, _)| time)
    }

    /// A host sends a packet.
    #[inline]
    pub(crate) fn send(&mut self, host: HostId, packet: Packet<H>, now: Time) {
        let port = if self.network.hosts_forward() {
            self.router.next(host.node(), &packet)
        } else {
            self.network.nic(host)
        };
        self.offer(port, packet, now);
    }

    /// The next packet arrives: at a host, to which it is handed, or at a switch, which sends it
    /// on.
    #[inline]
    pub(crate) fn deliver(&mut self) -> Option<(HostId, Packet<H>)> {
        let (now, index) = self.arrivals.first()?;
        let link = &mut self.links[index];
        let mut packet = link.deliver()?;
        // What waits is looked at only now: the packet that left next arrives later anyway.
        link.catch_up_if_empty(now);
        self.arrivals.replace_first(link.next_arrival(), now);
        let peer = link.peer;
        if self.loses && self.links[index].loses(self.seed ^ index as u64) {
            note(&mut self.lost, &packet);
            return None;
        }
        if C::IS_THERE {
            let back = self.network.reverse(PortId(index as u32));
            self.controllers[back.index()].0.on_return(now, &mut packet);
        }
        if let Some(host) = self.network.host(peer)
            && host.0 == packet.to
        {
            return Some((host, packet));
        }
        let port = self.router.next(peer, &packet);
        self.offer(port, packet, now);
        None
    }

    #[inline]
    fn offer(&mut self, port: PortId, packet: Packet<H>, now: Time) {
        if C::IS_THERE {
            self.offer_controlled(port, packet, now);
        } else {
            self.enqueue(port, packet, now);
        }
    }

    /// Offers a packet to the port's controller first, and sends what that has to say.
    fn offer_controlled(&mut self, port: PortId, mut packet: Packet<H>, now: Time) {
        let link = &mut self.links[port.index()];
        link.catch_up(now);
        let (controller, _) = &mut self.controllers[port.index()];
        let messages = &mut self.messages;
        controller.on_forward(now, &mut packet, link.backlog(), |message| messages.push(message));
        self.enqueue(port, packet, now);
        self.after_control(port, now);
    }

    /// The first timer of a controller runs out.
    pub(crate) fn on_timer(&mut self, now: Time) {
        let Some((time, port)) = self.timers.pop() else { return };
        let (controller, armed) = &mut self.controllers[port as usize];
        if armed.disarm(time) {
            let messages = &mut self.messages;
            controller.on_timer(now, |message| messages.push(message));
            self.after_control(PortId(port), now);
        }
    }

    /// Sends a controller's messages and sets its timer.
    fn after_control(&mut self, port: PortId, now: Time) {
        let (controller, armed) = &mut self.controllers[port.index()];
        self.timers.arm(armed, controller.deadline(), port.0);
        let owner = self.network.port(port).owner;
        while let Some(mut message) = self.messages.pop() {
            message.flags = message.flags.with(Flags::MESSAGE);
            message.to = self.flows[message.flow as usize].src.0;
            let next = self.router.next(owner, &message);
            self.enqueue(next, message, now);
        }
    }

    #[inline]
    fn enqueue(&mut self, port: PortId, packet: Packet<H>, now: Time) {
        let elsewhere = if self.shares_memory { self.elsewhere(port, now) } else { 0 };
        let link = &mut self.links[port.index()];
        link.catch_up(now);
        let lost = &mut self.lost;
        link.offer(now, packet, elsewhere, &mut |packet| note(lost, &packet));
        if let Some(next) = link.next_arrival() {
            self.arrivals.add(port.index(), next, now);
        }
    }

    /// Bytes that wait in the other ports of the same node.
    fn elsewhere(&mut self, port: PortId, now: Time) -> u64 {
        let owner: NodeId = self.network.port(port).owner;
        let mut bytes = 0;
        for other in self.network.ports_of(owner) {
            if *other != port {
                let link = &mut self.links[other.index()];
                link.catch_up(now);
                bytes += link.backlog().bytes;
            }
        }
        bytes
    }

    /// Every port as it is at `now`.
    pub(crate) fn sample(&mut self, now: Time, samples: &mut Vec<PortSample>) {
        for (index, link) in self.links.iter_mut().enumerate() {
            link.catch_up(now);
            samples.push(link.sample(now, index as u32));
        }
    }

    /// Packets dropped by all ports.
    pub(crate) fn drops(&self) -> u64 {
        self.links.iter().map(Link::drops).sum()
    }

    /// Packets marked by all ports.
    pub(crate) fn marks(&self) -> u64 {
        self.links.iter().map(Link::marks).sum()
    }
}
