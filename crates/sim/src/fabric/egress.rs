//! A port of a window, the link behind it, and what it has sent.

use flowsched_schemes::Packet;
use flowsched_schemes::controller::Controller;
use flowsched_schemes::packet::Header;
use flowsched_schemes::port::{Arrivals, Backlog, Line, Port, Sent, Sink};
use flowsched_schemes::world::PortSample;
use flowsched_topology::{Loss, NodeId, mix};
use flowsched_units::Time;

use super::alarms::Alarm;
use super::arrival::Arrival;
use super::controlled::{Controlled, Looking};
use super::order::Key;

/// A port and its link. The packets on the link are in the inbox of the port or host that they reach.
#[derive(Clone, Debug)]
pub(super) struct Egress<P, C> {
    pub(super) line: Line,
    pub(super) delay: Time,
    pub(super) to: FarEnd,
    /// The least delay of a packet from any host to the port.
    pub(super) lead: Time,
    /// The port has been served up to this instant, exclusive.
    pub(super) served: Time,
    /// Bytes and packets whose transmission has begun.
    pub(super) sent_bytes: u64,
    pub(super) sent_packets: u64,
    /// Packets dropped at the port or lost on the link.
    pub(super) drops: u64,
    pub(super) loss: Loss,
    pub(super) port: P,
    pub(super) controller: C,
}

/// The far end of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct FarEnd {
    pub(super) node: NodeId,
    pub(super) is_host: bool,
    /// The level of the port before the link.
    pub(super) level: u32,
}

/// Whether a link loses the latest of the `sent_packets` packets that it has sent. `stream` seeds its random
/// numbers.
pub(super) fn is_lost(stream: u64, loss: Loss, sent_packets: u64) -> bool {
    loss.strikes((mix(stream ^ sent_packets) >> 32) as u32)
}

impl<P, C> Egress<P, C> {
    /// Shows the packets to a controller that sends messages, before the port takes them in.
    // As a function of its own, the loop has enough registers.
    #[inline(never)]
    pub(super) fn show<H: Header>(
        &mut self,
        inbox: &mut [Arrival<H>],
        keys: &[Key],
        alarm: &mut Alarm,
    ) where
        C: Controller<H>,
    {
        let controller = &mut self.controller;
        if controller.is_blind() {
            return;
        }
        for key in keys {
            let Arrival { at, packet, .. } = &mut inbox[key.index()];
            alarm.catch_up(*at, controller);
            controller.on_forward(*at, packet, Backlog::default, |_| {});
            alarm.set(controller);
        }
    }

    /// The port takes in packets and sends those that leave before `end`, as [`Port::serve`] does. A
    /// controller that sends no messages sees each packet when it comes, and when it leaves if it asks to.
    #[inline]
    pub(super) fn serve<'f, H: Header + 'f>(
        &mut self,
        arrivals: impl Arrivals<'f, Packet<H>>,
        end: Time,
        sink: &mut impl Sink<Packet<H>>,
    ) -> Sent
    where
        P: Port<Packet<H>>,
        C: Controller<H>,
    {
        let Egress { port, controller, line, .. } = self;
        if !C::IS_THERE || C::SENDS {
            return port.serve(line, arrivals, end, sink);
        }
        if !C::LOOKS_AT_DEPARTURES {
            return port.serve(line, arrivals, end, &mut Looking { controller, sink });
        }
        let mut controlled = Controlled { port, controller, line, sink, sent: Sent::default() };
        arrivals.for_each(|(now, packet)| controlled.take_in(now, packet));
        // Up to the last instant before the end.
        controlled.settle(end.saturating_sub(Time::from_ps(1)));
        controlled.sent
    }

    /// When the port chooses its next packet: [`Time::MAX`] if none waits.
    #[inline]
    pub(super) fn next_choice<H: Header>(&self) -> Time
    where
        P: Port<Packet<H>>,
    {
        if self.port.backlog().packets > 0 { self.line.free_at() } else { Time::MAX }
    }

    /// A sample of the port at `time`, up to which it has been served.
    pub(super) fn sample<H: Header>(
        &self,
        time: Time,
        port: u32,
        in_flight_bytes: u64,
    ) -> PortSample
    where
        P: Port<Packet<H>>,
    {
        let backlog = self.port.backlog();
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
