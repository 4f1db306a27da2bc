//! PDQ's sender (PDQ 2012, 3.1).

use flowsched_units::{Bytes, Rate, Time};

use super::{AgeingOf, Announced, Outlook, Pauser, PdqHeader, PdqSettings};
use crate::packet::{Flags, Header, Packet};
use crate::transport::explicit::{Delivery, ExplicitSender, Pacing, Receiver};
use crate::transport::{Outgoing, Phase, SenderState, Start, Timeouts};

/// The sender of one flow.
#[derive(Clone, Debug)]
pub struct Sender {
    delivery: Delivery,
    /// R_S, and when the next packet may leave.
    pacing: Pacing,
    /// When the last probe left.
    probed: Time,
    /// P_S: who paused the flow.
    paused_by: Option<Pauser>,
    /// D_S: when the flow should have finished.
    due: Option<Time>,
    /// I_S: round-trip times between probes; zero if no switch has set it.
    probe_interval: f32,
    /// R^max: the rate of the card.
    highest: Rate,
    random: u64,
    /// How long the flow has waited in earlier pauses. The present pause began at `paused_since`.
    waited: Time,
    paused_since: Option<Time>,
    /// Bytes that other senders of the same flow have to send.
    others: Bytes,
    /// Whether this sender asks to send some of those bytes.
    asks: bool,
    end: End,
    /// When the timer is due next.
    wake: Time,
}

/// Whether the sender gives up or leaves, and has told the switches so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    NotYet,
    /// The sender ends, and has to tell the switches (TERM).
    ToTell,
    Told,
}

impl ExplicitSender for Sender {
    type Header = PdqHeader;
    type Settings = PdqSettings;
    type Receiver = Receiver;

    fn new(_settings: &PdqSettings, start: &Start) -> Sender {
        Sender {
            delivery: Delivery::new(start.size),
            pacing: Pacing::new(PdqHeader::WIRE_BYTES),
            probed: start.now,
            paused_by: None,
            due: start.deadline,
            probe_interval: 0.0,
            highest: start.rate,
            random: start.random,
            waited: Time::ZERO,
            paused_since: Some(start.now),
            others: Bytes::ZERO,
            asks: false,
            end: End::NotYet,
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
        match self.end {
            End::Told => Phase::GaveUp,
            _ if self.delivery.is_done() && !self.asks => Phase::Acknowledged,
            _ => Phase::Sending,
        }
    }

    /// When the timer is due next.
    #[inline]
    fn deadline(&self) -> Time {
        self.wake
    }

    /// The next packet that may be sent now.
    #[inline]
    fn poll(&mut self, settings: &PdqSettings, now: Time) -> Option<Outgoing<PdqHeader>> {
        if self.end == End::ToTell {
            self.end = End::Told;
            let header = self.header(settings, now);
            return Some(self.delivery.probe(now, Flags::TERM, header));
        }
        if self.phase() != Phase::Sending {
            return None;
        }
        let outgoing = self.next_packet(settings, now);
        if outgoing.is_none() {
            self.wake = self.next_event(settings);
        }
        outgoing
    }

    /// "Whenever an ACK packet arrives, the sender updates its flow sending rate based on the
    /// feedback: T_S is updated based on the remaining flow size, RTT_S is updated based on the
    /// packet arrival time, and the remaining variables are set to the fields in the scheduling
    /// header."
    #[inline]
    fn on_ack(&mut self, settings: &PdqSettings, now: Time, ack: &Packet<PdqHeader>) {
        self.delivery.on_ack(&settings.explicit, now, ack);
        let PdqHeader { rate, paused_by, probe_interval, .. } = ack.header;
        self.pacing.set_rate(rate);
        self.paused_by = paused_by;
        self.probe_interval = probe_interval;
        match (self.pacing.is_paused(), self.paused_since) {
            (true, None) => self.paused_since = Some(now),
            (false, Some(since)) => {
                self.waited += now.saturating_sub(since);
                self.paused_since = None;
            }
            _ => {}
        }
        self.consider_termination(settings, now);
    }

    /// Handles the timer, which may have run out too early.
    fn on_timer(&mut self, settings: &PdqSettings, now: Time) {
        self.delivery.on_timer(now);
        self.consider_termination(settings, now);
    }

    /// "A PDQ receiver copies the scheduling header from each data packet to its corresponding
    /// ACK. Moreover, ... the PDQ receiver reduces R_H if it exceeds the maximal rate that
    /// receiver can process and receive" (3.2).
    #[inline]
    fn answer(settings: &PdqSettings, header: &mut PdqHeader) {
        header.rate = header.rate.min(settings.receiver_rate);
    }
}

/// Methods for a flow that has several senders.
impl Sender {
    /// The sender's delivery: what it has to send, and what has arrived.
    pub(super) fn delivery(&self) -> &Delivery {
        &self.delivery
    }

