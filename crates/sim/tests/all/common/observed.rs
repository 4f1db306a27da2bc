//! A transport that a test looks into.

use flowsched_schemes::Packet;
use flowsched_schemes::transport::{
    Hosting, Outgoing, Phase, Receiving, Sending, Start, Timeouts, Transport,
};
use flowsched_units::{Bytes, Rate, Time};

/// Does what `inner` does, shows each sender to `seen` after each ACK, and passes each ACK that
/// a receiver sends through `answer`.
pub struct Observed<T, S, A> {
    pub inner: T,
    pub seen: S,
    pub answer: A,
}

/// A sender, a receiver or a host of such a transport.
pub struct Inner<X>(X);

impl<T, S, A> Transport for Observed<T, S, A>
where
    T: Transport<Header = ()>,
    S: Fn(Time, &T::Sender) + Send + Sync,
    A: Fn(Packet) -> Packet + Send + Sync,
{
    type Header = ();
    type Connection = T::Connection;
    type Host = Inner<T::Host>;
    type Sender = Inner<T::Sender>;
    type Receiver = Inner<T::Receiver>;

    fn open_connections(&self) -> u32 {
        self.inner.open_connections()
    }

    fn open_connection(&self, round_trip: Time) -> T::Connection {
        self.inner.open_connection(round_trip)
    }

    fn new_connection(&self) -> T::Connection {
        self.inner.new_connection()
    }

    fn host(&self, rate: Rate) -> Inner<T::Host> {
        Inner(self.inner.host(rate))
    }

    fn sender(&self, start: &Start, connection: T::Connection) -> Inner<T::Sender> {
        Inner(self.inner.sender(start, connection))
    }

    fn receiver(&self, size: Bytes) -> Inner<T::Receiver> {
        Inner(self.inner.receiver(size))
    }
}

impl<T, S, A> Hosting<Observed<T, S, A>> for Inner<T::Host>
where
    T: Transport<Header = ()>,
    S: Fn(Time, &T::Sender) + Send + Sync,
    A: Fn(Packet) -> Packet + Send + Sync,
{
}

impl<T, S, A> Sending<Observed<T, S, A>> for Inner<T::Sender>
where
    T: Transport<Header = ()>,
    S: Fn(Time, &T::Sender) + Send + Sync,
    A: Fn(Packet) -> Packet + Send + Sync,
{
    fn poll(
        &mut self,
        observed: &Observed<T, S, A>,
        host: &mut Inner<T::Host>,
        now: Time,
    ) -> Option<Outgoing> {
        self.0.poll(&observed.inner, &mut host.0, now)
    }

    fn on_ack(
        &mut self,
        observed: &Observed<T, S, A>,
        host: &mut Inner<T::Host>,
        now: Time,
        ack: &Packet,
    ) {
        self.0.on_ack(&observed.inner, &mut host.0, now, ack);
        (observed.seen)(now, &self.0);
    }

    fn on_timer(&mut self, observed: &Observed<T, S, A>, host: &mut Inner<T::Host>, now: Time) {
        self.0.on_timer(&observed.inner, &mut host.0, now);
    }

    fn deadline(&self) -> Time {
        self.0.deadline()
    }

    fn phase(&self) -> Phase {
        self.0.phase()
    }

    fn finish(&mut self, now: Time) -> T::Connection {
        self.0.finish(now)
    }

    fn retransmissions(&self) -> u32 {
        self.0.retransmissions()
    }

    fn timeouts(&self) -> Timeouts {
        self.0.timeouts()
    }
}

impl<T, S, A> Receiving<Observed<T, S, A>> for Inner<T::Receiver>
where
    T: Transport<Header = ()>,
    S: Fn(Time, &T::Sender) + Send + Sync,
    A: Fn(Packet) -> Packet + Send + Sync,
{
    fn on_data(
        &mut self,
        observed: &Observed<T, S, A>,
        host: &mut Inner<T::Host>,
        now: Time,
        packet: &Packet,
        mut send: impl FnMut(Packet),
    ) {
        self.0.on_data(&observed.inner, &mut host.0, now, packet, |ack| {
            send((observed.answer)(ack));
        });
    }

    fn on_timer(
        &mut self,
        observed: &Observed<T, S, A>,
        host: &mut Inner<T::Host>,
        now: Time,
        mut send: impl FnMut(Packet),
    ) {
        self.0.on_timer(&observed.inner, &mut host.0, now, |ack| send((observed.answer)(ack)));
    }

    fn deadline(&self) -> Time {
        self.0.deadline()
    }

    fn is_delivered(&self) -> bool {
        self.0.is_delivered()
    }
}
