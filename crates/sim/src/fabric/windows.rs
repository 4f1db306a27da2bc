//! Simulates one window of time after another, and within a window one level of ports after
//! another.
//!
//! If packets pass the ports of a network in one order ([`flowsched_topology::Network::levels`])
//! and switches have no controllers, a port depends only on the ports of earlier levels. A window
//! is no longer than the shortest way from host to host. Packets that reach hosts in a window left
//! their senders before it, so hosts can handle the whole window first. Then the ports, level by
//! level, take in the packets that reached them, decide which packets left, and pass these on. They
//! continue past the window's end for as long as packets need from hosts to their switch. There is
//! no queue of events, and the memory of a few ports is used many times in a row. Each port sees
//! the same packets in the same order as with single events, so the results are the same.

use flowsched_schemes::Packet;
use flowsched_schemes::packet::Header;
use flowsched_schemes::port::Port;
use flowsched_schemes::world::PortSample;
use flowsched_topology::{HostId, Network, PortId, mix};
use flowsched_units::Time;

use super::arrivals::{Arrival, Key, Order};
use super::banks::Layout;
use super::egress::{Egress, FarEnd, is_lost};
use super::transit::Transit;
use super::{Fabric, Losses, Tally, loses};
use crate::job::Job;
use crate::link::Link;
use crate::routing::{Remembered, Router};

/// All ports, and what reaches hosts in the present window.
#[derive(Debug)]
pub(crate) struct Windows<'a, H, P> {
    network: &'a Network,
    egresses: Vec<Egress<P>>,
    transit: Transit<'a, H>,
    /// Of one inbox after the other.
    order: Order,
    /// What a port has sent.
    sent: Vec<Arrival<H>>,
    /// What reaches hosts in the window, its order, and how many of these were delivered.
    at_hosts: Vec<Arrival<H>>,
    deliveries: Vec<Key>,
    delivered: usize,
    next_arrival: Time,
    start: Time,
    /// The first instant after the window.
    end: Time,
    /// The first instant that no port may reach yet.
    limit: Time,
    /// Whether some links lose packets.
    loses: bool,
    seed: u64,
    last_hop: Time,
}

/// The shortest step of time.
const INSTANT: Time = Time::from_ps(1);

