//! Which messages a receiving host grants, and at which priorities.
//!
//! Montazeri et al., SIGCOMM 2018, 3.3 to 3.5. A receiver grants so much of a message that RTTbytes
//! of it are granted but have not arrived. It grants a few messages at a time (overcommitment), those
//! with the fewest bytes left. Each of them has a scheduled priority of its own, and the one with
//! the fewest bytes left has the highest. If there are fewer messages than levels, they use the
//! lowest levels. A shorter message that comes later can then preempt the others from a higher
//! level.

use flowsched_units::Time;

use super::HomaSettings;
use super::header::{HomaHeader, Kind, to_sender};
use crate::packet::Packet;

/// A message that comes in and is longer than RTTbytes. The one with the least `place` is granted
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Message {
    /// Segments that have not come.
    remaining: u32,
    flow: u32,
    segments: u32,
    /// Segments below this may be sent.
    granted: u32,
    /// When the last grant was sent: zero if there was none.
    granted_at: Time,
}

impl Message {
    fn place(&self) -> (u32, u32) {
        (self.remaining, self.flow)
    }

    fn needs_grants(&self) -> bool {
        self.granted < self.segments
    }
}

/// The segments that a message may send, and since when it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Segments below this may be sent.
    pub until: u32,
    /// When the last grant was sent: zero if there was none.
    pub since: Time,
}

/// The messages that come in at a host and are longer than RTTbytes.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    /// In the order in which they are granted.
    messages: Vec<Message>,
}

impl Grants {
    /// Takes in a new segment, after which `remaining` of the message's segments have not come.
    /// Hands grants to `send`.
    pub fn on_segment(
        &mut self,
        settings: &HomaSettings,
        now: Time,
        (flow, segments, remaining): (u32, u32, u32),
        send: impl FnMut(Packet<HomaHeader>),
    ) {
        if segments <= settings.rtt_segments {
            return;
        }
        let before = (remaining + 1, flow);
        let mut message = match self.messages.binary_search_by_key(&before, Message::place) {
            Ok(place) => self.messages.remove(place),
            Err(_) => {
                let granted = settings.rtt_segments;
                Message { remaining, flow, segments, granted, granted_at: Time::ZERO }
            }
        };
        message.remaining = remaining;
        if remaining > 0 {
            let place = self.messages.partition_point(|other| other.place() < message.place());
            self.messages.insert(place, message);
        }
        self.grant(settings, now, send);
    }

    /// Sends the grants that are due.
    fn grant(
        &mut self,
        settings: &HomaSettings,
        now: Time,
        mut send: impl FnMut(Packet<HomaHeader>),
    ) {
        let most = settings.overcommitment;
        let needing = self.messages.iter().filter(|message| message.needs_grants());
        let active = needing.take(most).count();
        let mut rank = 0;
        for message in &mut self.messages {
            if rank == most {
                break;
            }
            if !message.needs_grants() {
                continue;
            }
            let came = message.segments - message.remaining;
            let until = message.segments.min(came.saturating_add(settings.rtt_segments));
            if until > message.granted {
                (message.granted, message.granted_at) = (until, now);
                let priority = settings.scheduled.level(rank, active);
                let header = HomaHeader { kind: Kind::Grant, priority, until };
                send(to_sender(message.flow, came, header));
            }
            rank += usize::from(message.needs_grants());
        }
    }

    /// The segments that an incomplete message may send.
    pub fn granted(
        &self,
        settings: &HomaSettings,
        (flow, segments, remaining): (u32, u32, u32),
    ) -> Granted {
        let found = self.messages.binary_search_by_key(&(remaining, flow), Message::place);
        found.map_or(
            Granted { until: segments.min(settings.rtt_segments), since: Time::ZERO },
            |place| {
                let Message { granted, granted_at, .. } = self.messages[place];
                Granted { until: granted, since: granted_at }
            },
        )
    }
}
