//! The sending end of a message.

use std::ops::Range;

use flowsched_units::{Bytes, PACKET_PAYLOAD, Time};

use super::card::Claim;
use super::header::BARE;
use super::header::{HomaHeader, Kind};
use super::{Homa, HomaSettings, Host};
use crate::knowledge::Work;
use crate::packet::{Flags, Packet};
use crate::transport::tcp::segments_of;
use crate::transport::{Outgoing, Phase, Sending, Start, Timeouts};

/// The sender of one message.
#[derive(Clone, Debug)]
pub struct Sender {
    flow: u32,
    size: Bytes,
    segments: u32,
    /// Segments below this leave without a grant.
    unscheduled: u32,
    /// The next segment to send for the first time.
    next: u32,
    /// Segments below this may be sent.
    granted: u32,
    /// The queue for the segments of the last grant.
    priority: u8,
    /// Segments to send again.
    again: Range<u32>,
    /// A packet without data to send.
    bare: Option<Kind>,
    /// The claim that waits for the card.
    claim: Option<Claim>,
    /// When the sender last sent a segment or heard from the receiver, or its timer last ran out.
    heard: Time,
    is_done: bool,
    retransmissions: u32,
    timeouts: Timeouts,
    wait: Time,
}

impl Sender {
    /// The sender of a message that begins now.
    pub fn new(settings: &HomaSettings, start: &Start) -> Sender {
        let segments = segments_of(start.size);
        let unscheduled = segments.min(settings.rtt_segments);
        Sender {
            flow: start.flow,
            size: start.size,
            segments,
            unscheduled,
            next: 0,
            granted: unscheduled,
            priority: settings.scheduled.lowest,
            again: 0..0,
            bare: None,
            claim: None,
            heard: start.now,
            is_done: false,
            retransmissions: 0,
            timeouts: Timeouts::default(),
            wait: settings.resend_interval,
        }
    }

    /// The segment to send next, if there is one that may be sent.
    #[inline]
    fn next_segment(&self) -> Option<u32> {
        if !self.again.is_empty() {
            return Some(self.again.start);
        }
        (self.next < self.granted).then_some(self.next)
    }

    /// Sends the segment that is next.
    fn send(&mut self, segment: u32) -> Outgoing<HomaHeader> {
        let is_again = !self.again.is_empty();
        if is_again {
            self.again.start += 1;
            self.retransmissions += 1;
        } else {
            self.next += 1;
        }
        let offset = u64::from(segment) * PACKET_PAYLOAD;
        let payload = (self.size.get() - offset).min(PACKET_PAYLOAD) as u32;
        let is_unscheduled = segment < self.unscheduled;
        let kind = if is_unscheduled { Kind::Unscheduled } else { Kind::Scheduled };
        Outgoing {
            payload,
            flags: Flags::default().with_if(is_again, Flags::RETRANSMISSION),
            header: HomaHeader { kind, priority: self.priority, until: 0 },
            ..self.outgoing(segment)
        }
    }

    /// A packet without data at the place of `segment`.
    fn outgoing(&self, segment: u32) -> Outgoing<HomaHeader> {
        Outgoing {
            seq: segment,
            payload: 0,
            offset: u64::from(segment) * PACKET_PAYLOAD,
            flags: Flags::PROBE,
            idle: false,
            timeouts_in_a_row: 0,
            work: Work { size: self.size, remaining: self.segments - segment },
            header: HomaHeader::default(),
        }
    }

    /// Handles a receiver's request for segments that it granted and misses.
    fn on_resend(&mut self, missing: Range<u32>) {
        if self.next_segment().is_some() {
            self.bare = Some(Kind::Busy);
            return;
        }
        self.timeouts.add();
        // A segment that was never sent was granted by a packet that got lost.
        self.granted = self.granted.max(missing.end.min(self.segments));
        self.again = missing.start..missing.end.min(self.next);
    }
}

impl Sending<Homa> for Sender {
    #[inline]
    fn poll(&mut self, _homa: &Homa, host: &mut Host, now: Time) -> Option<Outgoing<HomaHeader>> {
        if let Some(kind) = self.bare.take() {
            host.card.occupy(now, BARE);
            let header = HomaHeader { kind, ..HomaHeader::default() };
            return Some(Outgoing { header, ..self.outgoing(0) });
        }
        if let Some(claim) = self.claim.take() {
            host.card.withdraw(claim);
        }
        if self.is_done {
            return None;
        }
        let segment = self.next_segment()?;
        let claim = Claim { remaining: self.segments - segment, flow: self.flow };
        if !host.card.is_turn_of(claim, now) {
            host.card.wait(claim);
            self.claim = Some(claim);
            return None;
        }
        let outgoing = self.send(segment);
        host.card.occupy(now, BARE + outgoing.payload);
        self.heard = now;
        Some(outgoing)
    }

    #[inline]
    fn on_ack(&mut self, _homa: &Homa, _host: &mut Host, now: Time, ack: &Packet<HomaHeader>) {
        let HomaHeader { kind, priority, until } = ack.header;
        self.heard = now;
        match kind {
            Kind::Grant if until > self.granted => {
                (self.granted, self.priority) = (until, priority);
                self.timeouts.end_row();
            }
            Kind::Resend => self.on_resend(ack.seq..until),
            Kind::Done => self.is_done = true,
            _ => {}
        }
    }

    /// Asks the receiver about the message after a long silence, unless there are segments to send.
    fn on_timer(&mut self, _homa: &Homa, _host: &mut Host, now: Time) {
        if now < self.deadline() {
            return;
        }
        self.heard = now;
        if self.next_segment().is_none() {
            self.bare = Some(Kind::Asking);
        }
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.heard.saturating_add(self.wait)
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