impl<'a, H: Header, P: Port<Packet<H>>> Windows<'a, H, P> {
    /// The network's links; as they were if they cannot be gone through in windows.
    pub(crate) fn new(
        job: &Job<'a>,
        links: Vec<Link<H, P>>,
    ) -> Result<Windows<'a, H, P>, Vec<Link<H, P>>> {
        if links.iter().any(Link::shares_memory) {
            return Err(links);
        }
        let Some(layout) = Layout::divide(job.network) else {
            return Err(links);
        };
        let router = Router::new(job, false, H::IS_SPREAD);
        let levels = layout.level_of.iter().max().map_or(0, |level| *level as usize);
        let router = Remembered::new(router, levels, job.flows.len());
        let numbered = links.into_iter().enumerate();
        let egresses = numbered.map(|(port, link)| egress(job.network, &layout, port, link));
        Ok(Windows {
            network: job.network,
            egresses: egresses.collect(),
            transit: Transit::new(router, layout),
            order: Order::default(),
            sent: Vec::new(),
            at_hosts: Vec::new(),
            deliveries: Vec::new(),
            delivered: 0,
            next_arrival: Time::MAX,
            start: Time::ZERO,
            end: Time::ZERO,
            limit: Time::ZERO,
            loses: loses(job),
            seed: mix(job.seed),
            last_hop: Time::ZERO,
        })
    }

    /// Brings what hosts sent through the network, as far as it gets in the window: when something
    /// changes next.
    fn carry(&mut self) -> Time {
        let mut next_change = Time::MAX;
        let mut from = 0;
        while let Some((place, port)) = self.transit.next_active(from) {
            let next = self.serve(port);
            if next == Time::MAX {
                self.transit.rest(place);
            }
            next_change = next_change.min(next);
            from = place + 1;
        }
        let (egresses, last_hop) = (&mut self.egresses, &mut self.last_hop);
        let next_loss = self.transit.settle_losses(self.end, |lost| {
            egresses[lost.from.index()].drops += 1;
            *last_hop = lost.at.max(*last_hop);
        });
        next_change.min(next_loss).min(self.transit.next_at_host())
    }

    /// The port takes in what reaches it and sends what leaves: when it has something to do next.
    fn serve(&mut self, port: PortId) -> Time {
        let Egress { lead, served, .. } = self.egresses[port.index()];
        // The first instant that is unknown to it.
        let (start, end) = (served.max(self.start), self.end.saturating_add(lead).min(self.limit));
        let next_turn = self.take_turns(port, start, end);
        let mut inbox = std::mem::take(&mut self.transit.inboxes[port.index()]);
        let egress = &mut self.egresses[port.index()];
        let (delay, sent, lost) = (egress.delay, &mut self.sent, &mut self.transit.lost);
        let (drops, last_hop) = (&mut egress.drops, &mut self.last_hop);
        sent.clear();
        let next_arrival = inbox.take(&mut self.order, start, end, |inbox, keys| {
            if let Some(last) = keys.last() {
                *last_hop = inbox[last.index()].at.max(*last_hop);
            }
            let arrivals = keys.iter().map(|key| {
                let Arrival { at, packet, .. } = &inbox[key.index()];
                (*at, packet)
            });
            let dropped = |packet| {
                *drops += 1;
                lost.lose(&packet);
            };
            egress.port.serve(&mut egress.line, arrivals, end, dropped, |left, packet| {
                sent.push(Arrival { at: left.saturating_add(delay), from: port, packet: *packet });
            });
        });
        egress.served = end;
        self.transit.inboxes[port.index()] = inbox;
        self.hand_on(port);
        self.egresses[port.index()].next_choice().min(next_arrival).min(next_turn)
    }

    /// Hands on what the port has sent.
    #[inline]
    fn hand_on(&mut self, port: PortId) {
        let egress = &mut self.egresses[port.index()];
        let (before, to, loss) = (egress.sent_packets, egress.to, egress.loss);
        egress.sent_packets += self.sent.len() as u64;
        egress.sent_bytes += self.sent.iter().map(|one| u64::from(one.packet.wire)).sum::<u64>();
        if self.loses {
            let (seed, transit, mut number) = (self.seed, &mut self.transit, before);
            self.sent.retain(|one| {
                number += 1;
                let is_lost = is_lost(seed, port, loss, number);
                if is_lost {
                    transit.lose(*one);
                }
                !is_lost
            });
        }
        self.transit.carry(to, &self.sent);
    }

    /// The packets that wait for their turn choose between the port and its neighbours: when the next
    /// one will.
    fn take_turns(&mut self, port: PortId, start: Time, end: Time) -> Time {
        let Some(turns) = self.transit.turns_at(port) else { return Time::MAX };
        let mut waiting = std::mem::take(turns);
        let node = self.network.port(port).owner;
        let transit = &mut self.transit;
        let next = waiting.take(&mut self.order, start, end, |waiting, keys| {
            for key in keys {
                let arrival = &waiting[key.index()];
                let next = transit.take_turn(node, &arrival.packet);
                transit.enter(next, arrival);
            }
        });
        self.transit.give_back_turns(port, waiting);
        next
    }

    /// The end of the next window, given when a port next changes. What is under way may be anywhere,
    /// and arrive at a host as soon as it changes; but what comes to change later than ports have been
    /// served is farther off.
    fn end_after(&self, next_change: Time) -> Time {
        let Layout { longest, last_way, .. } = *self.transit.layout();
        if next_change == Time::MAX {
            return self.start.saturating_add(longest);
        }
        let known = self.end.saturating_add(longest).min(self.limit.saturating_add(last_way));
        known.max(self.start.saturating_add(last_way))
    }

    /// Puts what arrives at hosts in the window in order.
    fn gather(&mut self) {
        let (at_hosts, deliveries) = (&mut self.at_hosts, &mut self.deliveries);
        let to_hosts = &mut self.transit.to_hosts;
        at_hosts.clear();
        deliveries.clear();
        to_hosts.take(&mut self.order, self.start, self.end, |to_hosts, keys| {
            at_hosts.extend_from_slice(to_hosts);
            deliveries.extend_from_slice(keys);
        });
        self.delivered = 0;
        if let Some(last) = deliveries.last() {
            self.last_hop = self.last_hop.max(at_hosts[last.index()].at);
        }
        self.look_ahead();
    }

    #[inline]
    fn look_ahead(&mut self) {
        let next = self.deliveries.get(self.delivered);
        self.next_arrival = next.map_or(Time::MAX, |next| self.at_hosts[next.index()].at);
    }
}

