//! Serves a port with a controller that sees each packet when it comes, and possibly when it leaves.

use flowsched_schemes::Packet;
use flowsched_schemes::controller::Controller;
use flowsched_schemes::packet::Header;
use flowsched_schemes::port::{Backlog, Line, Port, Sent, Sink};
use flowsched_units::Time;

/// A controller that looks at packets only when they come, and the sink that gets the packets afterwards.
pub(super) struct Looking<'e, C, S> {
    pub(super) controller: &'e mut C,
    pub(super) sink: &'e mut S,
}

impl<H: Header, C: Controller<H>, S: Sink<Packet<H>>> Sink<Packet<H>> for Looking<'_, C, S> {
    const LOOKS: bool = true;

    #[inline]
    fn coming(&mut self, now: Time, packet: &mut Packet<H>, waiting: impl FnMut() -> Backlog) {
        self.controller.on_forward(now, packet, waiting, |_| {});
    }

    #[inline(always)]
    fn sent(&mut self, at: Time, packet: &Packet<H>) {
        self.sink.sent(at, packet);
    }

    #[inline]
    fn dropped(&mut self, packet: Packet<H>) {
        self.sink.dropped(packet);
    }
}

/// A port with a controller that looks at packets when they come and when they leave, and the sink that
/// gets the packets afterwards.
pub(super) struct Controlled<'e, P, C, S> {
    pub(super) port: &'e mut P,
    pub(super) controller: &'e mut C,
    pub(super) line: &'e mut Line,
    pub(super) sink: &'e mut S,
    pub(super) sent: Sent,
}

impl<P, C, S> Controlled<'_, P, C, S> {
    /// The packet comes to the port at `now`.
    #[inline]
    pub(super) fn take_in<H: Header>(&mut self, now: Time, packet: &Packet<H>)
    where
        P: Port<Packet<H>>,
        C: Controller<H>,
        S: Sink<Packet<H>>,
    {
        self.settle(now);
        let mut packet = *packet;
        self.controller.on_forward(now, &mut packet, || self.port.backlog(), |_| {});
        let sink = &mut *self.sink;
        if self.line.free_at() > now {
            self.port.enqueue(packet, 0, |packet| sink.dropped(packet));
        } else if self.port.pass(&mut packet, 0, |packet| sink.dropped(packet)) {
            self.send(now, &mut packet);
        }
    }

    /// Sends waiting packets whose transmission begins at `until` or earlier.
    #[inline]
    pub(super) fn settle<H: Header>(&mut self, until: Time)
    where
        P: Port<Packet<H>>,
        C: Controller<H>,
        S: Sink<Packet<H>>,
    {
        while (self.line.free_at() <= until) & (self.port.backlog().packets > 0) {
            let Some(mut packet) = self.port.dequeue() else { break };
            self.send(self.line.free_at(), &mut packet);
        }
    }

    /// Sends a packet whose first bit leaves at `start`.
    #[inline]
    fn send<H: Header>(&mut self, start: Time, packet: &mut Packet<H>)
    where
        P: Port<Packet<H>>,
        C: Controller<H>,
        S: Sink<Packet<H>>,
    {
        self.controller.on_departure(start, packet, self.port.backlog());
        let bytes = u32::from(packet.wire);
        self.sent.add(bytes);
        self.sink.sent(self.line.send(bytes, start), packet);
    }
}
