//! D3's hosts, and RCP's: ask for a rate every round-trip time, send at what is granted.
//!
//! Wilson et al., "Better never than late", SIGCOMM 2011, as PDQ 2012, 5.1 uses it. RCP with the
//! exact number of flows "is exactly equivalent to D3 when flows have no deadlines".

mod header;
mod sender;
pub mod settings;

pub use header::D3Header;
pub use sender::Sender;
pub use settings::D3Settings;

use flowsched_units::{Bytes, Time};

use super::explicit::Receiver;
use super::{Outgoing, Phase, Start, Transport};
use crate::packet::Packet;

/// D3 as all flows of a scheme use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct D3 {
    /// Its parameters.
    pub settings: D3Settings,
}

impl Transport for D3 {
    type Header = D3Header;
    type Connection = ();
    type Sender = Sender;
    type Receiver = Receiver;

    fn is_persistent(&self) -> bool {
        false
    }

    fn open_connection(&self, _round_trip: Time) {}

    fn new_connection(&self) {}

    fn sender(&self, start: &Start, (): ()) -> Sender {
        Sender::new(&self.settings, start)
    }

    #[inline]
    fn poll(&self, sender: &mut Sender, now: Time) -> Option<Outgoing<D3Header>> {
        sender.poll(&self.settings, now)
    }

    #[inline]
    fn on_ack(&self, sender: &mut Sender, now: Time, ack: &Packet<D3Header>) {
        sender.on_ack(&self.settings, now, ack);
    }

    fn on_sender_timer(&self, sender: &mut Sender, now: Time) {
        sender.on_timer(&self.settings, now);
    }

    #[inline]
    fn sender_deadline(&self, sender: &Sender) -> Time {
        sender.deadline()
    }

    #[inline]
    fn phase(&self, sender: &Sender) -> Phase {
        sender.phase()
    }

    fn finish(&self, _sender: &mut Sender, _now: Time) {}

    fn retransmissions(&self, sender: &Sender) -> u32 {
        sender.delivery().retransmissions
    }

    fn timeouts(&self, sender: &Sender) -> u32 {
        sender.delivery().timeouts
    }

    fn receiver(&self, size: Bytes) -> Receiver {
        Receiver::new(size)
    }

    #[inline]
    fn on_data(
        &self,
        receiver: &mut Receiver,
        _now: Time,
        packet: &Packet<D3Header>,
        mut send: impl FnMut(Packet<D3Header>),
    ) {
        send(receiver.answer(packet));
    }

    fn on_receiver_timer(
        &self,
        _receiver: &mut Receiver,
        _now: Time,
        _send: impl FnMut(Packet<D3Header>),
    ) {
    }

    fn receiver_deadline(&self, _receiver: &Receiver) -> Time {
        Time::MAX
    }

    #[inline]
    fn is_delivered(&self, receiver: &Receiver) -> bool {
        receiver.is_complete()
    }
}
