//! TCP: reliable delivery with SACK, and the congestion controls built on it.
//!
//! What is modelled: segments of full size but the last; windows in segments; SACK-based loss
//! recovery (RFC 6675), timeouts (RFC 6298), ECN with both ways of echoing (RFC 3168, 8257),
//! delayed ACKs, persistent connections and handshakes. What is not: sequence numbers in bytes,
//! window scaling, reneging, and closing a connection; an ACK reports one SACK block, the one
//! that holds the segment which caused it, and that is all a sender needs while ACKs are not
//! lost.

pub mod congestion;
mod receiver;
pub(super) mod scoreboard;
mod segments;
mod sender;
pub mod settings;
pub(super) mod timeout;

pub use receiver::Receiver;
pub use segments::SegmentSet;
pub use sender::{Connection, Sender};

use flowsched_units::{Bytes, PACKET_PAYLOAD, Time};

use congestion::Algorithm;
use settings::{FastRetransmit, TcpSettings};

use super::{Outgoing, Phase, Start, Transport};
use crate::packet::Packet;

/// TCP as all flows of a scheme use it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tcp {
    /// Its parameters.
    pub settings: TcpSettings,
    /// Its congestion control.
    pub algorithm: Algorithm,
    /// Whether later segments acknowledged mean that one is lost.
    fast_retransmit: bool,
}

impl Tcp {
    /// TCP with these parameters; `sprayed` says whether the network reorders packets by
    /// spraying them over paths.
    pub fn new(settings: TcpSettings, algorithm: Algorithm, sprayed: bool) -> Tcp {
        let fast_retransmit = match settings.fast_retransmit {
            FastRetransmit::On => true,
            FastRetransmit::Off => false,
            FastRetransmit::Auto => !sprayed,
        };
        Tcp { settings, algorithm, fast_retransmit }
    }
}

/// How many segments a flow of `size` bytes has, the last one maybe not full.
pub fn segments_of(size: Bytes) -> u32 {
    u32::try_from(size.get().div_ceil(PACKET_PAYLOAD)).unwrap_or(u32::MAX)
}

impl Transport for Tcp {
    type Header = ();
    type Connection = Connection;
    type Sender = Sender;
    type Receiver = Receiver;

    fn is_persistent(&self) -> bool {
        self.settings.persistent
    }

    fn open_connection(&self, round_trip: Time) -> Connection {
        Connection::open(self, round_trip)
    }

    fn new_connection(&self) -> Connection {
        Connection::closed(self)
    }

    fn sender(&self, start: &Start, connection: Connection) -> Sender {
        Sender::new(self, start.size, connection.with_deadline(start.deadline), start.now)
    }

    fn receiver(&self, size: Bytes) -> Receiver {
        Receiver::new(segments_of(size))
    }

    #[inline]
    fn poll(&self, sender: &mut Sender, now: Time) -> Option<Outgoing> {
        sender.poll(self, now)
    }

    #[inline]
    fn on_ack(&self, sender: &mut Sender, now: Time, ack: &Packet) {
        sender.on_ack(self, now, ack);
    }

    fn on_sender_timer(&self, sender: &mut Sender, now: Time) {
        sender.on_timer(self, now);
    }

    #[inline]
    fn sender_deadline(&self, sender: &Sender) -> Time {
        sender.deadline()
    }

    #[inline]
    fn phase(&self, sender: &Sender) -> Phase {
        if sender.is_done() { Phase::Acknowledged } else { Phase::Sending }
    }

    fn finish(&self, sender: &mut Sender, now: Time) -> Connection {
        sender.finish(now)
    }

    fn retransmissions(&self, sender: &Sender) -> u32 {
        sender.retransmissions
    }

    fn timeouts(&self, sender: &Sender) -> u32 {
        sender.timeouts
    }

    #[inline]
    fn on_data(
        &self,
        receiver: &mut Receiver,
        now: Time,
        packet: &Packet,
        send: impl FnMut(Packet),
    ) {
        receiver.on_data(self, now, packet, send);
    }

    fn on_receiver_timer(&self, receiver: &mut Receiver, now: Time, send: impl FnMut(Packet)) {
        receiver.on_timer(self, now, send);
    }

    #[inline]
    fn receiver_deadline(&self, receiver: &Receiver) -> Time {
        receiver.deadline()
    }

    #[inline]
    fn is_delivered(&self, receiver: &Receiver) -> bool {
        receiver.is_complete()
    }
}

#[cfg(test)]
mod tests;
