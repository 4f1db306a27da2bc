//! The receiving end of a message.

use std::ops::Range;

use flowsched_units::Time;

use super::header::BARE;
use super::header::{HomaHeader, Kind, to_sender};
use super::{Homa, Host};
use crate::packet::Packet;
use crate::transport::Receiving;
use crate::transport::tcp::SegmentSet;

/// The receiver of one message.
#[derive(Clone, Debug)]
pub struct Receiver {
    segments: u32,
    /// The first segment that has not come.
    expected: u32,
    /// Segments that came beyond the expected one.
    beyond: SegmentSet,
    /// Segments that have not come.
    remaining: u32,
    /// The message's index, once a packet of it has come.
    flow: Option<u32>,
    /// When to ask for what is missing.
    due: Time,
}

impl Receiver {
    /// The receiver of a message of this many segments.
    pub fn new(segments: u32) -> Receiver {
        Receiver {
            segments,
            expected: 0,
            beyond: SegmentSet::default(),
            remaining: segments,
            flow: None,
            due: Time::MAX,
        }
    }

    /// Takes in a segment. Returns whether it came for the first time.
    fn take_in(&mut self, segment: u32) -> bool {
        if segment != self.expected {
            let is_new = segment > self.expected && self.beyond.insert(segment);
            self.remaining -= u32::from(is_new);
            return is_new;
        }
        self.expected = self.beyond.run_end(segment + 1);
        self.beyond.advance(self.expected);
        self.remaining -= 1;
        true
    }

    /// The first run of missing segments below `until`.
    fn missing(&self, until: u32) -> Range<u32> {
        let start = self.expected;
        let end = (start..until).find(|segment| self.beyond.contains(*segment));
        start..end.unwrap_or(until.max(start))
    }

    fn hear(&mut self, homa: &Homa, now: Time, flow: u32) {
        self.flow = Some(flow);
        let due = now.saturating_add(homa.settings.resend_interval);
        self.due = if self.remaining > 0 { due } else { Time::MAX };
    }
}

impl Receiving<Homa> for Receiver {
    #[inline]
    fn on_data(
        &mut self,
        homa: &Homa,
        host: &mut Host,
        now: Time,
        packet: &Packet<HomaHeader>,
        mut send: impl FnMut(Packet<HomaHeader>),
    ) {
        let (flow, segments) = (packet.flow, self.segments);
        let Host { card, grants } = host;
        let mut send = |answer| {
            card.occupy(now, BARE);
            send(answer);
        };
        let is_first = self.flow.is_none();
        let kind = packet.header.kind;
        let is_data = matches!(kind, Kind::Unscheduled | Kind::Scheduled);
        let is_new = is_data && self.take_in(packet.seq);
        // A sender that asks has nothing in flight.
        if is_first || kind != Kind::Asking {
            self.hear(homa, now, flow);
        }
        if is_new {
            grants.on_segment(&homa.settings, now, (flow, segments, self.remaining), &mut send);
        }
        if self.remaining == 0 {
            send(to_sender(flow, segments, HomaHeader { kind: Kind::Done, ..packet.header }));
        } else if is_first && kind == Kind::Asking {
            let missing = self.missing(segments.min(homa.settings.rtt_segments));
            send(resend(flow, missing));
        }
    }

    /// Asks for segments that were granted and have not come for long (Montazeri et al., SIGCOMM
    /// 2018, 3.7).
    fn on_timer(
        &mut self,
        homa: &Homa,
        host: &mut Host,
        now: Time,
        mut send: impl FnMut(Packet<HomaHeader>),
    ) {
        let Some(flow) = self.flow.filter(|_| now >= self.due) else { return };
        let granted = host.grants.granted(&homa.settings, (flow, self.segments, self.remaining));
        let wait = homa.settings.resend_interval;
        let since_granted = granted.since.saturating_add(wait);
        if since_granted > now {
            self.due = since_granted;
            return;
        }
        self.due = now.saturating_add(wait);
        let missing = self.missing(granted.until);
        if !missing.is_empty() {
            host.card.occupy(now, BARE);
            send(resend(flow, missing));
        }
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.due
    }

    #[inline]
    fn is_delivered(&self) -> bool {
        self.remaining == 0
    }
}

fn resend(flow: u32, missing: Range<u32>) -> Packet<HomaHeader> {
    let header = HomaHeader { kind: Kind::Resend, priority: 0, until: missing.end };
    to_sender(flow, missing.start, header)
}
