//! A network without hosts, for worlds that bring packets of their own.
//!
//! Ports, links, routing and controllers are those of a simulation. The caller hands in every packet
//! when a host sends it, and takes it out where it arrives. The caller also sets the time, which may be
//! that of a clock: events that are handled late are computed for the times at which they were due.

use flowsched_schemes::Packet;
use flowsched_schemes::controller::Controller;
use flowsched_schemes::packet::Header;
use flowsched_schemes::port::{Connections, Port};
use flowsched_schemes::world::{Controllers, PortSample, Ports};
use flowsched_topology::HostId;
use flowsched_units::Time;

use crate::fabric::events::Events;
use crate::fabric::{Fabric, Losses, controllers as controllers_of_ports, links};
use crate::job::Job;

/// A network that packets cross from host to host.
#[derive(Debug)]
pub struct Live<'a, H, P, C, L> {
    events: Events<'a, H, P, C, L>,
}

/// A packet that has reached its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery<H> {
    /// The host.
    pub host: HostId,
    /// When its last bit arrived.
    pub at: Time,
    /// The packet.
    pub packet: Packet<H>,
}

impl<'a, H, P, C, L> Live<'a, H, P, C, L>
where
    H: Header,
    P: Port<Packet<H>>,
    C: Controller<H>,
    L: Losses<H>,
{
    /// The job's network, with these parts and without packets. `losses` keeps account of packets that
    /// do not arrive. The caller notes the flows' connections in `connections`.
    pub fn new(
        job: &Job<'a>,
        ports: &impl Ports<H, Port = P>,
        controllers: &impl Controllers<H, Controller = C>,
        connections: &Connections,
        losses: L,
    ) -> Live<'a, H, P, C, L> {
        let links = links(job, ports, connections);
        let controllers = controllers_of_ports(job, controllers, ports.host_rate());
        // Packets with one number may belong to several connections, each with a way of its own.
        Live { events: Events::new(job, links, controllers, losses, false) }
    }

    /// Sends a packet of a host at `now`, which must not be before the last event or call, and not after
    /// [`Live::next`].
    pub fn send(&mut self, host: HostId, packet: Packet<H>, now: Time) {
        self.events.send(host, packet, now);
    }

    /// When something happens next in the network: [`Time::MAX`] if nothing does before a host sends.
    pub fn next(&self) -> Time {
        self.events.next_arrival().min(self.events.next_timer())
    }

    /// Handles the next event. Returns the packet if one has come to its host.
    pub fn advance(&mut self) -> Option<Delivery<H>> {
        let (arrival, timer) = (self.events.next_arrival(), self.events.next_timer());
        if timer < arrival {
            self.events.on_timer(timer);
            return None;
        }
        let packet = self.events.arrive()?;
        Some(Delivery { host: HostId(packet.to), at: arrival, packet })
    }

    /// The account of packets that do not arrive.
    pub fn losses(&mut self) -> &mut L {
        self.events.losses()
    }

    /// Adds a sample of every port at `now`, which must not be after [`Live::next`], to `samples`.
    pub fn sample(&mut self, now: Time, samples: &mut Vec<PortSample>) {
        self.events.sample(now, samples);
    }
}
