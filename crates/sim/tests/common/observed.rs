//! A transport that a test looks into.

use flowsched_schemes::Packet;
use flowsched_schemes::transport::{Outgoing, Phase, Start, Transport};
use flowsched_units::{Bytes, Time};

/// Does what `inner` does, shows each sender to `seen` after each ACK, and passes each ACK that
/// a receiver sends through `answer`.
pub struct Observed<T, S, A> {
    pub inner: T,
    pub seen: S,
    pub answer: A,
}

impl<T, S, A> Transport for Observed<T, S, A>
where
    T: Transport<Header = ()>,
    S: Fn(Time, &T::Sender),
    A: Fn(Packet) -> Packet,
{
    type Header = ();
    type Connection = T::Connection;
    type Sender = T::Sender;
    type Receiver = T::Receiver;

    fn is_persistent(&self) -> bool {
        self.inner.is_persistent()
    }

    fn open_connection(&self, round_trip: Time) -> T::Connection {
        self.inner.open_connection(round_trip)
    }

    fn new_connection(&self) -> T::Connection {
        self.inner.new_connection()
    }

    fn sender(&self, start: &Start, connection: T::Connection) -> T::Sender {
        self.inner.sender(start, connection)
    }

    fn poll(&self, sender: &mut T::Sender, now: Time) -> Option<Outgoing> {
        self.inner.poll(sender, now)
    }

    fn on_ack(&self, sender: &mut T::Sender, now: Time, ack: &Packet) {
        self.inner.on_ack(sender, now, ack);
        (self.seen)(now, sender);
    }

    fn on_sender_timer(&self, sender: &mut T::Sender, now: Time) {
        self.inner.on_sender_timer(sender, now);
    }

    fn sender_deadline(&self, sender: &T::Sender) -> Time {
        self.inner.sender_deadline(sender)
    }

    fn phase(&self, sender: &T::Sender) -> Phase {
        self.inner.phase(sender)
    }

    fn finish(&self, sender: &mut T::Sender, now: Time) -> T::Connection {
        self.inner.finish(sender, now)
    }

    fn retransmissions(&self, sender: &T::Sender) -> u32 {
        self.inner.retransmissions(sender)
    }

    fn timeouts(&self, sender: &T::Sender) -> u32 {
        self.inner.timeouts(sender)
    }

    fn receiver(&self, size: Bytes) -> T::Receiver {
        self.inner.receiver(size)
    }

    fn on_data(
        &self,
        receiver: &mut T::Receiver,
        now: Time,
        packet: &Packet,
        mut send: impl FnMut(Packet),
    ) {
        self.inner.on_data(receiver, now, packet, |ack| send((self.answer)(ack)));
    }

    fn on_receiver_timer(
        &self,
        receiver: &mut T::Receiver,
        now: Time,
        mut send: impl FnMut(Packet),
    ) {
        self.inner.on_receiver_timer(receiver, now, |ack| send((self.answer)(ack)));
    }

    fn receiver_deadline(&self, receiver: &T::Receiver) -> Time {
        self.inner.receiver_deadline(receiver)
    }

    fn is_delivered(&self, receiver: &T::Receiver) -> bool {
        self.inner.is_delivered(receiver)
    }
}
