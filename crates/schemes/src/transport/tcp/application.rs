//! The part of a flow that its application has handed over to the sender.
//!
//! Here TCP sends whole segments, so it can send a segment once it has the segment's last byte. Windows
//! grow as if applications did not limit their flows, which RFC 5681 allows.

use flowsched_units::{Bytes, PACKET_PAYLOAD, Rate, Time};

use super::segments_of;
use crate::transport::Start;

/// The segments of a flow that its sender has: all of them, unless the application has a rate. Senders of
/// most flows only pay for a pointer.
#[derive(Clone, Debug)]
pub(super) struct HandedOver(Option<Box<Paced>>);

/// The part that an application has handed over at its rate.
#[derive(Clone, Copy, Debug)]
struct Paced {
    segments: u32,
    size: Bytes,
    from: Time,
    rate: Rate,
}

impl HandedOver {
    pub(super) fn new(start: &Start) -> HandedOver {
        let Start { size, now: from, .. } = *start;
        let paced = |rate| Box::new(Paced { segments: 0, size, from, rate });
        HandedOver(start.application_rate.map(paced))
    }

    /// Whether the sender has had the whole flow since the flow began.
    #[inline]
    pub(super) fn is_all(&self) -> bool {
        self.0.is_none()
    }

    /// How many of the flow's `all` segments the sender has.
    #[inline]
    pub(super) fn segments(&self, all: u32) -> u32 {
        self.0.as_ref().map_or(all, |paced| paced.segments)
    }

    /// Takes the segments that the application has handed over by `now`.
    #[inline]
    pub(super) fn take(&mut self, now: Time) {
        if let Some(paced) = &mut self.0 {
            paced.take(now);
        }
    }

    /// When the application hands over the segment `next`, for which the sender waits. `None` if the sender
    /// has this segment or has sent all segments.
    #[inline]
    pub(super) fn awaited_at(&self, next: u32) -> Option<Time> {
        let paced = self.0.as_ref()?;
        if next == paced.segments { paced.next_at() } else { None }
    }
}

impl Paced {
    #[cold]
    fn take(&mut self, now: Time) {
        while self.next_at().is_some_and(|at| at <= now) {
            self.segments += 1;
        }
    }

    fn next_at(&self) -> Option<Time> {
        if self.segments == segments_of(self.size) {
            return None;
        }
        let end = Bytes::new((u64::from(self.segments) + 1) * PACKET_PAYLOAD).min(self.size);
        Some(self.from.saturating_add(self.rate.transmission_time(end)))
    }
}
