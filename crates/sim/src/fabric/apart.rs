//! Windows for controllers that see packets in both directions and change nothing but headers.
//!
//! Such a controller sees the data that goes through its port and the ACKs that come back over its link.
//! Both come through ports of several levels, so no order of ports shows a controller all its packets in
//! the order of time. But nothing that a controller writes decides when a packet leaves a port. So a window
//! has two steps:
//!
//! 1. The ports are served. Packets have tickets in place of headers, and ports note which packet comes when.
//! 2. The controllers are shown all packets of the window in the order of time, as with single events.
//!
//! A host's controller is an exception. It sees a packet at once, when the host gets or sends it, because
//! the host acts on the header in the same window.

use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

use flowsched_schemes::Packet;
use flowsched_schemes::controller::{Controller, Site};
use flowsched_schemes::packet::Header;
use flowsched_schemes::port::{Connections, NetworkPorts, PriorityPort};
use flowsched_schemes::world::{Overhead, PortSample, Ports};
use flowsched_topology::{HostId, Network, PortId};
use flowsched_units::Time;

use super::banks::Layout;
use super::notes::{self, Note, Notes, Noting};
use super::order::Order;
use super::tickets::{Held, LostTickets, Place, Ticket};
use super::windows::Windows;
use super::{Delivered, Fabric, Tally, links, overhead};
use crate::job::Job;
use crate::link::Link;

/// A header is loaded this many packets before controllers need it, so that it is in the cache by then.
const AHEAD: usize = 8;

type Port<H> = PriorityPort<Packet<Ticket<H>>>;

/// Makes ports for packets with tickets.
struct ByPriority<'p>(&'p NetworkPorts);

impl<H: Header> Ports<Ticket<H>> for ByPriority<'_> {
    type Port = Port<H>;

    fn port(&self, site: Site, _connections: &Connections) -> Port<H> {
        PriorityPort::new(Arc::clone(self.0.of(site.is_host)))
    }

    fn host_rate(&self) -> f64 {
        self.0.host_rate()
    }
}

/// All ports and controllers, and the headers that these see.
pub(crate) struct Apart<'a, H, C> {
    network: &'a Network,
    windows: Windows<'a, Ticket<H>, Port<H>, Noting<C>, LostTickets>,
    /// By port.
    controllers: Vec<C>,
    held: Held<H>,
    /// Packets that have come to ports and that controllers have not seen yet.
    notes: notes::Shared,
    order: Order,
    /// The notes of one instant; empty between calls.
    together: Vec<Note>,
}

/// The links of a network; nothing if its controllers do more than change headers, or if windows cannot
/// go through the network.
pub(crate) fn fabric<'a, H: Header, C: Controller<H>>(
    job: &Job<'a>,
    ports: &impl Ports<H>,
    connections: &Connections,
    new_controller: impl Fn(PortId) -> C,
) -> Option<Apart<'a, H, C>> {
    if !C::MINDS_HEADERS_ALONE {
        return None;
    }
    Apart::new(job, ports.by_priority()?, connections, new_controller)
}

