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
use flowsched_topology::{HostId, Network, NodeId, PortId, mix};
use flowsched_units::Time;

use super::banks::{Bank, Layout};
use super::inbox::{Cursor, Inbox, Slots};
use super::{Fabric, Losses, LostData, Tally, loses, sample_all};
use crate::job::Job;
use crate::link::{Link, OnTheWay, unseen};
use crate::routing::{Remembered, Router};

/// All links, and what reaches hosts in the present window.
#[derive(Debug)]
pub(crate) struct Windows<'a, H, P> {
    network: &'a Network,
    links: Vec<Link<H, P>>,
    router: Remembered<'a>,
    banks: Vec<Bank<H>>,
    /// By bank: whether nothing waits in its ports or is on its way from them.
    is_idle: Vec<bool>,
    layout: Layout,
    /// Of one inbox after the other.
    slots: Slots,
    /// What arrives at hosts in the window, and the first arrival that was not delivered.
    arrivals: Inbox<H>,
    undelivered: Cursor,
    next_arrival: Time,
    start: Time,
    /// The first instant after the window.
    end: Time,
    /// The first instant that no port may reach yet.
    limit: Time,
    crossed: Crossed,
}

/// What has crossed links.
#[derive(Debug)]
struct Crossed {
    /// Whether some links lose packets.
    loses: bool,
    seed: u64,
    lost: LostData,
    packet_hops: u64,
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
        let Some((layout, banks)) = Layout::divide(job.network) else {
            return Err(links);
        };
        let router = Router::new(job, false, H::IS_SPREAD);
        let levels = banks.last().map_or(0, |bank| bank.level);
        Ok(Windows {
            network: job.network,
            links,
            router: Remembered::new(router, levels, job.flows.len()),
            is_idle: vec![true; banks.len()],
            banks,
            layout,
            slots: Slots::default(),
            arrivals: Inbox::default(),
            undelivered: Cursor::END,
            next_arrival: Time::MAX,
            start: Time::ZERO,
            end: Time::ZERO,
            limit: Time::ZERO,
            crossed: Crossed {
                loses: loses(job),
                seed: mix(job.seed),
                lost: LostData::default(),
                packet_hops: 0,
                last_hop: Time::ZERO,
            },
        })
    }

    /// Brings what hosts sent through the network, as far as it gets in the window: when something
    /// changes next.
    fn carry(&mut self) -> Time {
        let mut next_change = Time::MAX;
        for bank in 0..self.banks.len() {
            if !self.is_idle[bank] {
                self.take_in(bank);
                next_change = next_change.min(self.hand_on(bank));
            }
        }
        next_change
    }

    /// The bank's ports take in what reaches them.
    fn take_in(&mut self, bank: usize) {
        let bank = &mut self.banks[bank];
        let takes_turns = bank.has_choice && self.router.takes_turns();
        let lost = &mut self.crossed.lost;
        let mut cursor = self.slots.fill(&mut bank.inbox, self.limit - self.start);
        while let Some(arrival) = cursor.pop(&self.slots, &bank.inbox) {
            let (now, packet) = (self.start + arrival.since_start(), &arrival.packet);
            let mut port = arrival.port;
            if takes_turns {
                port = self.router.take_turn(bank.owner, packet);
            }
            self.links[port.index()].take_in(now, packet, &mut |packet| lost.lose(packet));
        }
        bank.inbox.clear();
    }

    /// Settles what leaves the bank's ports and hands on what reaches switches: when something
    /// changes next.
    fn hand_on(&mut self, bank: usize) -> Time {
        let mut next_change = Time::MAX;
        let end = self.end_at(self.banks[bank].owner);
        let level = self.banks[bank].level;
        let ports = std::mem::take(&mut self.banks[bank].ports);
        for port in &ports {
            let link = &mut self.links[port.index()];
            link.catch_up(end - INSTANT, &mut unseen);
            if !self.layout.leads_to_host[port.index()] {
                self.hand_over(*port, level);
            }
            next_change = next_change.min(self.links[port.index()].next_change());
        }
        self.banks[bank].ports = ports;
        self.is_idle[bank] = next_change == Time::MAX;
        next_change
    }

    /// Hands what arrives at the switch behind a port of `level` to the banks through which it goes on.
    fn hand_over(&mut self, port: PortId, level: usize) {
        let node = self.links[port.index()].peer;
        let end = self.end_at(node);
        let rank = self.layout.rank_of[port.index()];
        self.crossed.take(&mut self.links[port.index()], port, end, |one| {
            let next = self.router.next(level, node, &one.packet);
            let bank = self.layout.bank_of[next.index()] as usize;
            self.banks[bank].inbox.push(one.arrival - self.start, rank, &one.packet, next);
            self.is_idle[bank] = false;
        });
    }

    /// The end of the window that follows the last one and has begun, the ports' next change being
    /// then. What is under way may be anywhere, and arrive at a host as soon as it changes; but what
    /// comes to change later than ports have been brought is farther off.
    fn end_after(&self, next_change: Time) -> Time {
        let Layout { longest, last_way, .. } = self.layout;
        if next_change == Time::MAX {
            return self.start.saturating_add(longest);
        }
        let known = self.end.saturating_add(longest).min(self.limit.saturating_add(last_way));
        known.max(self.start.saturating_add(last_way))
    }

    /// The first instant that no port may reach in this window, if none may go past `last`.
    fn limit(&self, last: Time) -> Time {
        last.saturating_add(INSTANT).min(self.start.saturating_add(self.layout.reach))
    }

    /// The first instant that is unknown to the ports of a node.
    #[inline]
    fn end_at(&self, node: NodeId) -> Time {
        self.end.saturating_add(self.layout.lead_of[node.index()]).min(self.limit)
    }

    /// Gathers what arrives at hosts in the window.
    fn gather(&mut self) {
        self.arrivals.clear();
        let banks = self.banks.iter().zip(&self.is_idle);
        for (bank, _) in banks.filter(|(bank, is_idle)| bank.leads_to_hosts && !**is_idle) {
            for port in &bank.ports {
                if self.layout.leads_to_host[port.index()] {
                    let link = &mut self.links[port.index()];
                    let rank = self.layout.rank_of[port.index()];
                    self.crossed.take(link, *port, self.end, |one| {
                        self.arrivals.push(one.arrival - self.start, rank, &one.packet, *port);
                    });
                }
            }
        }
        self.undelivered = self.slots.fill(&mut self.arrivals, self.end - self.start);
        self.look_ahead();
    }

    #[inline]
    fn look_ahead(&mut self) {
        let next = self.undelivered.peek(&self.arrivals);
        self.next_arrival = next.map_or(Time::MAX, |next| self.start + next.since_start());
    }
}

