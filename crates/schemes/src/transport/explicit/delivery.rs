//! Reliable delivery: what to send next, what has arrived, when to send again.
//!
//! "Like many transport protocols, a PDQ sender sends a SYN packet for flow initialization and a
//! TERM packet for flow termination, and resends a packet after a timeout. The sender maintains
//! standard data structures for reliable transmission" (PDQ 2012, 3.1). Here these are TCP's: the
//! SACK scoreboard, which also finds a loss when later packets arrive, and the estimate of the
//! timeout.

use flowsched_units::{Bytes, PACKET_PAYLOAD, Time};

use super::ExplicitSettings;
use crate::packet::{Flags, Header, Packet};
use crate::tagger::Work;
use crate::transport::tcp::scoreboard::Scoreboard;
use crate::transport::tcp::segments_of;
use crate::transport::tcp::timeout::RoundTrip;
use crate::transport::{Outgoing, Timeouts};

/// The timeout doubles at most this many times.
const MOST_DOUBLINGS: u32 = 10;

/// What an ACK answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// The packet that opened the flow, answered for the first time.
    Syn,
    /// Anything else.
    Other,
}

/// Segments that are yet to be sent, of which the last may be short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The number of segments.
    pub segments: u32,
    /// Payload bytes of the last segment.
    pub last_payload: u32,
}

/// The packet whose round trip is being timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timed {
    Segment(u32),
    /// A packet without data, by its number.
    Probe(u32),
}

/// The state of one flow's delivery.
#[derive(Clone, Debug)]
pub struct Delivery {
    board: Scoreboard,
    segments: u32,
    last_payload: u32,
    is_open: bool,
    /// Whether the first packet is to be sent, for the first time or again.
    syn_is_due: bool,
    round_trip: RoundTrip,
    timed: Option<(Timed, Time)>,
    /// Packets without data sent so far.
    probes: u32,
    /// When the timeout is due.
    deadline: Time,
    /// Segments sent again.
    pub retransmissions: u32,
    /// Timeouts.
    pub timeouts: Timeouts,
}

impl Delivery {
    /// The delivery of a flow of `size` bytes.
    pub fn new(size: Bytes) -> Delivery {
        let segments = segments_of(size);
        let full = u64::from(segments.saturating_sub(1)) * PACKET_PAYLOAD;
        Delivery {
            board: Scoreboard::default(),
            segments,
            last_payload: (size.get() - full) as u32,
            is_open: false,
            syn_is_due: true,
            round_trip: RoundTrip::default(),
            timed: None,
            probes: 0,
            deadline: Time::MAX,
            retransmissions: 0,
            timeouts: Timeouts::default(),
        }
    }

    /// The delivery of a flow of `size` bytes whose first packet is its first segment.
    pub fn without_handshake(size: Bytes) -> Delivery {
        Delivery { is_open: true, syn_is_due: false, ..Delivery::new(size) }
    }

