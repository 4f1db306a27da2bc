//! pHost's source: asks for tokens and spends them.

use std::collections::VecDeque;
use std::ops::Range;

use flowsched_units::{Bytes, PACKET_HEADER, PACKET_PAYLOAD, PACKET_WIRE, Time};

use super::source::Claim;
use super::{Host, Kind, Phost, PhostHeader, PhostSettings};
use crate::packet::{Flags, Packet};
use crate::tagger::Work;
use crate::transport::tcp::{SegmentSet, segments_of};
use crate::transport::{Outgoing, Phase, Sending, Start, Timeouts};

/// The time between requests doubles at most this many times.
const MOST_DOUBLINGS: u32 = 10;

/// The right to send one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token {
    number: u32,
    segment: u32,
    expires: Time,
}

/// The sending side of one flow.
#[derive(Clone, Debug)]
pub struct Sender {
    flow: u32,
    size: Bytes,
    segments: u32,
    /// The tokens from the start that are left. Each one's number is also that of its segment.
    free: Range<u32>,
    /// When the tokens from the start expire.
    free_until: Time,
    tokens: VecDeque<Token>,
    /// When the last token expires.
    until: Time,
    /// How long a token is valid.
    life: Time,
    /// Segments sent, from the first one that the receiver lacks on.
    sent: SegmentSet,
    /// The number of segments that the receiver lacks, as far as is known.
    missing: u32,
    is_done: bool,
    request_is_due: bool,
    /// When the source asks again.
    deadline: Time,
    retransmissions: u32,
    /// Requests without an answer.
    timeouts: Timeouts,
}

impl Sender {
    /// The source of a flow that begins now, with its free tokens.
    pub fn new(settings: &PhostSettings, start: &Start) -> Sender {
        let segments = segments_of(start.size);
        let packet_time = start.rate.transmission_time(Bytes::new(PACKET_WIRE));
        let life = settings.life(packet_time);
        let free = settings.free_of(segments);
        let expires = start.now.saturating_add(packet_time * u64::from(free)).saturating_add(life);
        Sender {
            flow: start.flow,
            size: start.size,
            segments,
            free: 0..free,
            free_until: expires,
            tokens: VecDeque::new(),
            until: expires,
            life,
            sent: SegmentSet::default(),
            missing: segments,
            is_done: false,
            request_is_due: true,
            deadline: Time::MAX,
            retransmissions: 0,
            timeouts: Timeouts::default(),
        }
    }

    /// Returns a request for tokens (RTS).
    fn request(&mut self, settings: &PhostSettings, now: Time) -> Outgoing<PhostHeader> {
        self.start_timer(settings, now);
        let header = PhostHeader { kind: Kind::Request, ..PhostHeader::default() };
        self.outgoing(0, 0, Flags::SYN.with(Flags::PROBE), header)
    }

    fn start_timer(&mut self, settings: &PhostSettings, now: Time) {
        let doublings = self.timeouts.in_a_row.min(MOST_DOUBLINGS);
        let interval = settings.request_interval.saturating_mul(1 << doublings);
        self.deadline = now.saturating_add(interval);
    }

    fn spend(&mut self, token: Token) -> Outgoing<PhostHeader> {
        let is_new = self.sent.insert(token.segment);
        self.retransmissions += u32::from(!is_new);
        let flags = Flags::default().with_if(!is_new, Flags::RETRANSMISSION);
        let header = PhostHeader { number: token.number, ..PhostHeader::default() };
        self.outgoing(token.segment, self.payload_of(token.segment), flags, header)
    }

    fn outgoing(
        &self,
        seq: u32,
        payload: u32,
        flags: Flags,
        header: PhostHeader,
    ) -> Outgoing<PhostHeader> {
        Outgoing {
            seq,
            payload,
            offset: u64::from(seq) * PACKET_PAYLOAD,
            flags,
            idle: false,
            timeouts_in_a_row: self.timeouts.in_a_row,
            work: Work { size: self.size, remaining: self.missing },
            header,
        }
    }

    fn payload_of(&self, segment: u32) -> u32 {
        let before = u64::from(segment) * PACKET_PAYLOAD;
        (self.size.get() - before).min(PACKET_PAYLOAD) as u32
    }

    fn forget_expired(&mut self, now: Time) {
        if self.free_until < now {
            self.free = 0..0;
        }
        while self.tokens.front().is_some_and(|token| token.expires < now) {
            self.tokens.pop_front();
        }
    }

