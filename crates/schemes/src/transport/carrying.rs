//! A transport whose packets carry a header that it knows nothing of.

use std::marker::PhantomData;

use flowsched_units::{Bytes, Time};

use super::{Outgoing, Phase, Start, Transport};
use crate::packet::{Header, Packet};

/// `T`, whose packets also carry a header `H`: for schemes whose hosts and switches talk to each
/// other beside an unchanged transport. The tagger fills the header in.
#[derive(Clone, Copy, Debug)]
pub struct Carrying<T, H> {
    transport: T,
    header: PhantomData<H>,
}

impl<T, H> Carrying<T, H> {
    /// `transport`, with room for a header.
    pub fn new(transport: T) -> Carrying<T, H> {
        Carrying { transport, header: PhantomData }
    }
}

impl<T: Transport<Header = ()>, H: Header> Transport for Carrying<T, H> {
    type Header = H;
    type Connection = T::Connection;
    type Sender = T::Sender;
    type Receiver = T::Receiver;

    fn is_persistent(&self) -> bool {
        self.transport.is_persistent()
    }

    fn open_connection(&self, round_trip: Time) -> T::Connection {
        self.transport.open_connection(round_trip)
    }

    fn new_connection(&self) -> T::Connection {
        self.transport.new_connection()
    }

    fn sender(&self, start: &Start, connection: T::Connection) -> T::Sender {
        self.transport.sender(start, connection)
    }

    #[inline]
    fn poll(&self, sender: &mut T::Sender, now: Time) -> Option<Outgoing<H>> {
        let outgoing = self.transport.poll(sender, now)?;
        let Outgoing { seq, payload, offset, flags, idle, timeouts_in_a_row, work, .. } = outgoing;
        let header = H::default();
        Some(Outgoing { seq, payload, offset, flags, idle, timeouts_in_a_row, work, header })
    }

    #[inline]
    fn on_ack(&self, sender: &mut T::Sender, now: Time, ack: &Packet<H>) {
        self.transport.on_ack(sender, now, &ack.with_header(()));
    }

    fn on_sender_timer(&self, sender: &mut T::Sender, now: Time) {
        self.transport.on_sender_timer(sender, now);
    }

    #[inline]
    fn sender_deadline(&self, sender: &T::Sender) -> Time {
        self.transport.sender_deadline(sender)
    }

    #[inline]
    fn phase(&self, sender: &T::Sender) -> Phase {
        self.transport.phase(sender)
    }

    fn finish(&self, sender: &mut T::Sender, now: Time) -> T::Connection {
        self.transport.finish(sender, now)
    }

    fn retransmissions(&self, sender: &T::Sender) -> u32 {
        self.transport.retransmissions(sender)
    }

    fn timeouts(&self, sender: &T::Sender) -> u32 {
        self.transport.timeouts(sender)
    }

    fn receiver(&self, size: Bytes) -> T::Receiver {
        self.transport.receiver(size)
    }

    #[inline]
    fn on_data(
        &self,
        receiver: &mut T::Receiver,
        now: Time,
        packet: &Packet<H>,
        mut send: impl FnMut(Packet<H>),
    ) {
        self.transport.on_data(receiver, now, &packet.with_header(()), |ack| send(headed(ack)));
    }

    fn on_receiver_timer(
        &self,
        receiver: &mut T::Receiver,
        now: Time,
        mut send: impl FnMut(Packet<H>),
    ) {
        self.transport.on_receiver_timer(receiver, now, |ack| send(headed(ack)));
    }

    #[inline]
    fn receiver_deadline(&self, receiver: &T::Receiver) -> Time {
        self.transport.receiver_deadline(receiver)
    }

    #[inline]
    fn is_delivered(&self, receiver: &T::Receiver) -> bool {
        self.transport.is_delivered(receiver)
    }
}

/// An ACK with room for a header.
fn headed<H: Header>(ack: Packet) -> Packet<H> {
    let mut ack = ack.with_header(H::default());
    ack.wire += H::WIRE_BYTES as u16;
    ack
}
