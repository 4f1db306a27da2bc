//! D3's sender: a rate request every round-trip time.

use flowsched_units::{PACKET_PAYLOAD, PACKET_WIRE, Rate, Time};

use super::{D3Header, D3Settings};
use crate::packet::{Flags, Header, Packet};
use crate::transport::explicit::{Delivery, ExplicitSender, Pacing, Receiver};
use crate::transport::{Outgoing, Phase, SenderState, Start, Timeouts};

/// The sender of one flow.
#[derive(Clone, Debug)]
pub struct Sender {
    delivery: Delivery,
    pacing: Pacing,
    due: Option<Time>,
    /// The rate of the card.
    highest: Rate,
    /// When the last request left.
    asked: Option<Time>,
    gives_up: bool,
    is_told: bool,
    wake: Time,
}

impl ExplicitSender for Sender {
    type Header = D3Header;
    type Settings = D3Settings;
    type Receiver = Receiver;

    fn new(settings: &D3Settings, start: &Start) -> Sender {
        Sender {
            delivery: Delivery::new(start.size),
            pacing: Pacing::new(D3Header::WIRE_BYTES),
            due: start.deadline.filter(|_| settings.knows_deadlines),
            highest: start.rate,
            asked: None,
            gives_up: false,
            is_told: false,
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
        let in_flight = Some(self.delivery.bytes_in_flight());
        SenderState { rate: Some(self.pacing.rate()), in_flight, ..SenderState::default() }
    }

    /// How far the sender is with its flow.
    #[inline]
    fn phase(&self) -> Phase {
        if self.is_told {
            Phase::GaveUp
        } else if self.delivery.is_done() {
            Phase::Acknowledged
        } else {
            Phase::Sending
        }
    }

    /// When the timer is due next.
    #[inline]
    fn deadline(&self) -> Time {
        self.wake
    }

    /// The next packet that may be sent now.
    #[inline]
    fn poll(&mut self, settings: &D3Settings, now: Time) -> Option<Outgoing<D3Header>> {
        if self.phase() != Phase::Sending {
            return None;
        }
        if self.gives_up {
            self.is_told = true;
            return Some(self.delivery.probe(now, Flags::TERM, D3Header::default()));
        }
        let outgoing = self.next_packet(settings, now);
        if outgoing.is_none() {
            self.wake = self.next_event(settings);
        }
        outgoing
    }

    /// Handles an ACK. The ACK of a request says which rate was granted.
    #[inline]
    fn on_ack(&mut self, settings: &D3Settings, now: Time, ack: &Packet<D3Header>) {
        self.delivery.on_ack(&settings.explicit, now, ack);
        if ack.header.is_request.is_set() {
            self.pacing.set_rate(ack.header.allocated);
            self.consider_quenching(settings, now);
        }
    }

    /// Handles the timer, which may have run out too early.
    fn on_timer(&mut self, settings: &D3Settings, now: Time) {
        self.delivery.on_timer(now);
        self.consider_quenching(settings, now);
    }
}

impl Sender {
    fn next_packet(&mut self, settings: &D3Settings, now: Time) -> Option<Outgoing<D3Header>> {
        if !self.delivery.is_open() {
            let header = self.request(now);
            return self.delivery.open(&settings.explicit, now, header).inspect(|_| {
                self.asked = Some(now);
            });
        }
        let payload = self.delivery.next_payload()?;
        let is_request = now >= self.next_request(settings);
        let may_send = !self.pacing.is_paused() && now >= self.pacing.next_departure();
        if !is_request && !may_send {
            return None;
        }
        let header = if is_request { self.request(now) } else { D3Header::default() };
        if is_request {
            self.asked = Some(now);
        }
        if !may_send {
            // At a rate of zero, a packet without data still asks again: D3's base rate.
            return Some(self.delivery.probe(now, Flags::default(), header));
        }
        self.pacing.sent(now, payload);
        self.delivery.send(&settings.explicit, now, header)
    }

    fn request(&self, now: Time) -> D3Header {
        D3Header {
            is_request: true.into(),
            desired: self.desired(now).min(self.highest),
            allocated: self.highest,
            rtt: self.delivery.round_trip().unwrap_or(Time::ZERO),
        }
    }

    /// The rate that meets the deadline: the rest of the flow over the time for it. It is zero
    /// without a deadline, and once the deadline has passed.
    ///
    /// - The rest is the bytes never sent, less those that the current rate sends until the answer
    ///   comes. Headers are counted, because rates include them.
    /// - The time is that until the deadline, less two round-trip times: one until the answer comes,
    ///   and one for the last packet.
    fn desired(&self, now: Time) -> Rate {
        // A deadline that has passed does not count.
        let Some(due) = self.due.filter(|due| *due > now) else { return Rate::from_bps(0) };
        let rtt = self.delivery.round_trip().unwrap_or(Time::ZERO);
        let time = due.saturating_sub(now).saturating_sub(rtt * 2).as_ps();
        let on_its_way = self.pacing.rate().bytes_in(rtt);
        let wire = PACKET_WIRE + u64::from(D3Header::WIRE_BYTES);
        let unsent = self.delivery.unsent().get() * wire / PACKET_PAYLOAD;
        let bits = u128::from(unsent.saturating_sub(on_its_way.get())) * 8;
        let rate = (bits * 1_000_000_000_000).div_ceil(u128::from(time.max(1)));
        Rate::from_bps(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    fn next_request(&self, settings: &D3Settings) -> Time {
        let rtt = self.delivery.answer_time(&settings.explicit);
        self.asked.map_or(Time::ZERO, |asked| asked.saturating_add(rtt))
    }

    fn next_event(&mut self, settings: &D3Settings) -> Time {
        let mut next = self.delivery.deadline();
        if self.delivery.next_payload().is_some() {
            next = next.min(self.pacing.next_departure()).min(self.next_request(settings));
        }
        if let Some(due) = self.due
            && settings.quenching
        {
            next = next.min(due.saturating_add(Time::from_ps(1)));
        }
        next
    }

    /// Gives the flow up if its deadline has passed, or if the flow would need more than the card's
    /// rate to meet it.
    fn consider_quenching(&mut self, settings: &D3Settings, now: Time) {
        let Some(due) = self.due else { return };
        if !settings.quenching || self.phase() != Phase::Sending {
            return;
        }
        self.gives_up = now > due || self.desired(now) > self.highest;
    }
}
