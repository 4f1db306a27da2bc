//! The links of a network and what crosses them, on the way from host to host.
//!
//! What lives here: ways to bring packets through a network, with the same results. [`events`]
//! takes one arrival after the other, wherever it is, and can do everything; [`windows`] goes
//! through networks whose ports have an order, level by level, a stretch of time at once, which is
//! faster; [`apart`] does this where controllers see both directions of a link: ports go through a
//! window first, then controllers change its headers. What may not: what hosts do with packets.

mod alarms;
pub(crate) mod apart;
mod arrival;
mod arrivals;
pub(crate) mod banks;
mod calendar;
mod controlled;
pub(crate) mod crossing;
mod deliveries;
mod egress;
pub(crate) mod events;
mod notes;
mod onward;
mod order;
mod tickets;
mod transit;
pub(crate) mod windows;

use std::ops::ControlFlow;

use flowsched_schemes::Packet;
use flowsched_schemes::controller::{Controller, Site};
use flowsched_schemes::packet::{Flags, Header};
use flowsched_schemes::port::Connections;
use flowsched_schemes::world::{Controllers, Overhead, PortSample, PortState, Ports};
use flowsched_topology::{HostId, LinkEnd, Loss, Network, PortId};
use flowsched_units::{Bytes, Rate, Time};
use flowsched_workload::Flow;

use crate::job::Job;
use crate::link::Link;

/// What brings packets from host to host.
pub(crate) trait Fabric<H: Header> {
    /// A host sends a packet.
    fn send(&mut self, host: HostId, packet: Packet<H>, now: Time);

    /// When the next packet arrives anywhere that is to be delivered; [`Time::MAX`]: none before
    /// the horizon.
    fn next_arrival(&self) -> Time;

    /// The next packet arrives, at its host or elsewhere: its time, and the packet if it is at its host, go to
    /// `handle`. The same happens to the packets after it, up to the first that arrives later than `handle`
    /// last said. When the last of these packets arrived.
    fn deliver(
        &mut self,
        handle: impl FnMut(&mut Self, Time, Option<Delivered<'_, H>>) -> ControlFlow<(), Time>,
    ) -> Time;

    /// What happens to hosts from here on is not known yet: packets that they sent before may
    /// have to be brought to them first.
    fn horizon(&self) -> Time;

    /// Moves the horizon, for hosts have done everything before it: on to where no event is left,
    /// or to `last` at the latest, that included. `next` tells when hosts do something next if
    /// nothing arrives. When something happens next, anywhere; [`Time::MAX`]: never.
    fn advance(&mut self, last: Time, next: impl FnOnce() -> Time) -> Time;

    /// When a switch's controller does something next.
    fn next_timer(&self) -> Time;

    /// It does so.
    fn on_timer(&mut self, now: Time);

    /// Whether a delivery that reaches no host may change when a controller does something.
    const HAS_TIMERS: bool;

    /// The ports and links, all that happened up to `now` considered. Hosts have done everything up
    /// to then.
    fn sample(&mut self, now: Time, samples: &mut Vec<PortSample>);

    /// Whether no packet is under way; hosts have done everything up to the horizon, and a sample
    /// was taken.
    fn is_quiet(&self) -> bool;

    /// When a packet last reached the far end of a link, or a controller did something of itself.
    fn last_event(&self) -> Time;

    /// What controllers needed at most; nothing where there are none.
    fn overhead(&self) -> Overhead {
        Overhead::default()
    }

    /// What crossed the links and what became of it.
    fn tally(self) -> Tally;
}

/// A packet at its host, and the one after it, if that is known already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered<'p, H> {
    pub(crate) packet: &'p Packet<H>,
    pub(crate) next: Option<&'p Packet<H>>,
}

/// A fabric whose ports can be looked at one by one, at any time.
pub(crate) trait Observable<H: Header>: Fabric<H> {
    /// A port at `now`. Hosts have done everything up to then.
    fn look(&mut self, port: u32, now: Time) -> PortState;

