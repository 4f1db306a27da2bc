//! The transport of hosts whose rates switches set, for any rule of the switches.

use flowsched_units::{Bytes, Rate, Time};

use crate::packet::{Header, Packet};
use crate::transport::{
    Hosting, Outgoing, Phase, Receiving, SenderState, Sending, Start, Timeouts, Transport,
};

/// The sending side of one flow. It sets the flow's rate and decides when to give the flow up.
pub trait ExplicitSender: Sized + Send {
    /// The header by which hosts and switches tell each other about the flow.
    type Header: Header;
    /// The settings of the scheme's hosts.
    type Settings: Send + Sync;
    /// The receiving side.
    type Receiver: Answering<Self::Header> + Send;

    /// The sender of a flow that begins now.
    fn new(settings: &Self::Settings, start: &Start) -> Self;
    /// The next packet that may be sent now.
    fn poll(&mut self, settings: &Self::Settings, now: Time) -> Option<Outgoing<Self::Header>>;
    /// Handles an ACK.
    fn on_ack(&mut self, settings: &Self::Settings, now: Time, ack: &Packet<Self::Header>);
    /// Handles the timer, which may have run out too early.
    fn on_timer(&mut self, settings: &Self::Settings, now: Time);
    /// When [`ExplicitSender::on_timer`] is due next.
    fn deadline(&self) -> Time;
    /// How far the sender is with its flow.
    fn phase(&self) -> Phase;
    /// Segments sent again so far.
    fn retransmissions(&self) -> u32;
    /// Timeouts so far.
    fn timeouts(&self) -> Timeouts;

    /// What a probe sees of the sender.
    fn state(&self) -> SenderState {
        SenderState::default()
    }

    /// Changes the header that the receiver sends back, where a scheme wants this.
    #[inline]
    fn answer(_settings: &Self::Settings, _header: &mut Self::Header) {}
}

/// The receiving side of one flow, which answers every packet.
pub trait Answering<H: Header> {
    /// A receiver of `size` bytes.
    fn new(size: Bytes) -> Self;
    /// Whether every byte came.
    fn is_complete(&self) -> bool;
    /// Takes in a packet. Returns its answer, which has no destination yet.
    fn answer(&mut self, packet: &Packet<H>) -> Packet<H>;
}

/// Explicit rates, as all flows of a scheme use them. Receivers answer every packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explicit<S: ExplicitSender> {
    /// Its parameters.
    pub settings: S::Settings,
}

impl<S: ExplicitSender> Transport for Explicit<S> {
    type Header = S::Header;
    type Connection = ();
    type Host = ();
    type Sender = S;
    type Receiver = S::Receiver;

    const NEEDS_ONE_PATH: bool = true;

    fn open_connection(&self, _round_trip: Time) {}

    fn new_connection(&self) {}

    fn host(&self, _rate: Rate) {}

    fn sender(&self, start: &Start, (): ()) -> S {
        S::new(&self.settings, start)
    }

    fn receiver(&self, size: Bytes) -> S::Receiver {
        S::Receiver::new(size)
    }
}

impl<S: ExplicitSender> Hosting<Explicit<S>> for () {}

impl<S: ExplicitSender> Sending<Explicit<S>> for S {
    #[inline]
    fn poll(
        &mut self,
        explicit: &Explicit<S>,
        _host: &mut (),
        now: Time,
    ) -> Option<Outgoing<S::Header>> {
        ExplicitSender::poll(self, &explicit.settings, now)
    }

    #[inline]
    fn on_ack(
        &mut self,
        explicit: &Explicit<S>,
        _host: &mut (),
        now: Time,
        ack: &Packet<S::Header>,
    ) {
        ExplicitSender::on_ack(self, &explicit.settings, now, ack);
    }

    fn on_timer(&mut self, explicit: &Explicit<S>, _host: &mut (), now: Time) {
        ExplicitSender::on_timer(self, &explicit.settings, now);
    }

    #[inline]
    fn deadline(&self) -> Time {
        ExplicitSender::deadline(self)
    }

    #[inline]
    fn phase(&self) -> Phase {
        ExplicitSender::phase(self)
    }

    fn finish(&mut self, _now: Time) {}

    fn retransmissions(&self) -> u32 {
        ExplicitSender::retransmissions(self)
    }

    fn timeouts(&self) -> Timeouts {
        ExplicitSender::timeouts(self)
    }

    fn state(&self) -> SenderState {
        ExplicitSender::state(self)
    }
}

impl<S, R> Receiving<Explicit<S>> for R
where
    S: ExplicitSender<Receiver = R>,
    R: Answering<S::Header>,
{
    #[inline]
    fn on_data(
        &mut self,
        explicit: &Explicit<S>,
        _host: &mut (),
        _now: Time,
        packet: &Packet<S::Header>,
        mut send: impl FnMut(Packet<S::Header>),
    ) {
        let mut ack = self.answer(packet);
        S::answer(&explicit.settings, &mut ack.header);
        send(ack);
    }

    #[inline]
    fn is_delivered(&self) -> bool {
        self.is_complete()
    }
}