    /// The sender's delivery, to add segments or to take them back.
    pub(super) fn delivery_mut(&mut self) -> &mut Delivery {
        &mut self.delivery
    }

    /// Whether switches let it send.
    pub(super) fn is_sending(&self) -> bool {
        self.delivery.is_open() && !self.pacing.is_paused()
    }

    /// Whether switches have paused it.
    pub(super) fn is_paused(&self) -> bool {
        self.delivery.is_open() && self.pacing.is_paused()
    }

    /// Tells the sender that other senders of its flow have `others` to send, and whether it `asks`
    /// to send some of that.
    pub(super) fn tell(&mut self, others: Bytes, asks: bool) {
        self.others = others;
        self.asks = asks;
    }

    /// Ends the sender, which then tells the switches.
    pub(super) fn leave(&mut self) {
        self.end = End::ToTell;
    }
}

impl Sender {
    fn next_packet(&mut self, settings: &PdqSettings, now: Time) -> Option<Outgoing<PdqHeader>> {
        if !self.delivery.is_open() {
            let header = self.header(settings, now);
            return self.delivery.open(&settings.explicit, now, header);
        }
        let payload = self.delivery.next_payload();
        if payload.is_none() && !self.asks {
            return None;
        }
        if let Some(payload) = payload
            && !self.pacing.is_paused()
            && now >= self.pacing.next_departure()
        {
            let header = self.header(settings, now);
            self.pacing.sent(now, payload);
            return self.delivery.send(&settings.explicit, now, header);
        }
        if now >= self.next_probe(settings) {
            self.probed = now;
            let header = self.header(settings, now);
            return Some(self.delivery.probe(now, Flags::default(), header));
        }
        None
    }

    /// When a probe is due if nothing is sent before. A flow whose packets are further apart than
    /// its probes sends probes too, because what switches told it would be long out of date
    /// otherwise.
    fn next_probe(&self, settings: &PdqSettings) -> Time {
        let rtt = self.delivery.answer_time(&settings.explicit).as_ps() as f64;
        let interval = f64::from(self.probe_interval);
        // "One could let a paused sender send one probe per RTT" (3.3.2). The sender does this if
        // no switch has set an interval.
        let is_told = interval > 0.0 && self.pacing.is_paused();
        let interval = if is_told { rtt * interval } else { rtt * interval.max(1.0) };
        let last = self.pacing.last_departure().max(self.probed);
        last.saturating_add(Time::from_ps(interval as u64))
    }

    fn next_event(&mut self, settings: &PdqSettings) -> Time {
        let mut next = self.delivery.deadline();
        if self.delivery.next_payload().is_some() {
            next = next.min(self.pacing.next_departure()).min(self.next_probe(settings));
        } else if self.asks {
            next = next.min(self.next_probe(settings));
        }
        if let Some(due) = self.due
            && settings.early_termination
        {
            // Just after the deadline, condition 1 holds.
            next = next.min(due.saturating_add(Time::from_ps(1)));
        }
        next
    }

    /// "The sender attaches a scheduling header to the packet, containing fields set based on
    /// the values of each of the sender's state variables. R_H is always set to the maximal
    /// sending rate."
    #[inline]
    fn header(&self, settings: &PdqSettings, now: Time) -> PdqHeader {
        let (transmission, head_start) = self.transmission(settings, now);
        PdqHeader {
            rate: self.highest,
            deadline: self.due.unwrap_or(Time::MAX),
            transmission,
            head_start,
            rtt: self.delivery.round_trip().unwrap_or(Time::ZERO),
            paused_by: self.paused_by,
            probe_interval: 0.0,
        }
    }

    /// The announced T_S, and how much is subtracted from it in the order of flows.
    #[inline]
    fn transmission(&self, settings: &PdqSettings, now: Time) -> (Time, Time) {
        let waiting = self.paused_since.map_or(Time::ZERO, |since| now.saturating_sub(since));
        let announced = Announced {
            remaining: self.delivery.remaining() + self.others,
            sent: self.delivery.sent(),
            rate: self.highest,
            random: self.random,
            waited: self.waited + waiting,
        };
        let time = announced.transmission(settings.knowledge);
        let aged = announced.aged(time, settings.ageing);
        match settings.ageing_of {
            AgeingOf::TransmissionTime => (aged, Time::ZERO),
            AgeingOf::Criticality => (time, time.saturating_sub(aged)),
        }
    }

    fn consider_termination(&mut self, settings: &PdqSettings, now: Time) {
        let Some(due) = self.due else { return };
        if !settings.early_termination || self.phase() != Phase::Sending {
            return;
        }
        let outlook = Outlook {
            due,
            rest: self.highest.transmission_time(self.delivery.remaining()),
            paused: self.is_paused().then(|| self.delivery.round_trip().unwrap_or(Time::ZERO)),
        };
        if outlook.is_hopeless(settings.knowledge, now) {
            self.end = End::ToTell;
        }
    }
}
