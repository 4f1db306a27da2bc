//! A transport whose packets carry a header that the transport itself does not use.
//!
//! A lint rejects a method of the transport, its senders, its receivers or its hosts that is not
//! forwarded.

use std::marker::PhantomData;

use flowsched_units::{Bytes, Rate, Time};

use super::{
    Hosting, Outgoing, Phase, Receiving, SenderState, Sending, Start, Timeouts, Transport,
};
use crate::packet::{Header, Packet};

/// The transport `T` with a header `H` on its packets. It serves schemes whose hosts and switches
/// exchange information beside an unchanged transport. The tagger fills the header in.
#[derive(Clone, Copy, Debug)]
pub struct Carrying<T, H> {
    transport: T,
    header: PhantomData<H>,
}

/// A sender, a receiver or a host of a transport whose packets carry a header.
#[derive(Clone, Copy, Debug)]
pub struct Carried<S>(S);

impl<T, H> Carrying<T, H> {
    /// Adds room for a header to the packets of `transport`.
    pub fn new(transport: T) -> Carrying<T, H> {
        Carrying { transport, header: PhantomData }
    }
}

#[deny(clippy::missing_trait_methods)]
impl<T: Transport<Header = ()>, H: Header> Transport for Carrying<T, H> {
    type Header = H;
    type Connection = T::Connection;
    type Host = Carried<T::Host>;
    type Sender = Carried<T::Sender>;
    type Receiver = Carried<T::Receiver>;

    const NEEDS_ONE_PATH: bool = T::NEEDS_ONE_PATH;
    const WAITS_FOR_APPLICATIONS: bool = T::WAITS_FOR_APPLICATIONS;
    const ENDS_AFTER_DELIVERY: bool = T::ENDS_AFTER_DELIVERY;

    fn over_sprayed_paths(self) -> Carrying<T, H> {
        Carrying::new(self.transport.over_sprayed_paths())
    }

    fn open_connections(&self) -> u32 {
        self.transport.open_connections()
    }

    fn open_connection(&self, round_trip: Time) -> T::Connection {
        self.transport.open_connection(round_trip)
    }

    fn new_connection(&self) -> T::Connection {
        self.transport.new_connection()
    }

    fn host(&self, rate: Rate) -> Carried<T::Host> {
        Carried(self.transport.host(rate))
    }

    fn sender(&self, start: &Start, connection: T::Connection) -> Carried<T::Sender> {
        Carried(self.transport.sender(start, connection))
    }

    fn receiver(&self, size: Bytes) -> Carried<T::Receiver> {
        Carried(self.transport.receiver(size))
    }
}

#[deny(clippy::missing_trait_methods)]
impl<T: Transport<Header = ()>, H: Header> Hosting<Carrying<T, H>> for Carried<T::Host> {
    fn on_timer(&mut self, carrying: &Carrying<T, H>, now: Time, mut send: impl FnMut(Packet<H>)) {
        self.0.on_timer(&carrying.transport, now, |grant| send(headed(grant)));
    }

    fn next_sender(&mut self, carrying: &Carrying<T, H>, now: Time) -> Option<u32> {
        self.0.next_sender(&carrying.transport, now)
    }

    fn deadline(&self) -> Time {
        self.0.deadline()
    }
}

#[deny(clippy::missing_trait_methods)]
impl<T: Transport<Header = ()>, H: Header> Sending<Carrying<T, H>> for Carried<T::Sender> {
    #[inline]
    fn poll(
        &mut self,
        carrying: &Carrying<T, H>,
        host: &mut Carried<T::Host>,
        now: Time,
    ) -> Option<Outgoing<H>> {
        self.0.poll(&carrying.transport, &mut host.0, now).map(with_room)
    }

    #[inline(always)]
    fn send_all(
        &mut self,
        carrying: &Carrying<T, H>,
        host: &mut Carried<T::Host>,
        now: Time,
        mut send: impl FnMut(Outgoing<H>),
    ) {
        self.0.send_all(
            &carrying.transport,
            &mut host.0,
            now,
            #[inline(always)]
            |outgoing| send(with_room(outgoing)),
        );
    }

    #[inline]
    fn on_ack(
        &mut self,
        carrying: &Carrying<T, H>,
        host: &mut Carried<T::Host>,
        now: Time,
        ack: &Packet<H>,
    ) {
        self.0.on_ack(&carrying.transport, &mut host.0, now, &ack.with_header(()));
    }

    fn on_timer(&mut self, carrying: &Carrying<T, H>, host: &mut Carried<T::Host>, now: Time) {
        self.0.on_timer(&carrying.transport, &mut host.0, now);
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.0.deadline()
    }

    #[inline]
    fn phase(&self) -> Phase {
        self.0.phase()
    }

    fn state(&self) -> SenderState {
        self.0.state()
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

#[deny(clippy::missing_trait_methods)]
impl<T: Transport<Header = ()>, H: Header> Receiving<Carrying<T, H>> for Carried<T::Receiver> {
    #[inline]
    fn on_data(
        &mut self,
        carrying: &Carrying<T, H>,
        host: &mut Carried<T::Host>,
        now: Time,
        packet: &Packet<H>,
        mut send: impl FnMut(Packet<H>),
    ) {
        let packet = packet.with_header(());
        self.0.on_data(
            &carrying.transport,
            &mut host.0,
            now,
            &packet,
            #[inline(always)]
            |ack| send(headed(ack)),
        );
    }

    fn on_timer(
        &mut self,
        carrying: &Carrying<T, H>,
        host: &mut Carried<T::Host>,
        now: Time,
        mut send: impl FnMut(Packet<H>),
    ) {
        self.0.on_timer(&carrying.transport, &mut host.0, now, |ack| send(headed(ack)));
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.0.deadline()
    }

    #[inline]
    fn is_delivered(&self) -> bool {
        self.0.is_delivered()
    }
}

/// Adds room for a header to a data packet.
#[inline]
fn with_room<H: Header>(outgoing: Outgoing) -> Outgoing<H> {
    let Outgoing { seq, payload, offset, flags, idle, timeouts_in_a_row, work, .. } = outgoing;
    let header = H::default();
    Outgoing { seq, payload, offset, flags, idle, timeouts_in_a_row, work, header }
}

/// Adds room for a header to an ACK.
#[inline]
fn headed<H: Header>(ack: Packet) -> Packet<H> {
    let mut ack = ack.with_header(H::default());
    ack.wire += H::WIRE_BYTES as u16;
    ack
}
