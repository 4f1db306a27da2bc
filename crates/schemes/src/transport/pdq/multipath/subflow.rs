//! One subflow: PDQ's sender, and which of the flow's segments it sent.

use std::collections::VecDeque;

use flowsched_units::{PACKET_PAYLOAD, Time};

use super::{MultipathHeader, MultipathSettings};
use crate::packet::{Flags, Packet};
use crate::transport::explicit::ExplicitSender;
use crate::transport::pdq::{PdqHeader, Sender};
use crate::transport::{Outgoing, Phase};

/// The segments of a flow that no subflow has sent yet. A subflow gets a segment when it sends one,
/// so that the receiver does not have to wait long for the next one in order. The last segment may
/// be short: then the subflow that was given it sends it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unsent {
    /// The first of these segments, apart from the last one.
    next: u32,
    /// The flow's last segment.
    last: u32,
    last_payload: u32,
}

impl Unsent {
    /// All segments of a flow. The last one has this many bytes.
    pub(super) fn new(segments: u32, last_payload: u32) -> Unsent {
        Unsent { next: 0, last: segments.saturating_sub(1), last_payload }
    }

    /// Takes the segment for a subflow that wants to send this many bytes.
    fn take(&mut self, payload: u32) -> u32 {
        if u64::from(payload) < PACKET_PAYLOAD {
            return self.last;
        }
        self.next += 1;
        self.next - 1
    }

    fn payload_of(&self, segment: u32) -> u32 {
        if segment == self.last { self.last_payload } else { PACKET_PAYLOAD as u32 }
    }
}

/// A subflow of one flow.
#[derive(Clone, Debug)]
pub(super) struct Subflow {
    pub(super) sender: Sender,
    path: u32,
    /// The subflow's number of the first segment in `sent`.
    first: u32,
    /// The flow's segments that the subflow sent, without those that are acknowledged in order.
    sent: VecDeque<u32>,
    /// Whether the last packet told the switches that the subflow ends.
    pub(super) has_left: bool,
}

impl Subflow {
    pub(super) fn new(sender: Sender, path: u32) -> Subflow {
        Subflow { sender, path, first: 0, sent: VecDeque::new(), has_left: false }
    }

    /// Whether it has something to send, or to wait for.
    pub(super) fn is_active(&self) -> bool {
        self.sender.phase() == Phase::Sending
    }

    /// The next packet that the subflow may send now, as a packet of its flow.
    #[inline]
    pub(super) fn poll(
        &mut self,
        settings: &MultipathSettings,
        now: Time,
        unsent: &mut Unsent,
    ) -> Option<Outgoing<MultipathHeader>> {
        let outgoing = self.sender.poll(&settings.subflow, now)?;
        self.has_left = outgoing.flags.has(Flags::TERM);
        let (mut seq, mut payload) = (outgoing.seq, outgoing.payload);
        if !outgoing.flags.has(Flags::PROBE) {
            let place = (seq - self.first) as usize;
            if place == self.sent.len() {
                self.sent.push_back(unsent.take(payload));
            }
            seq = self.sent[place];
            payload = unsent.payload_of(seq);
        }
        let header =
            MultipathHeader { pdq: outgoing.header, path: self.path, number: outgoing.seq };
        let Outgoing { flags, idle, timeouts_in_a_row, work, .. } = outgoing;
        let offset = u64::from(seq) * PACKET_PAYLOAD;
        Some(Outgoing { seq, payload, offset, flags, idle, timeouts_in_a_row, work, header })
    }

    /// Handles an ACK of one of the subflow's packets.
    #[inline]
    pub(super) fn on_ack(
        &mut self,
        settings: &MultipathSettings,
        now: Time,
        ack: &Packet<MultipathHeader>,
    ) {
        let mut own: Packet<PdqHeader> = ack.with_header(ack.header.pdq);
        own.seq = ack.header.number;
        self.sender.on_ack(&settings.subflow, now, &own);
        let arrived = self.sender.delivery().unacknowledged();
        self.sent.drain(..(arrived - self.first) as usize);
        self.first = arrived;
    }
}