    /// When the next packet leaves the port's queue if nothing else happens; [`Time::MAX`]: none waits.
    fn next_departure(&self, port: u32) -> Time;
}

/// What a fabric counts.
#[derive(Debug)]
pub(crate) struct Tally {
    /// Packets that have begun to leave ports.
    pub(crate) sent: u64,
    /// Packets of these that have not reached the far end of their link.
    pub(crate) on_links: u64,
    /// How often controllers' timers ran out.
    pub(crate) rung: u64,
    pub(crate) drops: u64,
    pub(crate) marks: u64,
    /// The flow of every data packet that was dropped or lost.
    pub(crate) lost: Vec<u32>,
}

/// The links of all ports, in their order.
pub(crate) fn links<H: Header, P: Ports<H>>(
    job: &Job<'_>,
    ports: &P,
    connections: &Connections,
) -> Vec<Link<H, P::Port>> {
    let ends = job.network.ports().iter().enumerate();
    ends.map(|(index, end)| {
        let site = site(job, index, end, ports.host_rate());
        Link::new(ports.port(site, connections), LinkEnd { rate: site.rate, ..*end })
    })
    .collect()
}

/// Makes the controller of a port.
pub(crate) fn controllers<'c, H: Header, C: Controllers<H>>(
    job: &'c Job<'_>,
    controllers: &'c C,
    host_rate: f64,
) -> impl Fn(PortId) -> C::Controller + 'c {
    move |port| controllers.controller(site(job, port.index(), job.network.port(port), host_rate))
}

/// Where a port is; hosts send at `host_rate` times their links' rates.
fn site(job: &Job<'_>, index: usize, port: &LinkEnd, host_rate: f64) -> Site {
    let is_host = job.network.host(port.owner).is_some();
    let share = if is_host { host_rate } else { 1.0 };
    let rate = Rate::from_bps((port.rate.as_bps() as f64 * share) as u64);
    Site { port: index as u32, rate, is_host }
}

/// The memory that controllers needed at most; `controllers` are those of all ports, if there are any.
fn overhead<H: Header, C: Controller<H>>(network: &Network, controllers: &[C]) -> Overhead {
    let state = |port: &PortId| controllers.get(port.index())?.largest_state();
    let of_switch = |node| network.ports_of(node).iter().filter_map(state);
    let switches = || network.switches().filter(|node| of_switch(*node).next().is_some());
    Overhead {
        port_state: switches().flat_map(of_switch).max(),
        switch_state: switches().map(|node| of_switch(node).sum::<Bytes>()).max(),
        ..Overhead::default()
    }
}

/// A controller's message, addressed to the sender of its flow.
fn to_sender<H>(flows: &[Flow], mut message: Packet<H>) -> Packet<H> {
    message.flags = message.flags.with(Flags::MESSAGE);
    message.to = flows[message.flow as usize].src.0;
    message
}

/// Whether some links lose packets.
fn loses(job: &Job<'_>) -> bool {
    job.network.ports().iter().any(|port| port.loss != Loss::NONE)
}

/// What carries no data of a flow.
pub(crate) const NOT_DATA: Flags =
    Flags::ACK.with(Flags::MESSAGE).with(Flags::SYN).with(Flags::PROBE);

/// Who is told of every packet that a port drops or a link loses.
pub trait Losses<H> {
    /// The packet is gone.
    fn lose(&mut self, packet: &Packet<H>);

    /// The flow of every data packet that is gone, if somebody has kept them.
    fn flows(self) -> Vec<u32>
    where
        Self: Sized,
    {
        Vec::new()
    }
}

/// Keeps the flows of data packets that are gone.
#[derive(Debug, Default)]
pub(crate) struct LostData(Vec<u32>);

impl<H> Losses<H> for LostData {
    fn lose(&mut self, packet: &Packet<H>) {
        if !packet.flags.has(NOT_DATA) {
            self.0.push(packet.flow);
        }
    }

    fn flows(self) -> Vec<u32> {
        self.0
    }
}
