//! A port and the link behind it.

use flowsched_schemes::Packet;
use flowsched_schemes::packet::{Frame, Header};
use flowsched_schemes::port::{Backlog, Fate, Port, Ring};
use flowsched_topology::{LinkEnd, Loss, NodeId, mix};
use flowsched_units::Time;

use flowsched_schemes::world::PortSample;

/// One direction of a link: the port, and the packets on their way.
///
/// What every packet needs comes first, in one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Link<H, P> {
    /// The packet being sent leaves now, or the last one left then.
    busy_until: Time,
    /// When each packet arrives at the far end, in order.
    on_the_way: Ring<OnTheWay<H>>,
    /// Picoseconds a byte takes, in units of 2^-24 ps.
    byte_time: u64,
    delay: Time,
    /// Bytes and packets at the end of those on the way that had not begun to leave when this was
    /// last looked at: see [`Link::take_in`].
    early_bytes: u64,
    early_packets: u32,
    /// Up to this many early bytes, a packet is put on the way without further questions.
    unhindered: u32,
    /// Whether the port puts packets on the way before they leave.
    is_in_order: bool,
    /// Packets that wait in the port.
    waiting: u32,
    /// The far end.
    pub(crate) peer: NodeId,
    port: P,
    arrived_bytes: u64,
    arrived_packets: u64,
    /// Packets dropped at the port or lost on the way.
    drops: u64,
    loss: Loss,
}

/// A packet that left, and when it arrives at the far end; half a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(crate) struct OnTheWay<H> {
    pub(crate) arrival: Time,
    pub(crate) packet: Packet<H>,
}

const FRACTION_BITS: u32 = 24;

/// What looks at each packet whose first bit leaves: at which time, and what still waits.
pub(crate) trait Departs<H>: FnMut(Time, &mut Packet<H>, Backlog) {}

impl<H, F: FnMut(Time, &mut Packet<H>, Backlog)> Departs<H> for F {}

/// Looks at nothing.
pub(crate) fn unseen<H>(_: Time, _: &mut Packet<H>, _: Backlog) {}

impl<H: Header, P: Port<Packet<H>>> Link<H, P> {
    pub(crate) fn new(port: P, link: LinkEnd) -> Link<H, P> {
        let byte_time =
            (8_000_000_000_000_u128 << FRACTION_BITS) / u128::from(link.rate.as_bps().max(1));
        let in_order = port.in_order();
        Link {
            busy_until: Time::ZERO,
            on_the_way: Ring::default(),
            byte_time: u64::try_from(byte_time).unwrap_or(u64::MAX),
            delay: link.delay,
            early_bytes: 0,
            early_packets: 0,
            unhindered: in_order.map_or(0, |bytes| bytes.get().min(u64::from(u32::MAX)) as u32),
            is_in_order: in_order.is_some(),
            waiting: 0,
            peer: link.peer,
            port,
            arrived_bytes: 0,
            arrived_packets: 0,
            drops: 0,
            loss: link.loss,
        }
    }

