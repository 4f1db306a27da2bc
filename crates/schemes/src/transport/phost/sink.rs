//! Decides which flow gets the next token at a receiver. One token leaves per packet time.

use flowsched_units::Time;

use super::header::to_sender;
use super::{Kind, PhostHeader, PhostSettings};
use crate::packet::Packet;
use crate::transport::tcp::SegmentSet;

/// The receiving side of a host: the flows that it lacks packets of.
#[derive(Clone, Debug)]
pub struct Sink {
    /// How long a full packet takes on the host's link.
    packet_time: Time,
    /// No token leaves before this time.
    next: Time,
    /// When to look for a token to send: [`Time::MAX`] if not before another packet comes.
    wake: Time,
    flows: Vec<Incoming>,
}

/// A flow of which packets are missing.
#[derive(Clone, Debug)]
struct Incoming {
    flow: u32,
    segments: u32,
    /// The first segment that is missing.
    expected: u32,
    /// Segments that came beyond the expected one.
    beyond: SegmentSet,
    /// The segment after the one that the last token was for.
    cursor: u32,
    /// Tokens so far, including those that the source had from the start.
    tokens: u32,
    /// The number of tokens at which every missing segment has had one.
    goal: u32,
    /// The number of the latest token spent, plus one.
    answered: u32,
    /// When the last token left.
    last: Time,
    /// When segments that have had a token get another one.
    again: Time,
}

impl Incoming {
    fn missing(&self) -> u32 {
        self.segments - self.expected - self.beyond.count()
    }

    /// The earliest time at which the flow may get a token.
    fn ready(&self, settings: &PhostSettings) -> Time {
        if self.tokens == self.goal {
            self.again
        } else if self.tokens - self.answered >= settings.token_window {
            self.last.saturating_add(settings.downgrade_time)
        } else {
            Time::ZERO
        }
    }

    /// Returns the flow's next token. The flow must be ready.
    fn token(&mut self, settings: &PhostSettings, now: Time) -> Packet<PhostHeader> {
        if self.tokens == self.goal {
            self.goal += self.missing();
        }
        if self.tokens - self.answered >= settings.token_window {
            // One token shows whether the source answers again.
            self.answered = self.tokens - settings.token_window + 1;
        }
        let mut segment = self.beyond.run_end(self.cursor.max(self.expected));
        if segment >= self.segments {
            segment = self.expected;
        }
        let (number, missing) = (self.tokens, self.missing());
        self.cursor = segment + 1;
        self.tokens += 1;
        self.last = now;
        if self.tokens == self.goal {
            self.again = now.saturating_add(settings.resend_time);
        }
        let header = PhostHeader { kind: Kind::Token, number, segment, missing };
        to_sender(self.flow, self.expected, header)
    }

    fn take_in(&mut self, segment: u32) {
        if segment == self.expected {
            self.expected = self.beyond.run_end(self.expected + 1);
            self.beyond.advance(self.expected);
        } else if segment > self.expected && segment < self.segments {
            self.beyond.insert(segment);
        }
    }
}

impl Sink {
    /// The receiving side of a host on whose link a full packet takes this time.
    pub fn new(packet_time: Time) -> Sink {
        Sink { packet_time, next: Time::ZERO, wake: Time::MAX, flows: Vec::new() }
    }