impl Crossed {
    /// Takes what arrives behind the port before `end` off its link, and hands on what is not lost.
    #[inline]
    fn take<H: Header, P: Port<Packet<H>>>(
        &mut self,
        link: &mut Link<H, P>,
        port: PortId,
        end: Time,
        mut hand_on: impl FnMut(&OnTheWay<H>),
    ) {
        let (loses, mut count, mut bytes, mut losses) = (self.loses, 0, 0, 0);
        while let Some(one) = link.due(count, end) {
            if loses && link.loses(self.seed ^ u64::from(port.0), count) {
                losses += 1;
                self.lost.lose(&one.packet);
            } else {
                hand_on(one);
            }
            bytes += u64::from(one.packet.wire);
            count += 1;
        }
        let last = count.checked_sub(1).and_then(|before| link.due(before, end));
        self.last_hop = last.map_or(self.last_hop, |last| self.last_hop.max(last.arrival));
        self.packet_hops += count as u64;
        link.note_losses(losses);
        link.take_off(count, bytes);
    }
}

impl<H: Header, P: Port<Packet<H>>> Fabric<H> for Windows<'_, H, P> {
    const HAS_TIMERS: bool = false;

    #[inline]
    fn send(&mut self, host: HostId, packet: Packet<H>, now: Time) {
        let port = self.network.nic(host);
        let lost = &mut self.crossed.lost;
        self.links[port.index()].take_in(now, &packet, &mut |packet| lost.lose(packet));
        self.is_idle[self.layout.bank_of[port.index()] as usize] = false;
    }

    #[inline]
    fn next_arrival(&self) -> Time {
        self.next_arrival
    }

    #[inline]
    fn deliver(&mut self) -> Option<(HostId, Packet<H>)> {
        let packet = self.undelivered.pop(&self.slots, &self.arrivals)?.packet;
        self.look_ahead();
        Some((HostId(packet.to), packet))
    }

    #[inline]
    fn horizon(&self) -> Time {
        self.end
    }

    fn advance(&mut self, next: Time, last: Time) -> Time {
        self.limit = self.limit(last);
        let next_change = self.carry();
        let start = next.min(next_change);
        if start <= last && start < Time::MAX {
            self.start = start;
            let end = self.end_after(next_change);
            self.limit = self.limit(last);
            self.end = end.min(self.limit);
            self.gather();
        }
        start
    }

    fn next_timer(&self) -> Time {
        Time::MAX
    }

    fn on_timer(&mut self, _: Time) {}

    fn sample(&mut self, now: Time, samples: &mut Vec<PortSample>) {
        self.carry();
        for link in &mut self.links {
            link.catch_up(now, &mut unseen);
            link.begin_until(now);
        }
        sample_all(&self.links, now, samples);
    }

    fn is_quiet(&self) -> bool {
        self.is_idle.iter().all(|is_idle| *is_idle)
    }

    fn last_hop(&self) -> Time {
        self.crossed.last_hop
    }

    fn tally(self) -> Tally {
        Tally {
            packet_hops: self.crossed.packet_hops,
            drops: self.links.iter().map(Link::drops).sum(),
            marks: self.links.iter().map(Link::marks).sum(),
            lost: Losses::<H>::flows(self.crossed.lost),
        }
    }
}
