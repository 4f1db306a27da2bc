//! A port and the link behind it.

use flowsched_schemes::Packet;
use flowsched_schemes::packet::{Frame, Header};
use flowsched_schemes::port::{Backlog, Line, Port, Ring};
use flowsched_topology::{LinkEnd, Loss, NodeId, mix};
use flowsched_units::Time;

use flowsched_schemes::world::{PortSample, PortState};

/// One direction of a link: the port, and the packets on their way.
///
/// What every packet needs comes first, in one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Link<H, P> {
    pub(crate) line: Line,
    /// When each packet arrives at the far end, in order.
    on_the_way: Ring<OnTheWay<H>>,
    pub(crate) delay: Time,
    /// Packets that wait in the port.
    waiting: u32,
    /// The far end.
    pub(crate) peer: NodeId,
    /// The packets that have left, including those on their way, and their bytes.
    sent_packets: u64,
    sent_bytes: u64,
    pub(crate) port: P,
    /// Packets dropped at the port or lost on the way.
    drops: u64,
    pub(crate) loss: Loss,
}

/// A packet that left, and when it arrives at the far end.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(crate) struct OnTheWay<H> {
    pub(crate) arrival: Time,
    pub(crate) packet: Packet<H>,
}

/// A callback for each packet whose first bit leaves. It gets the time, the packet, and what still
/// waits.
pub(crate) trait Departs<H>: FnMut(Time, &mut Packet<H>, Backlog) {}

impl<H, F: FnMut(Time, &mut Packet<H>, Backlog)> Departs<H> for F {}

impl<H: Header, P: Port<Packet<H>>> Link<H, P> {
    pub(crate) fn new(port: P, link: LinkEnd) -> Link<H, P> {
        Link {
            line: Line::new(link.rate),
            on_the_way: Ring::default(),
            delay: link.delay,
            waiting: 0,
            peer: link.peer,
            sent_packets: 0,
            sent_bytes: 0,
            port,
            drops: 0,
            loss: link.loss,
        }
    }

    /// Settles which packets left up to `now`. Nothing that is yet to come can change this. Hands each
    /// packet to `departs` when its first bit leaves, with that time and what still waits.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Time, departs: &mut impl Departs<H>) {
        // One branch that is seldom taken is faster than two that cannot be predicted; also below.
        if self.next_departure() <= now {
            self.settle(now, departs);
        }
    }

    /// Settles which packets left up to `now` if no packet is on its way. Otherwise this does not matter
    /// at a delivery.
    #[inline]
    pub(crate) fn catch_up_if_empty(&mut self, now: Time, departs: &mut impl Departs<H>) {
        // `waiting` exceeds this only if nothing is on its way.
        let least = (self.on_the_way.len() as u64) << u32::BITS;
        if u64::from(self.waiting) > least {
            self.catch_up(now, departs);
        }
    }

    fn settle(&mut self, now: Time, departs: &mut impl Departs<H>) {
        while self.line.free_at() <= now {
            let Some(mut packet) = self.port.dequeue() else { break };
            self.send(&mut packet, self.line.free_at(), departs);
        }
        self.waiting = self.port.backlog().packets;
    }

    /// Sends a packet whose first bit leaves at `start`.
    #[inline]
    fn send(&mut self, packet: &mut Packet<H>, start: Time, departs: &mut impl Departs<H>) {
        departs(start, packet, self.port.backlog());
        self.sent_bytes += u64::from(packet.wire_bytes());
        self.sent_packets += 1;
        let arrival = self.line.send(packet.wire_bytes(), start).saturating_add(self.delay);
        let place = self.on_the_way.add_place();
        place.arrival = arrival;
        place.packet = *packet;
    }

    /// A packet comes to the port, which must be caught up to `now`. `elsewhere` is the number of bytes
    /// that wait in the switch's other ports.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        now: Time,
        packet: &mut Packet<H>,
        elsewhere: u64,
        lost: &mut impl FnMut(&Packet<H>),
        departs: &mut impl Departs<H>,
    ) {
        let drops = &mut self.drops;
        let dropped = |packet| {
            *drops += 1;
            lost(&packet);
        };
        if self.line.free_at() > now {
            self.port.enqueue(*packet, elsewhere, dropped);
            self.waiting = self.port.backlog().packets;
        } else if self.port.pass(packet, elsewhere, dropped) {
            self.send(packet, now, departs);
        }
    }

    /// Removes the packet that arrives next at the far end, and returns it.
    #[inline]
    pub(crate) fn deliver(&mut self) -> Option<Packet<H>> {
        let packet = self.on_the_way.front()?.packet;
        self.on_the_way.remove_front();
        Some(packet)
    }

    /// Whether the packet that arrives next at the far end is lost. `stream` seeds the link's random
    /// numbers.
    pub(crate) fn loses(&self, stream: u64) -> bool {
        // The number of the packet among those that arrived.
        let number = self.sent_packets + 1 - self.on_the_way.len() as u64;
        self.loss.strikes((mix(mix(stream) ^ number) >> 32) as u32)
    }

    /// Counts a packet that was lost on the way.
    pub(crate) fn note_loss(&mut self) {
        self.drops += 1;
    }

    /// When the next packet arrives at the far end.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Option<Time> {
        self.on_the_way.front().map(|first| first.arrival)
    }

    pub(crate) fn shares_memory(&self) -> bool {
        self.port.shares_memory()
    }

    /// What waits in the port.
    pub(crate) fn backlog(&self) -> Backlog {
        self.port.backlog()
    }

    pub(crate) fn drops(&self) -> u64 {
        self.drops
    }

    pub(crate) fn marks(&self) -> u64 {
        self.port.marks()
    }

    /// When the next packet leaves the queue if nothing else happens: [`Time::MAX`] if none waits.
    #[inline]
    pub(crate) fn next_departure(&self) -> Time {
        if self.waiting > 0 { self.line.free_at() } else { Time::MAX }
    }

    /// The state of the port at `time`, up to which it must be caught up, as a probe sees it.
    pub(crate) fn state(&self, time: Time, port: u32) -> PortState {
        PortState { sample: self.sample(time, port), unsent_bytes: self.line.unsent_bytes(time) }
    }

    /// A sample of the port at `time`, up to which it must be caught up.
    pub(crate) fn sample(&self, time: Time, port: u32) -> PortSample {
        let backlog = self.backlog();
        let on_the_way = self.on_the_way.iter();
        let in_flight_bytes: u64 = on_the_way.map(|one| u64::from(one.packet.wire_bytes())).sum();
        PortSample {
            time,
            port,
            queue_bytes: backlog.bytes,
            queue_packets: backlog.packets,
            sent_bytes: self.sent_bytes,
            sent_packets: self.sent_packets,
            in_flight_bytes,
            drops: self.drops,
            marks: self.port.marks(),
        }
    }
}
