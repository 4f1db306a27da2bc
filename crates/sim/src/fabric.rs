//! The links of a network and what crosses them, on the way from host to host.
//!
//! Three modules bring packets through a network, with the same results:
//!
//! - [`events`] handles one arrival after the other. It works for every network and scheme.
//! - [`windows`] handles a window of time at once, port by port. It is faster, and needs a network
//!   whose ports have an order.
//! - [`apart`] is [`windows`] for controllers that see both directions of a link: it serves the ports
//!   for a window first, and shows the packets to the controllers afterwards.
//!
//! What hosts do with packets is not part of this module.

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

/// Brings packets from host to host.
pub(crate) trait Fabric<H: Header> {
    /// A host sends a packet.
    fn send(&mut self, host: HostId, packet: Packet<H>, now: Time);

    /// When the next packet arrives that [`Fabric::deliver`] handles: [`Time::MAX`] if none does before
    /// the horizon.
    fn next_arrival(&self) -> Time;

    /// Delivers the next packet, and those after it up to the time that `handle` returned last, or until
    /// `handle` breaks off. Calls `handle` for each of them with the time of its arrival, and with the
    /// packet if it has reached its host. Returns when the last of these packets arrived.
    fn deliver(
        &mut self,
        handle: impl FnMut(&mut Self, Time, Option<Delivered<'_, H>>) -> ControlFlow<(), Time>,
    ) -> Time;

    /// The first instant for which the fabric does not know yet what reaches hosts. Packets that hosts
    /// sent earlier may have to be brought to hosts first.
    fn horizon(&self) -> Time;

    /// Moves the horizon on, to just after `last` at the latest. Hosts must have done everything before
    /// the horizon. `next` returns when hosts do something next if nothing arrives. Returns when
    /// something happens next anywhere: [`Time::MAX`] if nothing does.
    fn advance(&mut self, last: Time, next: impl FnOnce() -> Time) -> Time;

    /// When the timer of a port's controller runs out next.
    fn next_timer(&self) -> Time;

    /// Runs the controller's timer that runs out at `now`.
    fn on_timer(&mut self, now: Time);

    /// Whether a packet that arrives anywhere but at its host may change [`Fabric::next_timer`].
    const HAS_TIMERS: bool;

    /// Adds a sample of every port and its link at `now` to `samples`. Hosts must have done everything
    /// up to `now`.
    fn sample(&mut self, now: Time, samples: &mut Vec<PortSample>);

    /// Whether no packet is under way, and no controller's timer is set that [`Fabric::next_timer`] leaves
    /// out. Hosts must have done everything up to the horizon, and a sample must have been taken.
    fn is_quiet(&self) -> bool;

    /// When a packet last reached the far end of a link or a controller's timer last ran out.
    fn last_event(&self) -> Time;

    /// The memory that controllers needed at most; nothing if there are no controllers.
    fn overhead(&self) -> Overhead {
        Overhead::default()
    }

    /// Returns the counters of the run.
    fn tally(self) -> Tally;
}

/// A packet that has reached its host, and the next one to reach a host if it is known already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered<'p, H> {
    pub(crate) packet: &'p Packet<H>,
    pub(crate) next: Option<&'p Packet<H>>,
}

/// A fabric whose ports can be looked at one by one, at any time.
pub(crate) trait Observable<H: Header>: Fabric<H> {
    /// The state of a port at `now`. Hosts must have done everything up to `now`.
    fn look(&mut self, port: u32, now: Time) -> PortState;

    /// When the next packet leaves the port's queue if nothing else happens: [`Time::MAX`] if none
    /// waits.
    fn next_departure(&self, port: u32) -> Time;
}

/// The counters of a fabric.
#[derive(Debug)]
pub(crate) struct Tally {
    /// Packets that have begun to leave ports.
    pub(crate) sent: u64,
    /// The packets among these that have not reached the far end of their link.
    pub(crate) on_links: u64,
    /// How often controllers' timers ran out.
    pub(crate) rung: u64,
    pub(crate) drops: u64,
    pub(crate) marks: u64,
    /// The flow of every data packet that was dropped or lost.
    pub(crate) lost: Vec<u32>,
}

/// The link of each port, in the order of ports.
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

/// The site of a port. Hosts send at `host_rate` times their links' rates.
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

/// Packets with one of these flags carry no data of a flow.
pub(crate) const NOT_DATA: Flags =
    Flags::ACK.with(Flags::MESSAGE).with(Flags::SYN).with(Flags::PROBE);

/// Keeps account of packets that a port drops or a link loses.
pub trait Losses<H> {
    /// Notes that a packet was dropped or lost.
    fn lose(&mut self, packet: &Packet<H>);

    /// The flow of every data packet that was dropped or lost; empty if these are not kept.
    fn flows(self) -> Vec<u32>
    where
        Self: Sized,
    {
        Vec::new()
    }
}

/// Keeps the flow of every data packet that was dropped or lost.
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
