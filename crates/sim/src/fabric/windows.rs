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

use super::banks::{Bank, Behind, Inbox, Layout};
use super::{Fabric, Tally, loses, note, sample_all};
use crate::job::Job;
use crate::link::{Link, OnTheWay, unseen};
use crate::routing::Router;

/// All links, and what reaches hosts in the present window.
#[derive(Debug)]
pub(crate) struct Windows<'a, H, P> {
    network: &'a Network,
    links: Vec<Link<H, P>>,
    router: Router<'a>,
    banks: Vec<Bank<H>>,
    layout: Layout,
    /// What arrives at hosts in the window, and how much of it was delivered.
    arrivals: Inbox<H>,
    delivered: usize,
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
    lost: Vec<u32>,
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
        let Some((layout, banks, arrivals)) = Layout::divide(job.network) else {
            return Err(links);
        };
        Ok(Windows {
            network: job.network,
            links,
            router: Router::new(job, false, H::IS_SPREAD),
            banks,
            layout,
            arrivals,
            delivered: 0,
            next_arrival: Time::MAX,
            start: Time::ZERO,
            end: Time::ZERO,
            limit: Time::ZERO,
            crossed: Crossed {
                loses: loses(job),
                seed: mix(job.seed),
                lost: Vec::new(),
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
            if !self.banks[bank].is_idle {
                self.take_in(bank);
                next_change = next_change.min(self.hand_on(bank));
            }
        }
        next_change
    }

    /// The bank's ports take in what reaches them.
    fn take_in(&mut self, bank: usize) {
        let bank = &mut self.banks[bank];
        let lost = &mut self.crossed.lost;
        bank.inbox.sort();
        for (since_start, packet) in bank.inbox.in_order() {
            let now = self.start + since_start;
            let port = if bank.has_choice {
                self.router.next(bank.owner, &packet)
            } else {
                self.router.only(bank.owner, HostId(packet.to))
            };
            self.links[port.index()].take_in(now, packet, &mut |packet| note(lost, &packet));
        }
        bank.inbox.clear();
    }

    /// Settles what leaves the bank's ports and hands on what reaches switches: when something
    /// changes next.
    fn hand_on(&mut self, bank: usize) -> Time {
        let mut next_change = Time::MAX;
        let end = self.end_at(self.banks[bank].owner);
        let ports = std::mem::take(&mut self.banks[bank].ports);
        for port in &ports {
            let link = &mut self.links[port.index()];
            link.catch_up(end - INSTANT, &mut unseen);
            match self.layout.behind[port.index()] {
                Behind::Host => {}
                Behind::Bank(next) => self.hand_to(*port, next),
                Behind::Banks => self.hand_out(*port),
            }
            next_change = next_change.min(self.links[port.index()].next_change());
        }
        let bank = &mut self.banks[bank];
        bank.ports = ports;
        bank.is_idle = next_change == Time::MAX;
        next_change
    }

    /// Hands what arrives behind the port to one bank.
    fn hand_to(&mut self, port: PortId, next: u32) {
        let end = self.end_at(self.banks[next as usize].owner);
        let (link, bank) = (&mut self.links[port.index()], &mut self.banks[next as usize]);
        let rank = self.layout.rank_of[port.index()];
        let count = self.crossed.take(link, port, end, |packets| {
            bank.inbox.extend(self.start, rank, packets);
        });
        bank.is_idle &= count == 0;
    }

    /// Hands what arrives behind the port to the banks that its destinations ask for.
    fn hand_out(&mut self, port: PortId) {
        let (node, routes) = (self.links[port.index()].peer, self.network.routes());
        let end = self.end_at(node);
        let link = &mut self.links[port.index()];
        let rank = self.layout.rank_of[port.index()];
        self.crossed.take(link, port, end, |packets| {
            for one in packets {
                let ports = routes.next(node, HostId(one.packet.to));
                let bank = &mut self.banks[self.layout.bank_of[ports[0].index()] as usize];
                bank.inbox.extend(self.start, rank, std::slice::from_ref(one));
                bank.is_idle = false;
            }
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
        for bank in self.banks.iter().filter(|bank| bank.leads_to_hosts && !bank.is_idle) {
            for port in &bank.ports {
                if self.layout.behind[port.index()] == Behind::Host {
                    let link = &mut self.links[port.index()];
                    let rank = self.layout.rank_of[port.index()];
                    self.crossed.take(link, *port, self.end, |packets| {
                        self.arrivals.extend(self.start, rank, packets);
                    });
                }
            }
        }
        self.arrivals.sort();
        self.delivered = 0;
        self.look_ahead();
    }

    #[inline]
    fn look_ahead(&mut self) {
        let next = self.arrivals.since_start(self.delivered);
        self.next_arrival = next.map_or(Time::MAX, |since_start| self.start + since_start);
    }
}

impl Crossed {
    /// Takes what arrives behind the port before `end` off its link, and hands on what is not lost;
    /// how many packets arrive.
    #[inline]
    fn take<H: Header, P: Port<Packet<H>>>(
        &mut self,
        link: &mut Link<H, P>,
        port: PortId,
        end: Time,
        mut hand_on: impl FnMut(&[OnTheWay<H>]),
    ) -> usize {
        let due = link.due(end);
        let count = due[0].len() + due[1].len();
        let Some(last) = due[1].last().or(due[0].last()) else { return 0 };
        self.packet_hops += count as u64;
        self.last_hop = self.last_hop.max(last.arrival);
        if self.loses {
            self.take_with_loss(link, port, count, hand_on);
        } else {
            let [first, second] = due;
            hand_on(first);
            hand_on(second);
            link.take_off(count);
        }
        count
    }

    #[cold]
    fn take_with_loss<H: Header, P: Port<Packet<H>>>(
        &mut self,
        link: &mut Link<H, P>,
        port: PortId,
        count: usize,
        mut hand_on: impl FnMut(&[OnTheWay<H>]),
    ) {
        for _ in 0..count {
            let Some(one) = link.deliver() else { break };
            if link.loses(self.seed ^ u64::from(port.0)) {
                note(&mut self.lost, &one.packet);
            } else {
                hand_on(&[one]);
            }
        }
    }
}

impl<H: Header, P: Port<Packet<H>>> Fabric<H> for Windows<'_, H, P> {
    const HAS_TIMERS: bool = false;

    #[inline]
    fn send(&mut self, host: HostId, packet: Packet<H>, now: Time) {
        let port = self.network.nic(host);
        let lost = &mut self.crossed.lost;
        self.links[port.index()].take_in(now, packet, &mut |packet| note(lost, &packet));
        self.banks[self.layout.bank_of[port.index()] as usize].is_idle = false;
    }

    #[inline]
    fn next_arrival(&self) -> Time {
        self.next_arrival
    }

    #[inline]
    fn deliver(&mut self) -> Option<(HostId, Packet<H>)> {
        let packet = self.arrivals.packet(self.delivered);
        self.delivered += 1;
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
        self.banks.iter().all(|bank| bank.is_idle)
    }

    fn last_hop(&self) -> Time {
        self.crossed.last_hop
    }

    fn tally(self) -> Tally {
        Tally {
            packet_hops: self.crossed.packet_hops,
            drops: self.links.iter().map(Link::drops).sum(),
            marks: self.links.iter().map(Link::marks).sum(),
            lost: self.crossed.lost,
        }
    }
}
