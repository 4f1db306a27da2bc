//! HPCC's sender: within its window, it sends packets at its rate.

use flowsched_units::{Bytes, PACKET_WIRE, Time};

use super::{HpccHeader, HpccSettings, Window};
use crate::packet::{Header, Packet};
use crate::transport::explicit::{Delivery, ExplicitSender, Pacing, Receiver};
use crate::transport::{Outgoing, Phase, SenderState, Start, Timeouts};

/// The sender of one flow.
#[derive(Clone, Debug)]
pub struct Sender {
    delivery: Delivery,
    window: Window,
    pacing: Pacing,
    wake: Time,
}

impl ExplicitSender for Sender {
    type Header = HpccHeader;
    type Settings = HpccSettings;
    type Receiver = Receiver;

    fn new(settings: &HpccSettings, start: &Start) -> Sender {
        let window = Window::new(settings, start.rate);
        let mut pacing = Pacing::new(HpccHeader::WIRE_BYTES);
        pacing.set_rate(window.rate(settings));
        Sender {
            delivery: Delivery::without_handshake(start.size),
            window,
            pacing,
            wake: start.now,
        }
    }

    fn retransmissions(&self) -> u32 {
        self.delivery.retransmissions
    }

    fn timeouts(&self) -> Timeouts {
        self.delivery.timeouts
    }

    fn state(&self) -> SenderState {
        SenderState {
            window: Some(self.window.size()),
            rate: Some(self.pacing.rate()),
            in_flight: Some(self.delivery.bytes_in_flight()),
            alpha: None,
        }
    }

    /// How far the sender is with its flow.
    #[inline]
    fn phase(&self) -> Phase {
        if self.delivery.is_done() { Phase::Acknowledged } else { Phase::Sending }
    }

    /// When the timer is due next.
    #[inline]
    fn deadline(&self) -> Time {
        self.wake
    }

    /// The next packet that may be sent now.
    #[inline]
    fn poll(&mut self, settings: &HpccSettings, now: Time) -> Option<Outgoing<HpccHeader>> {
        let departure = self.next_departure();
        if now < departure {
            self.wake = self.delivery.deadline().min(departure);
            return None;
        }
        let outgoing = self.delivery.send(&settings.explicit, now, HpccHeader::default())?;
        self.pacing.sent(now, outgoing.payload);
        Some(outgoing)
    }

    /// Handles an ACK, which has the records of the packet that it answers.
    #[inline]
    fn on_ack(&mut self, settings: &HpccSettings, now: Time, ack: &Packet<HpccHeader>) {
        self.delivery.on_ack(&settings.explicit, now, ack);
        self.window.on_ack(settings, &ack.header, ack.seq, self.delivery.next());
        self.pacing.set_rate(self.window.rate(settings));
    }

    /// Handles the timer: the timeout or the next departure may be due.
    fn on_timer(&mut self, _settings: &HpccSettings, now: Time) {
        self.delivery.on_timer(now);
    }
}

impl Sender {
    /// When the next packet may leave: [`Time::MAX`] if not before an ACK or the timeout.
    #[inline]
    fn next_departure(&mut self) -> Time {
        let packet = PACKET_WIRE + u64::from(HpccHeader::WIRE_BYTES);
        let in_flight = Bytes::new(u64::from(self.delivery.in_flight()) * packet);
        if self.delivery.next_payload().is_none() || !self.window.has_room(in_flight) {
            return Time::MAX;
        }
        self.pacing.next_departure()
    }
}