    /// Whether the flow's first packet has been answered.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether every segment is acknowledged.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.board.unacknowledged() == self.segments
    }

    /// The measured round-trip time, once there is one.
    #[inline]
    pub fn round_trip(&self) -> Option<Time> {
        self.round_trip.smoothed()
    }

    /// How long an answer takes. This is the measured round-trip time, or the shortest timeout if
    /// there is no measurement because the first packet was sent twice.
    #[inline]
    pub fn answer_time(&self, settings: &ExplicitSettings) -> Time {
        self.round_trip.smoothed().unwrap_or(settings.rto_min)
    }

    /// When the timeout is due: [`Time::MAX`] if nothing is in flight.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Bytes of the flow that are not known to have arrived, the last segment counted as full.
    #[inline]
    pub fn remaining(&self) -> Bytes {
        let segments = u64::from(self.missing());
        Bytes::new((segments * PACKET_PAYLOAD).min(self.size().get()))
    }

    /// Segments that are not known to have arrived.
    pub fn missing(&self) -> u32 {
        self.segments - self.board.delivered()
    }

    /// Bytes of the flow never sent.
    pub fn unsent(&self) -> Bytes {
        self.size().saturating_sub(self.sent())
    }

    /// Bytes of the flow sent at least once, with the last segment counted as full.
    pub fn sent(&self) -> Bytes {
        Bytes::new(u64::from(self.board.next()) * PACKET_PAYLOAD)
    }

    /// The payload of the next segment to be sent, lost ones first.
    #[inline]
    pub fn next_payload(&mut self) -> Option<u32> {
        let seq = self.board.lost().unwrap_or(self.board.next());
        (self.is_open && seq < self.segments).then(|| self.payload_of(seq))
    }

    /// Segments never sent.
    #[inline]
    pub fn load(&self) -> u32 {
        self.segments - self.board.next()
    }

    /// The first segment never sent.
    #[inline]
    pub fn next(&self) -> u32 {
        self.board.next()
    }

    /// Payload bytes in flight, with every segment counted as full.
    pub fn bytes_in_flight(&self) -> Bytes {
        Bytes::new(u64::from(self.in_flight()) * PACKET_PAYLOAD)
    }

    /// Segments thought to be in the network.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    /// The first segment that is not known to have arrived in order.
    pub fn unacknowledged(&self) -> u32 {
        self.board.unacknowledged()
    }

    /// Takes back `count` of the segments never sent, or all of them if there are fewer. If it
    /// takes all, the last one may be short; otherwise all are full.
    pub fn take_back(&mut self, count: u32) -> Load {
        let (unsent, mut last_payload) = (self.load(), PACKET_PAYLOAD as u32);
        if count >= unsent && unsent > 0 {
            std::mem::swap(&mut last_payload, &mut self.last_payload);
        }
        let segments = count.min(unsent);
        self.segments -= segments;
        Load { segments, last_payload }
    }

    /// Adds segments to be sent. A short segment, whether here already or added, is the last one.
    pub fn add(&mut self, load: Load) {
        if self.load() == 0 || load.last_payload < PACKET_PAYLOAD as u32 {
            self.last_payload = load.last_payload;
        }
        self.segments += load.segments;
    }

    /// The first packet of the flow, if it is due.
    pub fn open<H: Header>(
        &mut self,
        settings: &ExplicitSettings,
        now: Time,
        header: H,
    ) -> Option<Outgoing<H>> {
        if !std::mem::take(&mut self.syn_is_due) {
            return None;
        }
        self.start_timer(settings, now);
        Some(self.probe(now, Flags::SYN, header))
    }

    /// The next segment, lost ones first, if there is one to send.
    #[inline]
    pub fn send<H: Header>(
        &mut self,
        settings: &ExplicitSettings,
        now: Time,
        header: H,
    ) -> Option<Outgoing<H>> {
        let lost = self.board.lost();
        let seq = lost.unwrap_or(self.board.next());
        if !self.is_open || seq >= self.segments {
            return None;
        }
        let was_idle = self.board.outstanding() == 0;
        let mut flags = Flags::default();
        if lost.is_some() {
            self.board.sent_again();
            self.retransmissions += 1;
            self.timed = None;
            flags = Flags::RETRANSMISSION;
        } else {
            self.board.sent_new();
            // A segment is timed in place of a probe: the probe may have been lost, and no later
            // one may show this.
            if !matches!(self.timed, Some((Timed::Segment(_), _))) {
                self.timed = Some((Timed::Segment(seq), now));
            }
        }
        if self.deadline == Time::MAX || lost.is_some() {
            self.start_timer(settings, now);
        }
        // The last packet of a flow tells the switches that the flow ends (PDQ 2012, 3.3.2: "flow A
        // sends its last packet (TERM)").
        let is_last = self.board.lost().is_none() && self.board.next() == self.segments;
        let flags = flags.with_if(is_last, Flags::TERM);
        let mut outgoing = self.outgoing(seq, self.payload_of(seq), flags, header);
        outgoing.idle = was_idle;
        Some(outgoing)
    }

    /// Returns a packet without data. It has a number of its own in place of a segment's number.
    pub fn probe<H: Header>(&mut self, now: Time, flags: Flags, header: H) -> Outgoing<H> {
        self.probes += 1;
        let number = self.probes;
        if self.timed.is_none() {
            self.timed = Some((Timed::Probe(number), now));
        }
        self.outgoing(number, 0, flags.with(Flags::PROBE), header)
    }

    fn payload_of(&self, seq: u32) -> u32 {
        if seq + 1 == self.segments { self.last_payload } else { PACKET_PAYLOAD as u32 }
    }

    fn size(&self) -> Bytes {
        let full = u64::from(self.segments.saturating_sub(1));
        Bytes::new(full * PACKET_PAYLOAD + u64::from(self.last_payload))
    }

    #[inline]
    fn outgoing<H: Header>(&self, seq: u32, payload: u32, flags: Flags, header: H) -> Outgoing<H> {
        Outgoing {
            seq,
            payload,
            offset: u64::from(seq) * PACKET_PAYLOAD,
            flags,
            idle: false,
            timeouts_in_a_row: self.timeouts.in_a_row,
            work: Work { size: self.size(), remaining: self.missing() },
            header,
        }
    }

    /// Handles an ACK. Returns what it answers.
    #[inline]
    pub fn on_ack<H: Header>(
        &mut self,
        settings: &ExplicitSettings,
        now: Time,
        ack: &Packet<H>,
    ) -> Answered {
        self.timeouts.end_row();
        if ack.flags.has(Flags::PROBE)
            && let Some((Timed::Probe(timed), sent)) = self.timed
            && timed <= ack.word
        {
            // The answer to a later probe shows that the timed one was lost.
            if timed == ack.word {
                self.round_trip.measure(now - sent);
            }
            self.timed = None;
        }
        if ack.flags.has(Flags::SYN) {
            return self.on_opened();
        }
        let fresh = self.board.acknowledge(ack.seq);
        let block = ack.sack_block();
        if !block.is_empty() {
            self.board.report(block);
            self.board.find_losses();
        }
        if let Some((Timed::Segment(segment), sent)) = self.timed
            && segment < ack.seq
        {
            self.round_trip.measure(now - sent);
            self.timed = None;
        }
        if fresh > 0 {
            self.deadline = Time::MAX;
            if self.board.outstanding() > 0 {
                self.start_timer(settings, now);
            }
        }
        Answered::Other
    }

    fn on_opened(&mut self) -> Answered {
        if self.is_open {
            return Answered::Other;
        }
        self.is_open = true;
        self.syn_is_due = false;
        self.deadline = Time::MAX;
        Answered::Syn
    }

    /// Handles the timeout, if it is due: what is in flight counts as lost.
    pub fn on_timer(&mut self, now: Time) {
        if now < self.deadline {
            return;
        }
        self.deadline = Time::MAX;
        self.timed = None;
        self.timeouts.add();
        if self.is_open {
            self.board.lose_all();
        } else {
            self.syn_is_due = true;
        }
    }

    fn start_timer(&mut self, settings: &ExplicitSettings, now: Time) {
        let patience = self.round_trip.patience().unwrap_or(Time::ZERO).max(settings.rto_min);
        let timeout = patience.saturating_mul(1 << self.timeouts.in_a_row.min(MOST_DOUBLINGS));
        self.deadline = now.saturating_add(timeout);
    }
}

#[cfg(test)]
mod tests;