    /// Settles which packets left up to `now`: nothing that is yet to come can change it. Each of
    /// them goes to `departs` when its first bit leaves, with that time and what still waits.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Time, departs: &mut impl Departs<H>) {
        // One branch, seldom taken, rather than two that cannot be guessed; also below.
        if (self.busy_until <= now) & (self.waiting > 0) {
            self.settle(now, departs);
        }
    }

    /// Settles what left if nothing else is on its way: only then does it matter at a delivery.
    #[inline]
    pub(crate) fn catch_up_if_empty(&mut self, now: Time, departs: &mut impl Departs<H>) {
        if self.on_the_way.is_empty() & (self.waiting > 0) {
            self.catch_up(now, departs);
        }
    }

    fn settle(&mut self, now: Time, departs: &mut impl Departs<H>) {
        while self.busy_until <= now {
            let Some(packet) = self.port.dequeue() else { break };
            self.send(packet, self.busy_until, departs);
        }
        self.waiting = self.port.backlog().packets;
    }

    #[inline]
    fn send(&mut self, mut packet: Packet<H>, start: Time, departs: &mut impl Departs<H>) {
        departs(start, &mut packet, self.port.backlog());
        self.put_on_the_way(&packet, start);
    }

    /// The packet's first bit leaves at `start`.
    #[inline]
    fn put_on_the_way(&mut self, packet: &Packet<H>, start: Time) {
        let bytes = packet.wire_bytes();
        let duration = (u128::from(bytes) * u128::from(self.byte_time)) >> FRACTION_BITS;
        self.busy_until = start.saturating_add(Time::from_ps(duration as u64));
        let arrival = self.busy_until.saturating_add(self.delay);
        self.on_the_way.push(OnTheWay { arrival, packet: *packet });
    }

    /// A packet comes to the port; no later packet has come. Where packets leave in order, it is put
    /// on the way at once.
    #[inline]
    pub(crate) fn take_in(
        &mut self,
        now: Time,
        packet: &Packet<H>,
        lost: &mut impl FnMut(&Packet<H>),
    ) {
        let is_unhindered = self.unhindered > 0 && {
            self.begin_until(now);
            self.early_bytes + u64::from(packet.wire_bytes()) <= u64::from(self.unhindered)
        };
        if is_unhindered {
            self.line_up(now, packet);
        } else if self.is_in_order {
            self.admit(now, packet, lost);
        } else {
            self.catch_up(now, &mut unseen);
            self.offer(now, *packet, 0, lost, &mut unseen);
        }
    }

    /// Puts a packet on the way behind those that are there.
    #[inline]
    fn line_up(&mut self, now: Time, packet: &Packet<H>) {
        if self.busy_until > now {
            self.early_bytes += u64::from(packet.wire_bytes());
            self.early_packets += 1;
        }
        self.put_on_the_way(packet, self.busy_until.max(now));
    }

    /// Asks the port what happens to a packet.
    #[inline(never)]
    fn admit(&mut self, now: Time, packet: &Packet<H>, lost: &mut impl FnMut(&Packet<H>)) {
        self.begin_until(now);
        let waiting = Backlog { bytes: self.early_bytes, packets: self.early_packets };
        match self.port.admit(packet, waiting) {
            Fate::Taken => self.line_up(now, packet),
            Fate::Marked => {
                let mut marked = *packet;
                marked.mark();
                self.line_up(now, &marked);
            }
            Fate::Dropped => {
                self.drops += 1;
                lost(packet);
            }
        }
    }

    /// Finds which packets on the way have begun to leave up to `now`.
    #[inline]
    pub(crate) fn begin_until(&mut self, now: Time) {
        if self.busy_until <= now {
            (self.early_bytes, self.early_packets) = (0, 0);
        }
        while self.early_packets > 0 && self.begins_by(now) {
            self.begin_one();
        }
    }

    /// How many of the packets on the way have begun to leave.
    #[inline]
    fn begun(&self) -> usize {
        self.on_the_way.len() - self.early_packets as usize
    }

    /// Whether the next packet begins to leave up to `now`: when the one before it has left.
    #[inline]
    fn begins_by(&self, now: Time) -> bool {
        let before = self.begun().checked_sub(1).and_then(|place| self.on_the_way.get(place));
        before.is_none_or(|before| before.arrival.saturating_sub(self.delay) <= now)
    }

    #[inline]
    fn begin_one(&mut self) {
        if let Some(next) = self.on_the_way.get(self.begun()) {
            self.early_bytes -= u64::from(next.packet.wire_bytes());
            self.early_packets -= 1;
        }
    }

    /// A packet comes to the port, which has been caught up; `elsewhere` is what waits in the
    /// switch's other ports.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        now: Time,
        packet: Packet<H>,
        elsewhere: u64,
        lost: &mut impl FnMut(&Packet<H>),
        departs: &mut impl Departs<H>,
    ) {
        let drops = &mut self.drops;
        let dropped = |packet| {
            *drops += 1;
            lost(&packet);
        };
        if self.busy_until > now {
            self.port.enqueue(packet, elsewhere, dropped);
            self.waiting = self.port.backlog().packets;
        } else if let Some(packet) = self.port.pass(packet, elsewhere, dropped) {
            self.send(packet, now, departs);
        }
    }

    /// Takes the packet that arrives at the far end first.
    #[inline]
    pub(crate) fn deliver(&mut self) -> Option<OnTheWay<H>> {
        let first = self.on_the_way.pop()?;
        self.arrived_bytes += u64::from(first.packet.wire_bytes());
        self.arrived_packets += 1;
        Some(first)
    }

    /// The packet that arrives at the far end after this many others, if that is before `end`.
    #[inline]
    pub(crate) fn due(&self, after: usize, end: Time) -> Option<&OnTheWay<H>> {
        self.on_the_way.get(after).filter(|one| one.arrival < end)
    }

    /// Takes this many of the packets that arrive at the far end first off the link; this many bytes.
    #[inline]
    pub(crate) fn take_off(&mut self, count: usize, bytes: u64) {
        while self.begun() < count {
            self.begin_one();
        }
        self.on_the_way.skip(count);
        self.arrived_bytes += bytes;
        self.arrived_packets += count as u64;
    }

    /// When a packet arrives at the far end, or the port chooses the next one; [`Time::MAX`]: not
    /// before another packet comes.
    #[inline]
    pub(crate) fn next_change(&self) -> Time {
        let choice = if self.waiting > 0 { self.busy_until } else { Time::MAX };
        self.next_arrival().map_or(choice, |arrival| arrival.min(choice))
    }

    /// Whether the packet that arrives at the far end after this many others is lost; `stream` tells
    /// the link's random numbers from other links'.
    pub(crate) fn loses(&self, stream: u64, after: usize) -> bool {
        let arrived = self.arrived_packets + after as u64 + 1;
        self.loss.strikes((mix(mix(stream) ^ arrived) >> 32) as u32)
    }

    /// So many packets were lost on the way.
    pub(crate) fn note_losses(&mut self, count: u64) {
        self.drops += count;
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
        let Backlog { bytes, packets } = self.port.backlog();
        Backlog { bytes: bytes + self.early_bytes, packets: packets + self.early_packets }
    }

    pub(crate) fn drops(&self) -> u64 {
        self.drops
    }

    pub(crate) fn marks(&self) -> u64 {
        self.port.marks()
    }

    /// The port as it is; it has been caught up to `time`.
    pub(crate) fn sample(&self, time: Time, port: u32) -> PortSample {
        let backlog = self.backlog();
        let begun = self.on_the_way.iter().take(self.begun());
        let in_flight_bytes: u64 = begun.map(|one| u64::from(one.packet.wire_bytes())).sum();
        PortSample {
            time,
            port,
            queue_bytes: backlog.bytes,
            queue_packets: backlog.packets,
            sent_bytes: self.arrived_bytes + in_flight_bytes,
            sent_packets: self.arrived_packets + self.begun() as u64,
            in_flight_bytes,
            drops: self.drops,
            marks: self.port.marks(),
        }
    }
}
