//! The packets on their way to ports and hosts.

use flowsched_schemes::Packet;
use flowsched_schemes::packet::{Flags, Header};
use flowsched_topology::{NodeId, PortId};
use flowsched_units::Time;

use super::Losses;
use super::arrival::Arrival;
use super::arrivals::Inbox;
use super::banks::Layout;
use super::crossing::Post;
use crate::division::Division;
use crate::routing::{Remembered, Row};

/// All inboxes, and which ports have something to do.
#[derive(Debug)]
pub(super) struct Transit<'a, H, L> {
    router: Remembered<'a>,
    layout: Layout,
    /// The packets on their way to each port.
    pub(super) inboxes: Vec<Inbox<H>>,
    /// Packets that have yet to choose among the ports of a node and level, kept with the first of these
    /// ports. Empty unless packets take turns.
    turns: Vec<Inbox<H>>,
    active: Active,
    /// Packets that reach hosts after the present window.
    pub(super) to_hosts: Inbox<H>,
    /// Packets that will not reach the end of their link.
    lost_on_the_way: Vec<Arrival<H>>,
    pub(super) lost: L,
}

impl<'a, H: Header, L: Losses<H>> Transit<'a, H, L> {
    pub(super) fn new(router: Remembered<'a>, layout: Layout, lost: L) -> Transit<'a, H, L> {
        let ports = layout.order.len();
        let with_turns = if router.takes_turns() { ports } else { 0 };
        Transit {
            inboxes: vec![Inbox::default(); ports],
            turns: vec![Inbox::default(); with_turns],
            active: Active::new(ports),
            to_hosts: Inbox::default(),
            lost_on_the_way: Vec::new(),
            lost,
            router,
            layout,
        }
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// A packet comes to a port at `at`, from its host or over the link behind `from`.
    #[inline]
    pub(super) fn enter(&mut self, port: PortId, at: Time, from: PortId, packet: &Packet<H>) {
        let inbox = &mut self.inboxes[port.index()];
        if inbox.is_near_empty() {
            self.active.set(self.layout.place_of[port.index()]);
        }
        inbox.push(at, from, packet);
    }

    /// A controller's message is at the switch `node`, where it was sent or where it arrives over the link
    /// behind `from`. Messages start anywhere, so the ways that the router remembers for ACKs are not theirs.
    #[inline(never)]
    pub(super) fn speak(&mut self, node: NodeId, at: Time, from: PortId, message: &Packet<H>) {
        if self.takes_turns() {
            self.await_turn(node, at, from, message);
        } else {
            let next = self.router.choose(node, message);
            self.enter(next, at, from, message);
        }
    }

    /// A packet that may be a message reaches a switch where packets do not take turns.
    #[inline(always)]
    pub(super) fn reach_or_speak(
        &mut self,
        to: (NodeId, Row),
        at: Time,
        from: PortId,
        packet: &Packet<H>,
    ) {
        if packet.flags.has(Flags::MESSAGE) {
            self.speak(to.0, at, from, packet);
        } else {
            self.reach(to, at, from, packet);
        }
    }

    /// The remembered ways of packets that have come through a port of `level`.
    pub(super) fn row(&self, level: u32) -> Row {
        self.router.row(level)
    }

    /// The packet reaches a switch, at the end of the link behind `from`, at `at`.
    // A call for each packet would cost more than it does.
    #[inline(always)]
    pub(super) fn reach(&mut self, to: (NodeId, Row), at: Time, from: PortId, packet: &Packet<H>) {
        let next = self.router.remembered(to.1, packet);
        // One comparison tells whether the way is known and whether there is such an inbox.
        let Some(inbox) = self.inboxes.get_mut(next.index()) else {
            return self.find_way(to, at, from, packet);
        };
        if inbox.is_near_empty() {
            self.active.set(self.layout.place_of[next.index()]);
        }
        inbox.push(at, from, packet);
    }

    /// The packet, which may be a message, reaches a switch after the present window.
    #[inline(always)]
    pub(super) fn reach_later(
        &mut self,
        to: (NodeId, Row),
        at: Time,
        from: PortId,
        packet: &Packet<H>,
    ) {
        let next = self.router.remembered(to.1, packet);
        if packet.flags.has(Flags::MESSAGE) | (next.index() >= self.inboxes.len()) {
            return self.reach_or_speak(to, at, from, packet);
        }
        self.active.set(self.layout.place_of[next.index()]);
        self.inboxes[next.index()].push_later(at, from, packet);
    }

    /// The packet reaches a switch, and its way is not remembered yet.
    #[cold]
    #[inline(never)]
    fn find_way(&mut self, (node, row): (NodeId, Row), at: Time, from: PortId, packet: &Packet<H>) {
        let next = self.router.look_up(row, node, packet);
        self.enter(next, at, from, packet);
    }

    /// The packet reaches a switch where packets take turns. If it has no choice it goes on at once.
    #[inline]
    pub(super) fn await_turn(&mut self, node: NodeId, at: Time, from: PortId, packet: &Packet<H>) {
        let ports = self.router.choices(node, packet);
        let next = ports[0];
        if ports.len() == 1 {
            self.enter(next, at, from, packet);
            return;
        }
        let first = self.layout.first_of[next.index()];
        let turns = &mut self.turns[first.index()];
        if turns.is_near_empty() {
            self.active.set(self.layout.place_of[first.index()]);
        }
        turns.push(at, from, packet);
    }

    /// The packet reaches a switch, whether packets take turns there or not.
    #[inline(never)]
    pub(super) fn reach_in_any_way(
        &mut self,
        to: (NodeId, Row),
        at: Time,
        from: PortId,
        packet: &Packet<H>,
    ) {
        if self.takes_turns() {
            self.await_turn(to.0, at, from, packet);
        } else {
            self.reach_or_speak(to, at, from, packet);
        }
    }

    /// Whether packets may take turns.
    pub(super) fn takes_turns(&self) -> bool {
        !self.turns.is_empty()
    }

    /// Posts the packets that are for ports of other parts.
    pub(super) fn post(&mut self, post: &Post<H>, division: &Division, part: usize) {
        let mut place = self.layout.own();
        while let Some((active, port)) = self.next_active(place) {
            post.send(part, division.of_port(port), port, &mut self.inboxes[port.index()]);
            self.active.clear(active);
            place = active + 1;
        }
    }

    /// Takes in the packets that other parts have posted.
    pub(super) fn take_in(&mut self, post: &Post<H>, part: usize) {
        post.receive(part, |port, arrivals| {
            self.active.set(self.layout.place_of[port.index()]);
            self.inboxes[port.index()].take_in(arrivals);
        });
    }

    /// A packet will be lost when it gets to the end of its link.
    pub(super) fn lose(&mut self, arrival: Arrival<H>) {
        self.lost_on_the_way.push(arrival);
    }

    /// The packets that take turns at the port and its neighbours, if there are any.
    pub(super) fn turns_at(&mut self, port: PortId) -> Option<&mut Inbox<H>> {
        self.turns.get_mut(port.index()).filter(|turns| !turns.is_empty())
    }

    /// Puts back the packets whose turn has not come.
    pub(super) fn give_back_turns(&mut self, port: PortId, waiting: Inbox<H>) {
        self.turns[port.index()] = waiting;
    }

    /// The port that the packet takes at `node`, now that it is its turn.
    pub(super) fn take_turn(&mut self, node: NodeId, packet: &Packet<H>) -> PortId {
        self.router.choose(node, packet)
    }

    /// The first port with something to do whose place is `place` or later.
    #[inline]
    pub(super) fn next_active(&self, place: u32) -> Option<(u32, PortId)> {
        let place = self.active.next_from(place)?;
        Some((place, self.layout.order[place as usize]))
    }

    /// The port at `place` has nothing to do until something comes.
    #[inline]
    pub(super) fn rest(&mut self, place: u32) {
        self.active.clear(place);
    }

    /// When the first packet after the present window reaches a host.
    pub(super) fn next_at_host(&self) -> Time {
        self.to_hosts.first()
    }

    /// Hands the packets that are lost before `end` to `lost`, with the place of the port before the link.
    /// Returns when the next one is lost.
    pub(super) fn settle_losses(
        &mut self,
        end: Time,
        mut lost: impl FnMut(u32, &Arrival<H>),
    ) -> Time {
        if self.lost_on_the_way.is_empty() {
            return Time::MAX;
        }
        self.lost_on_the_way.retain(|arrival| {
            let is_over = arrival.at < end;
            if is_over {
                self.lost.lose(&arrival.packet);
                lost(self.layout.place_of[arrival.from.index()], arrival);
            }
            !is_over
        });
        self.lost_on_the_way.iter().map(|arrival| arrival.at).min().unwrap_or(Time::MAX)
    }

    /// Whether no packet is on its way.
    pub(super) fn is_quiet(&self) -> bool {
        self.active.next_from(0).is_none()
            && self.lost_on_the_way.is_empty()
            && self.to_hosts.is_empty()
    }

    /// All packets that are on a link.
    pub(super) fn on_links(&self) -> impl Iterator<Item = &Arrival<H>> {
        let inboxes =
            self.layout.order.iter().filter(|port| self.layout.level_of[port.index()] > 0);
        let inboxes = inboxes.flat_map(|port| self.inboxes[port.index()].iter());
        let turns = self.turns.iter().flat_map(Inbox::iter);
        inboxes.chain(turns).chain(&self.lost_on_the_way).chain(self.to_hosts.iter())
    }
}

/// A set of places.
#[derive(Debug)]
struct Active(Vec<u64>);

impl Active {
    fn new(places: usize) -> Active {
        Active(vec![0; places.div_ceil(64)])
    }

    #[inline]
    fn set(&mut self, place: u32) {
        self.0[place as usize / 64] |= 1 << (place % 64);
    }

    #[inline]
    fn clear(&mut self, place: u32) {
        self.0[place as usize / 64] &= !(1 << (place % 64));
    }

    #[inline]
    fn next_from(&self, place: u32) -> Option<u32> {
        let mut word = place as usize / 64;
        let mut bits = self.0.get(word)? & (u64::MAX << (place % 64));
        while bits == 0 {
            word += 1;
            bits = *self.0.get(word)?;
        }
        Some(word as u32 * 64 + bits.trailing_zeros())
    }
}
