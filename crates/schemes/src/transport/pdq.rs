//! PDQ's hosts: send at the rate that the switches allow, probe while paused, give up what
//! cannot be in time (PDQ 2012, 3.1 and 3.2).

mod criticality;
mod header;
mod sender;
pub mod settings;

pub use criticality::{Announced, Knowledge};
pub use header::{Pauser, PdqHeader};
pub use sender::Sender;
pub use settings::PdqSettings;

use flowsched_units::{Bytes, Time};

use super::explicit::Receiver;
use super::{Outgoing, Phase, Start, Transport};
use crate::packet::Packet;

/// PDQ as all flows of a scheme use it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pdq {
    /// Its parameters.
    pub settings: PdqSettings,
}

impl Transport for Pdq {
    type Header = PdqHeader;
    type Connection = ();
    type Sender = Sender;
    type Receiver = Receiver;

    fn is_persistent(&self) -> bool {
        false
    }

    fn open_connection(&self, _round_trip: Time) {}

    fn new_connection(&self) {}

    fn sender(&self, start: &Start, (): ()) -> Sender {
        Sender::new(start)
    }

    #[inline]
    fn poll(&self, sender: &mut Sender, now: Time) -> Option<Outgoing<PdqHeader>> {
        sender.poll(&self.settings, now)
    }

    #[inline]
    fn on_ack(&self, sender: &mut Sender, now: Time, ack: &Packet<PdqHeader>) {
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

    /// "A PDQ receiver copies the scheduling header from each data packet to its corresponding
    /// ACK. Moreover, ... the PDQ receiver reduces R_H if it exceeds the maximal rate that
    /// receiver can process and receive" (3.2).
    #[inline]
    fn on_data(
        &self,
        receiver: &mut Receiver,
        _now: Time,
        packet: &Packet<PdqHeader>,
        mut send: impl FnMut(Packet<PdqHeader>),
    ) {
        let mut ack = receiver.answer(packet);
        ack.header.rate = ack.header.rate.min(self.settings.receiver_rate);
        send(ack);
    }

    fn on_receiver_timer(
        &self,
        _receiver: &mut Receiver,
        _now: Time,
        _send: impl FnMut(Packet<PdqHeader>),
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
