//! The transport of hosts that are told their rates, whatever tells them and how.

use flowsched_units::{Bytes, Time};

use crate::packet::{Header, Packet};
use crate::transport::{Outgoing, Phase, Start, Transport};

/// The sending side of one flow: how the rate comes about, and when the flow is given up.
pub trait ExplicitSender: Sized {
    /// What hosts and switches tell each other.
    type Header: Header;
    /// What may be set of it.
    type Settings;
    /// The receiving side.
    type Receiver: Answering<Self::Header>;

    /// The sender of a flow that begins now.
    fn new(settings: &Self::Settings, start: &Start) -> Self;
    /// The next packet that may be sent now.
    fn poll(&mut self, settings: &Self::Settings, now: Time) -> Option<Outgoing<Self::Header>>;
    /// An ACK came.
    fn on_ack(&mut self, settings: &Self::Settings, now: Time, ack: &Packet<Self::Header>);
    /// Something may be due.
    fn on_timer(&mut self, settings: &Self::Settings, now: Time);
    /// When there is something to do next.
    fn deadline(&self) -> Time;
    /// How far the flow is.
    fn phase(&self) -> Phase;
    /// Segments sent again so far.
    fn retransmissions(&self) -> u32;
    /// Timeouts so far.
    fn timeouts(&self) -> u32;

    /// What the receiver does to the header that it sends back.
    #[inline]
    fn answer(_settings: &Self::Settings, _header: &mut Self::Header) {}
}

/// The receiving side of one flow, which answers every packet.
pub trait Answering<H: Header> {
    /// A receiver of `size` bytes.
    fn new(size: Bytes) -> Self;
    /// Whether every byte came.
    fn is_complete(&self) -> bool;
    /// A packet came: its answer, addressed to nobody yet.
    fn answer(&mut self, packet: &Packet<H>) -> Packet<H>;
}

/// Explicit rates as all flows of a scheme use them: a handshake for every flow, an answer to every
/// packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explicit<S: ExplicitSender> {
    /// Its parameters.
    pub settings: S::Settings,
}

impl<S: ExplicitSender> Transport for Explicit<S> {
    type Header = S::Header;
    type Connection = ();
    type Sender = S;
    type Receiver = S::Receiver;

    fn is_persistent(&self) -> bool {
        false
    }

    fn open_connection(&self, _round_trip: Time) {}

    fn new_connection(&self) {}

    fn sender(&self, start: &Start, (): ()) -> S {
        S::new(&self.settings, start)
    }

    #[inline]
    fn poll(&self, sender: &mut S, now: Time) -> Option<Outgoing<S::Header>> {
        sender.poll(&self.settings, now)
    }

    #[inline]
    fn on_ack(&self, sender: &mut S, now: Time, ack: &Packet<S::Header>) {
        sender.on_ack(&self.settings, now, ack);
    }

    fn on_sender_timer(&self, sender: &mut S, now: Time) {
        sender.on_timer(&self.settings, now);
    }

    #[inline]
    fn sender_deadline(&self, sender: &S) -> Time {
        sender.deadline()
    }

    #[inline]
    fn phase(&self, sender: &S) -> Phase {
        sender.phase()
    }

    fn finish(&self, _sender: &mut S, _now: Time) {}

    fn retransmissions(&self, sender: &S) -> u32 {
        sender.retransmissions()
    }

    fn timeouts(&self, sender: &S) -> u32 {
        sender.timeouts()
    }

    fn receiver(&self, size: Bytes) -> S::Receiver {
        S::Receiver::new(size)
    }

    #[inline]
    fn on_data(
        &self,
        receiver: &mut S::Receiver,
        _now: Time,
        packet: &Packet<S::Header>,
        mut send: impl FnMut(Packet<S::Header>),
    ) {
        let mut ack = receiver.answer(packet);
        S::answer(&self.settings, &mut ack.header);
        send(ack);
    }

    fn on_receiver_timer(
        &self,
        _receiver: &mut S::Receiver,
        _now: Time,
        _send: impl FnMut(Packet<S::Header>),
    ) {
    }

    fn receiver_deadline(&self, _receiver: &S::Receiver) -> Time {
        Time::MAX
    }

    #[inline]
    fn is_delivered(&self, receiver: &S::Receiver) -> bool {
        receiver.is_complete()
    }
}