    fn take_token(&mut self) -> Option<Token> {
        let free = |number| Token { number, segment: number, expires: self.free_until };
        self.free.next().map(free).or_else(|| self.tokens.pop_front())
    }

    /// Tells the host whether there are tokens to spend.
    fn claim(&mut self, host: &mut Host, now: Time) {
        self.forget_expired(now);
        if self.free.is_empty() && self.tokens.is_empty() {
            host.source.withdraw(self.flow);
        } else {
            let Sender { flow, missing, until, .. } = *self;
            host.source.wait(Claim { flow, missing, until });
        }
    }
}

impl Sending<Phost> for Sender {
    fn poll(&mut self, phost: &Phost, host: &mut Host, now: Time) -> Option<Outgoing<PhostHeader>> {
        if self.is_done {
            return None;
        }
        if std::mem::take(&mut self.request_is_due) {
            let request = self.request(&phost.settings, now);
            host.source.sent(now, PACKET_HEADER as u32);
            self.claim(host, now);
            return Some(request);
        }
        if !host.source.is_turn_of(self.flow, now) {
            return None;
        }
        self.forget_expired(now);
        let token = self.take_token()?;
        let outgoing = self.spend(token);
        host.source.sent(now, outgoing.payload + PACKET_HEADER as u32);
        self.claim(host, now);
        Some(outgoing)
    }

    fn on_ack(&mut self, phost: &Phost, host: &mut Host, now: Time, packet: &Packet<PhostHeader>) {
        let PhostHeader { kind, number, segment, missing } = packet.header;
        if kind != Kind::Token {
            self.is_done = true;
            host.source.withdraw(self.flow);
            return;
        }
        self.sent.advance(packet.seq);
        self.missing = missing;
        self.timeouts.end_row();
        self.start_timer(&phost.settings, now);
        if segment < self.segments {
            let expires = now.saturating_add(self.life);
            self.tokens.push_back(Token { number, segment, expires });
            self.until = self.until.max(expires);
        }
        self.claim(host, now);
    }

    /// Asks again if nothing was heard from the receiver: the request or its answer may be lost.
    fn on_timer(&mut self, _: &Phost, _host: &mut Host, now: Time) {
        if now >= self.deadline {
            self.deadline = Time::MAX;
            self.timeouts.add();
            self.request_is_due = true;
        }
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.deadline
    }

    #[inline]
    fn phase(&self) -> Phase {
        if self.is_done { Phase::Acknowledged } else { Phase::Sending }
    }

    fn finish(&mut self, _now: Time) {}

    fn retransmissions(&self) -> u32 {
        self.retransmissions
    }

    fn timeouts(&self) -> Timeouts {
        self.timeouts
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::to_sender;
    use super::super::sink::tests::SETTINGS;
    use super::*;
    use crate::transport::Transport;
    use flowsched_units::Rate;

    const RATE: Rate = Rate::from_gbps(10);
    /// How long a token is valid by [`SETTINGS`]: 1.5 packets of 1.2 us.
    const LIFE: Time = Time::from_ns(1_800);
    const PICOSECOND: Time = Time::from_ps(1);

    /// Whether a packet leaves at `now` for a token that came at `granted`. The flow is too long to
    /// have free tokens.
    fn is_worth_something(granted: Time, now: Time) -> bool {
        let phost = Phost { settings: SETTINGS };
        let mut host = phost.host(RATE);
        let size = Bytes::new(20 * PACKET_PAYLOAD);
        let start = Start {
            flow: 0,
            now: Time::ZERO,
            size,
            deadline: None,
            application_rate: None,
            rate: RATE,
            random: 0,
        };
        let mut sender = phost.sender(&start, ());
        let request = sender.poll(&phost, &mut host, Time::ZERO);
        assert_eq!(request.map(|outgoing| outgoing.payload), Some(0));
        let header = PhostHeader { kind: Kind::Token, missing: 20, ..PhostHeader::default() };
        sender.on_ack(&phost, &mut host, granted, &to_sender(0, 0, header));
        sender.poll(&phost, &mut host, now).is_some()
    }

    #[test]
    fn a_token_is_worth_something_up_to_the_instant_at_which_it_expires() {
        let granted = Time::from_us(10);
        assert!(is_worth_something(granted, granted + LIFE));
        assert!(!is_worth_something(granted, granted + LIFE + PICOSECOND));
    }
}