impl<'a, H: Header, C: Controller<H>> Apart<'a, H, C> {
    fn new(
        job: &Job<'a>,
        ports: &NetworkPorts,
        connections: &Connections,
        new_controller: impl Fn(PortId) -> C,
    ) -> Option<Apart<'a, H, C>> {
        let network = job.network;
        let layout = Layout::new::<H>(network)?;
        let links: Vec<Link<Ticket<H>, Port<H>>> = links(job, &ByPriority(ports), connections);
        if links.iter().any(Link::shares_memory) {
            return None;
        }
        let controllers =
            (0..links.len() as u32).map(|port| new_controller(PortId(port))).collect();
        let notes = notes::Shared::default();
        let noting = |port| {
            let is_at_host = network.host(network.port(port).owner).is_some();
            Noting::new(port, is_at_host, notes::Shared::clone(&notes))
        };
        Some(Apart {
            network,
            windows: Windows::new(job, layout, links, noting, LostTickets::default()),
            controllers,
            held: Held::default(),
            notes,
            order: Order::default(),
            together: Vec::new(),
        })
    }

    /// Shows the controllers the packets that ports have noted.
    fn settle(&mut self) {
        let mut taken = self.notes.take();
        let mut order = mem::take(&mut self.order);
        let Notes { times, notes } = &taken;
        let first = times.iter().min().map_or(Time::ZERO, |first| first.0);
        let after = times.iter().max().map_or(Time::ZERO, |last| last.0 + Time::from_ps(1));
        order.sort(times, first, after);
        let keys = &order.keys()[..times.len()];
        let mut place = 0;
        while let Some(key) = keys.get(place) {
            if let Some(ahead) = keys.get(place + AHEAD) {
                self.held.expect(notes[ahead.index()].ticket);
            }
            let at = times[key.index()].0;
            place += 1;
            if keys.get(place).is_some_and(|next| times[next.index()].0 == at) {
                let first = place - 1;
                place += keys[place..].partition_point(|key| times[key.index()].0 == at);
                let together = keys[first..place].iter().map(|key| notes[key.index()]);
                self.show_together(at, together);
            } else {
                self.show(at, &notes[key.index()]);
            }
        }
        for number in mem::take(&mut self.windows.losses().numbers) {
            self.held.discard(number);
        }
        taken.clear();
        self.notes.replace(taken);
        self.order = order;
    }

    /// Shows the controllers packets of the same instant, in the order of the links that these came over.
    #[cold]
    fn show_together(&mut self, at: Time, notes: impl Iterator<Item = Note>) {
        let mut together = mem::take(&mut self.together);
        together.extend(notes);
        together.sort_by_key(|note| self.held.place(note.ticket).port);
        together.drain(..).for_each(|note| self.show(at, &note));
        self.together = together;
    }

    /// Shows a packet to two controllers: that of the link that it came over, and that of its port.
    #[inline]
    fn show(&mut self, at: Time, note: &Note) {
        let Note { port, ticket, .. } = *note;
        let place = self.held.place(ticket);
        let mut packet = note.packet(place.header);
        let back = self.network.reverse(place.port);
        self.controllers[back.index()].on_return(at, &mut packet);
        self.controllers[port.index()].on_forward(at, &mut packet, || note.backlog(), |_| {});
        *place = Place { header: packet.header, port };
    }
}

impl<H: Header, C: Controller<H>> Fabric<H> for Apart<'_, H, C> {
    const HAS_TIMERS: bool = false;

    #[inline]
    fn send(&mut self, host: HostId, mut packet: Packet<H>, now: Time) {
        let port = self.network.nic(host);
        let windows = &mut self.windows;
        let backlog = || windows.backlog(port, now);
        self.controllers[port.index()].on_forward(now, &mut packet, backlog, |_| {});
        self.windows.send(host, self.held.hold(&packet, port), now);
    }

    #[inline]
    fn next_arrival(&self) -> Time {
        self.windows.next_arrival()
    }

    #[inline]
    fn deliver(
        &mut self,
        mut handle: impl FnMut(&mut Self, Time, Option<Delivered<'_, H>>) -> ControlFlow<(), Time>,
    ) -> Time {
        let mut deliveries = self.windows.take_deliveries();
        let last = deliveries.hand_over(|arrival, next| {
            let mut packet = self.held.give_back(&arrival.packet);
            let back = self.network.reverse(arrival.from);
            self.controllers[back.index()].on_return(arrival.at, &mut packet);
            if let Some(next) = next {
                self.held.expect(next.packet.header.number);
            }
            let next = next.map(|next| next.packet.with_header(H::default()));
            handle(self, arrival.at, Some(Delivered { packet: &packet, next: next.as_ref() }))
        });
        self.windows.give_back(deliveries);
        last.unwrap_or_default()
    }

    #[inline]
    fn horizon(&self) -> Time {
        self.windows.horizon()
    }

    fn advance(&mut self, last: Time, next: impl FnOnce() -> Time) -> Time {
        let start = self.windows.advance(last, next);
        self.settle();
        start
    }

    fn next_timer(&self) -> Time {
        Time::MAX
    }

    fn on_timer(&mut self, _: Time) {}

    fn sample(&mut self, now: Time, samples: &mut Vec<PortSample>) {
        self.windows.sample(now, samples);
        self.settle();
    }

    fn is_quiet(&self) -> bool {
        self.windows.is_quiet()
    }

    fn last_event(&self) -> Time {
        self.windows.last_event()
    }

    fn overhead(&self) -> Overhead {
        overhead(self.network, &self.controllers)
    }

    fn tally(self) -> Tally {
        self.windows.tally()
    }
}