/// A link as windows see it.
fn egress<H: Header, P: Port<Packet<H>>>(
    network: &Network,
    layout: &Layout,
    port: usize,
    link: Link<H, P>,
) -> Egress<P> {
    let Link { line, delay, peer, loss, port: queue, .. } = link;
    let owner = network.ports()[port].owner;
    let to =
        FarEnd { node: peer, is_host: network.host(peer).is_some(), level: layout.level_of[port] };
    let lead = layout.lead_of[owner.index()];
    let (sent_bytes, sent_packets, drops) = (0, 0, 0);
    let served = Time::ZERO;
    Egress { line, delay, to, lead, served, sent_bytes, sent_packets, drops, loss, port: queue }
}

impl<H: Header, P: Port<Packet<H>>> Fabric<H> for Windows<'_, H, P> {
    const HAS_TIMERS: bool = false;

    #[inline]
    fn send(&mut self, host: HostId, packet: Packet<H>, now: Time) {
        let port = self.network.nic(host);
        self.transit.enter(port, &Arrival { at: now, from: port, packet });
    }

    #[inline]
    fn next_arrival(&self) -> Time {
        self.next_arrival
    }

    #[inline]
    fn deliver(&mut self) -> Option<(HostId, Packet<H>)> {
        let key = self.deliveries.get(self.delivered)?;
        let packet = self.at_hosts[key.index()].packet;
        self.delivered += 1;
        self.look_ahead();
        Some((HostId(packet.to), packet))
    }

    #[inline]
    fn horizon(&self) -> Time {
        self.end
    }

    fn advance(&mut self, next: Time, last: Time) -> Time {
        self.limit = last.saturating_add(INSTANT);
        let next_change = self.carry();
        let start = next.min(next_change);
        if start <= last && start < Time::MAX {
            self.start = start;
            self.end = self.end_after(next_change).min(self.limit);
            self.gather();
        }
        start
    }

    fn next_timer(&self) -> Time {
        Time::MAX
    }

    fn on_timer(&mut self, _: Time) {}

    fn sample(&mut self, now: Time, samples: &mut Vec<PortSample>) {
        self.limit = self.limit.min(now.saturating_add(INSTANT));
        self.carry();
        let mut in_flight = vec![0; self.egresses.len()];
        for arrival in self.transit.on_links() {
            in_flight[arrival.from.index()] += u64::from(arrival.packet.wire);
        }
        let numbered = (0..).zip(&self.egresses).zip(in_flight);
        samples.extend(numbered.map(|((port, egress), bytes)| egress.sample(now, port, bytes)));
    }

    fn is_quiet(&self) -> bool {
        self.transit.is_quiet()
    }

    fn last_hop(&self) -> Time {
        self.last_hop
    }

    fn tally(self) -> Tally {
        let sent: u64 = self.egresses.iter().map(|egress| egress.sent_packets).sum();
        Tally {
            packet_hops: sent - self.transit.on_links().count() as u64,
            drops: self.egresses.iter().map(|egress| egress.drops).sum(),
            marks: self.egresses.iter().map(|egress| egress.port.marks()).sum(),
            lost: Losses::<H>::flows(self.transit.lost),
        }
    }
}