    /// When to look for a token to send.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.wake
    }

    /// Adds a flow of which a packet has come, unless it is open already. The source has had `free`
    /// tokens from the start. The host's link is busy with the packets of these, so no tokens leave
    /// for that time.
    pub fn open(
        &mut self,
        settings: &PhostSettings,
        now: Time,
        flow: u32,
        segments: u32,
        free: u32,
    ) {
        if self.flows.iter().any(|incoming| incoming.flow == flow) {
            return;
        }
        let busy = self.packet_time * u64::from(free);
        self.next = self.next.max(now).saturating_add(busy);
        self.wake = self.next;
        self.flows.push(Incoming {
            flow,
            segments,
            expected: 0,
            beyond: SegmentSet::default(),
            cursor: free,
            tokens: free,
            goal: segments,
            answered: 0,
            last: now,
            again: now.saturating_add(busy).saturating_add(settings.resend_time),
        });
    }

    /// Takes in a packet of an open flow that was sent with the token of this number. Returns whether
    /// the flow is complete now, and forgets it if so.
    #[inline]
    pub fn take_in(&mut self, now: Time, flow: u32, segment: u32, number: u32) -> bool {
        let is_it = |incoming: &Incoming| incoming.flow == flow;
        let Some(place) = self.flows.iter().position(is_it) else { return false };
        let incoming = &mut self.flows[place];
        incoming.take_in(segment);
        incoming.answered = incoming.answered.max(number.saturating_add(1)).min(incoming.tokens);
        self.wake = self.next.max(now);
        let is_complete = incoming.missing() == 0;
        if is_complete {
            self.flows.swap_remove(place);
        }
        is_complete
    }

    /// Returns the token that is due. It is for the flow that lacks the fewest segments, of those
    /// that may get one.
    pub fn next_token(
        &mut self,
        settings: &PhostSettings,
        now: Time,
    ) -> Option<Packet<PhostHeader>> {
        if now < self.wake {
            return None;
        }
        self.wake = Time::MAX;
        let mut first: Option<(u32, u32, usize)> = None;
        for (place, incoming) in self.flows.iter().enumerate() {
            let ready = incoming.ready(settings);
            if ready > now {
                self.wake = self.wake.min(ready);
            } else {
                let rank = (incoming.missing(), incoming.flow, place);
                first = Some(first.map_or(rank, |best| best.min(rank)));
            }
        }
        let (.., place) = first?;
        self.next = now.saturating_add(self.packet_time);
        self.wake = self.next;
        Some(self.flows[place].token(settings, now))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::transport::phost) const SETTINGS: PhostSettings = PhostSettings {
        free_tokens: 8,
        all_have_free_tokens: false,
        token_life: 1.5,
        token_window: 4,
        downgrade_time: Time::from_us(100),
        resend_time: Time::from_us(50),
        request_interval: Time::from_ms(1),
        host_rate: 1.0,
    };

    /// A host on whose link a full packet takes a microsecond.
    fn sink() -> Sink {
        Sink::new(Time::from_us(1))
    }

    /// The flow, the number and the segment of the token that is due.
    fn token(sink: &mut Sink, us: u64) -> Option<(u32, u32, u32)> {
        let token = sink.next_token(&SETTINGS, Time::from_us(us))?;
        Some((token.flow, token.header.number, token.header.segment))
    }

    #[test]
    fn the_flow_that_lacks_the_fewest_packets_goes_first() {
        let mut sink = sink();
        sink.open(&SETTINGS, Time::ZERO, 1, 30, 0);
        sink.open(&SETTINGS, Time::ZERO, 2, 20, 0);
        assert_eq!(token(&mut sink, 0), Some((2, 0, 0)));
        assert_eq!(token(&mut sink, 0), None, "one in the time of a packet");
        assert_eq!(token(&mut sink, 1), Some((2, 1, 1)));
    }

    #[test]
    fn a_flow_that_does_not_answer_is_passed_over_for_a_while() {
        let mut sink = sink();
        sink.open(&SETTINGS, Time::ZERO, 1, 10, 0);
        sink.open(&SETTINGS, Time::ZERO, 2, 90, 0);
        let flows: Vec<u32> = (0..8).map(|us| token(&mut sink, us).unwrap().0).collect();
        assert_eq!(flows, [1, 1, 1, 1, 2, 2, 2, 2]);
        assert_eq!(token(&mut sink, 8), None);
        assert_eq!(sink.deadline(), Time::from_us(103), "100 us after the last token of flow 1");
        sink.take_in(Time::from_us(10), 2, 0, 0);
        assert_eq!(token(&mut sink, 10), Some((2, 4, 4)), "flow 2 answers");
        assert_eq!(token(&mut sink, 103), Some((1, 4, 4)), "one token, to see");
        assert_eq!(token(&mut sink, 104), None);
    }

    #[test]
    fn segments_that_do_not_come_get_another_token() {
        let mut sink = sink();
        sink.open(&SETTINGS, Time::ZERO, 1, 3, 0);
        for us in 0..3 {
            token(&mut sink, us).unwrap();
        }
        sink.take_in(Time::from_us(4), 1, 1, 1);
        assert_eq!(token(&mut sink, 5), None, "all have had one");
        assert_eq!(token(&mut sink, 52), Some((1, 3, 0)));
        assert_eq!(token(&mut sink, 53), Some((1, 4, 2)), "segment 1 came");
        assert!(!sink.take_in(Time::from_us(54), 1, 0, 3));
        assert!(sink.take_in(Time::from_us(55), 1, 2, 4), "complete");
        assert_eq!((token(&mut sink, 60), sink.deadline()), (None, Time::MAX));
    }

    #[test]
    fn tokens_wait_while_free_packets_come() {
        let mut sink = sink();
        sink.open(&SETTINGS, Time::ZERO, 1, 30, 0);
        sink.open(&SETTINGS, Time::ZERO, 2, 5, 5);
        assert_eq!((token(&mut sink, 4), token(&mut sink, 5)), (None, Some((1, 0, 0))));
        assert_eq!(token(&mut sink, 55), Some((2, 5, 0)), "of 5 free packets the first is missing");
    }
}
