//! Brings the packets that leave a port to the end of its link, unless they are lost on the way.
//!
//! Most links lose nothing and lead to a switch where packets do not take turns. Such links have a sink of
//! their own, which decides nothing per packet.

use std::marker::PhantomData;

use flowsched_schemes::Packet;
use flowsched_schemes::controller::Controller;
use flowsched_schemes::packet::Header;
use flowsched_schemes::port::Sink;
use flowsched_topology::{Loss, NodeId, PortId};
use flowsched_units::Time;

use super::Losses;
use super::arrival::Arrival;
use super::egress::is_lost;
use super::transit::Transit;
use crate::routing::Row;

/// The link behind a port, for as long as the port serves a window.
pub(super) struct Onward<'w, 'a, H, L> {
    pub(super) port: PortId,
    pub(super) delay: Time,
    pub(super) to: (NodeId, Row),
    /// Whether packets that leave in the window reach the end of the link after it.
    pub(super) is_long: bool,
    /// Packets dropped at the port or lost on the link.
    pub(super) drops: u64,
    pub(super) transit: &'w mut Transit<'a, H, L>,
}

impl<H: Header, L: Losses<H>> Onward<'_, '_, H, L> {
    /// When a packet whose last bit leaves at `left` is at the end of the link.
    #[inline(always)]
    fn arrival(&self, left: Time) -> Time {
        // No run is so long that the sum exceeds the range of times.
        left + self.delay
    }

    #[inline]
    fn note_drop(&mut self, packet: &Packet<H>) {
        self.drops += 1;
        self.transit.lost.lose(packet);
    }
}

/// A link without losses to a switch where packets do not take turns.
pub(super) struct ToSwitch<'o, 'w, 'a, H, L, C> {
    onward: &'o mut Onward<'w, 'a, H, L>,
    controller: PhantomData<C>,
}

impl<'o, 'w, 'a, H, L, C> ToSwitch<'o, 'w, 'a, H, L, C> {
    pub(super) fn new(onward: &'o mut Onward<'w, 'a, H, L>) -> ToSwitch<'o, 'w, 'a, H, L, C> {
        ToSwitch { onward, controller: PhantomData }
    }
}

impl<H: Header, L: Losses<H>, C: Controller<H>> Sink<Packet<H>> for ToSwitch<'_, '_, '_, H, L, C> {
    // A call for each packet would cost more than it does.
    #[inline(always)]
    fn sent(&mut self, left: Time, packet: &Packet<H>) {
        let Onward { port, to, is_long, .. } = *self.onward;
        let at = self.onward.arrival(left);
        let transit = &mut self.onward.transit;
        if C::SENDS && is_long {
            transit.reach_later(to, at, port, packet);
        } else if C::SENDS {
            transit.reach_or_speak(to, at, port, packet);
        } else {
            transit.reach(to, at, port, packet);
        }
    }

    #[inline]
    fn dropped(&mut self, packet: Packet<H>) {
        self.onward.note_drop(&packet);
    }
}

/// A link to a host, or to a switch where packets take turns, or one that may lose packets.
pub(super) struct AnyLink<'o, 'w, 'a, H, L> {
    pub(super) onward: &'o mut Onward<'w, 'a, H, L>,
    pub(super) is_to_host: bool,
    /// Whether some links of the network lose packets.
    pub(super) loses: bool,
    pub(super) loss: Loss,
    /// Seeds the link's random numbers.
    pub(super) stream: u64,
    /// The packets that the port has sent, counted where links lose packets.
    pub(super) packets: u64,
}

impl<H: Header, L: Losses<H>> AnyLink<'_, '_, '_, H, L> {
    /// The packet reaches the end of its link at `at`, unless the link loses it.
    #[inline(never)]
    fn go_on(&mut self, at: Time, packet: &Packet<H>) {
        let Onward { port, to, .. } = *self.onward;
        let transit = &mut self.onward.transit;
        self.packets += 1;
        if is_lost(self.stream, self.loss, self.packets) {
            transit.lose(Arrival { at, from: port, packet: *packet });
        } else if self.is_to_host {
            transit.to_hosts.push(at, port, packet);
        } else {
            transit.reach_in_any_way(to, at, port, packet);
        }
    }
}

impl<H: Header, L: Losses<H>> Sink<Packet<H>> for AnyLink<'_, '_, '_, H, L> {
    #[inline(always)]
    fn sent(&mut self, left: Time, packet: &Packet<H>) {
        let at = self.onward.arrival(left);
        let Onward { port, to, is_long, .. } = *self.onward;
        let transit = &mut self.onward.transit;
        if self.loses {
            self.go_on(at, packet);
        } else if self.is_to_host & is_long {
            transit.to_hosts.push_later(at, port, packet);
        } else if self.is_to_host {
            transit.to_hosts.push(at, port, packet);
        } else {
            transit.await_turn(to.0, at, port, packet);
        }
    }

    #[inline]
    fn dropped(&mut self, packet: Packet<H>) {
        self.onward.note_drop(&packet);
    }
}
