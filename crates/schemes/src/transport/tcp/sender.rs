//! TCP's sending side: which segment to send next, and when a time-out is due.

use flowsched_units::{Bytes, PACKET_PAYLOAD, Time};

use super::application::HandedOver;
use super::congestion::{Acked, Ahead, AnyAlgorithm, CongestionControl, Loss, Window};
use super::scoreboard::Scoreboard;
use super::send_times::SendTimes;
use super::settings::{EctOn, Growth, Restart, Rto};
use super::timeout::{Position, RoundTrip};
use super::{Tcp, segments_of};
use crate::packet::{Flags, Packet};
use crate::tagger::Work;
use crate::transport::{Outgoing, SenderState, Start, Timeouts};

/// The state of a connection, which stays when a flow ends and the next begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connection<A = AnyAlgorithm> {
    is_open: bool,
    window: Window,
    congestion: A,
    round_trip: RoundTrip,
    last_active: Time,
}

impl<A: CongestionControl> Connection<A> {
    /// A connection that has not had its handshake yet.
    pub(super) fn closed(tcp: &Tcp<A>) -> Connection<A> {
        Connection {
            is_open: false,
            window: Window::new(tcp.settings.initial_window, tcp.settings.max_window),
            congestion: tcp.congestion,
            round_trip: RoundTrip::default(),
            last_active: Time::ZERO,
        }
    }

    /// A connection that is open and has measured `round_trip` once.
    pub(super) fn open(tcp: &Tcp<A>, round_trip: Time) -> Connection<A> {
        let mut connection = Connection { is_open: true, ..Connection::closed(tcp) };
        connection.round_trip.measure_at(round_trip, &tcp.settings, Position::default());
        connection
    }

    fn start_flow(&mut self, tcp: &Tcp<A>, start: &Start) {
        self.congestion.start_flow(start.deadline.unwrap_or(Time::MAX));
        self.round_trip.start_flow();
        let initial = tcp.settings.initial_window;
        match tcp.settings.restart {
            Restart::EveryFlow => self.window.resize(initial),
            Restart::Never => {}
            Restart::Idle => {
                let idle = start.now.saturating_sub(self.last_active);
                if idle > self.round_trip.timeout(&tcp.settings) {
                    self.window.resize(initial.min(self.window.segments()));
                }
            }
        }
    }
}

/// The kind of losses that the sender recovers from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    None,
    /// Fast retransmit, until all segments below this one are acknowledged. The window does not grow.
    Fast(u32),
    /// After a timeout, until all segments below this one are acknowledged. The window begins in slow
    /// start.
    Timeout(u32),
}

/// The sender of one flow.
#[derive(Clone, Debug)]
pub struct Sender<A = AnyAlgorithm> {
    connection: Connection<A>,
    board: Scoreboard,
    segments: u32,
    handed_over: HandedOver,
    size: Bytes,
    recovery: Recovery,
    /// Whether recovery has just begun, so that the first lost segment is sent at once (RFC 6675, 5,
    /// step 4.3).
    resend_at_once: bool,
    /// The first segment never sent at the last cut of the window. Marks do not cut the window again
    /// before an ACK beyond it: once a window.
    cut_at: u32,
    /// Whether the next new data packet says that the window was cut (CWR).
    tell_cut: bool,
    /// Whether the last ACK was marked.
    was_marked: bool,
    /// The SYN or the probe to be sent instead of a segment.
    special: Option<Flags>,
    /// Whether nothing but probes is sent until an ACK comes.
    is_probing: bool,
    /// The segment whose round trip is being timed.
    timed: Option<u32>,
    /// When the timed segment was sent.
    timed_since: Time,
    /// When every segment was sent, if each ACK measures the round trip, as in Linux. Then none is timed alone.
    send_times: Option<Box<SendTimes>>,
    deadline: Time,
    /// The retransmission timeout now (RFC 6298).
    timeout: Time,
    /// Segments sent again.
    pub retransmissions: u32,
    /// Timeouts.
    pub timeouts: Timeouts,
}

impl<A: CongestionControl> Sender<A> {
    pub(super) fn new(tcp: &Tcp<A>, start: &Start, mut connection: Connection<A>) -> Sender<A> {
        connection.start_flow(tcp, start);
        let segments = segments_of(start.size);
        Sender {
            special: (!connection.is_open).then_some(Flags::SYN),
            is_probing: false,
            timeout: connection.round_trip.timeout(&tcp.settings),
            connection,
            board: Scoreboard::default(),
            segments,
            handed_over: HandedOver::new(start),
            size: start.size,
            recovery: Recovery::None,
            resend_at_once: false,
            cut_at: 0,
            tell_cut: false,
            was_marked: false,
            timed: None,
            timed_since: Time::ZERO,
            send_times: (tcp.settings.rto == Rto::Linux).then(Box::default),
            deadline: Time::MAX,
            retransmissions: 0,
            timeouts: Timeouts::default(),
        }
    }

    /// Whether every segment is acknowledged.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.board.unacknowledged() == self.segments
    }

    /// The congestion window.
    pub fn window(&self) -> Window {
        self.connection.window
    }

    /// What a probe sees of the sender, with every segment counted as full.
    pub(super) fn state(&self) -> SenderState {
        let bytes = |segments: u32| Bytes::new(u64::from(segments) * PACKET_PAYLOAD);
        SenderState {
            window: Some(bytes(self.connection.window.segments())),
            alpha: self.connection.congestion.marked_share(),
            in_flight: Some(bytes(self.board.in_flight())),
            rate: None,
        }
    }

    /// What congestion control remembers.
    pub fn congestion(&self) -> A {
        self.connection.congestion
    }

    /// When the timer is due.
    #[inline]
    pub fn deadline(&self) -> Time {
        let awaited = self.handed_over.awaited_at(self.board.next());
        awaited.map_or(self.deadline, |at| at.min(self.deadline))
    }

    /// Ends the flow. Returns its connection.
    pub(super) fn finish(&mut self, now: Time) -> Connection<A> {
        self.deadline = Time::MAX;
        self.connection.last_active = now;
        self.connection
    }

    /// Hands all packets that may be sent now to `send`.
    #[inline(always)]
    pub(super) fn send_all(&mut self, tcp: &Tcp<A>, now: Time, mut send: impl FnMut(Outgoing)) {
        if self.is_plain() {
            let end = self.end_of_new(tcp, self.segments);
            while self.board.next() < end {
                send(self.send_new(tcp, now));
            }
        } else {
            while let Some(outgoing) = self.poll(tcp, now) {
                send(outgoing);
            }
        }
    }

    /// Whether new segments are all there is to send, and the application has handed over all of them.
    #[inline]
    fn is_plain(&self) -> bool {
        self.connection.is_open
            && !self.is_probing
            && !self.board.has_lost()
            && self.handed_over.is_all()
    }

    /// The next packet that may be sent now.
    #[inline(never)]
    pub(super) fn poll(&mut self, tcp: &Tcp<A>, now: Time) -> Option<Outgoing> {
        self.handed_over.take(now);
        if !self.connection.is_open || self.is_probing {
            return self.poll_special(tcp, now);
        }
        if let Some(segment) = self.board.lost() {
            let may_send = self.resend_at_once || self.may_send_again(tcp, segment);
            return may_send.then(|| self.send_again(tcp, now, segment));
        }
        let end = self.end_of_new(tcp, self.handed_over.segments(self.segments));
        (self.board.next() < end).then(|| self.send_new(tcp, now))
    }

    /// Sends the next new segment.
    #[inline]
    fn send_new(&mut self, tcp: &Tcp<A>, now: Time) -> Outgoing {
        let seq = self.board.next();
        let idle = self.board.outstanding() == 0;
        self.board.sent_new();
        // RFC 3168, 6.1.2: CWR goes on the first new data packet.
        let flags = Flags::default()
            .with_if(tcp.uses_ecn, Flags::ECT)
            .with_if(std::mem::take(&mut self.tell_cut), Flags::CWR);
        match &mut self.send_times {
            Some(times) => times.sent(now),
            None if self.timed.is_none() => (self.timed, self.timed_since) = (Some(seq), now),
            None => {}
        }
        self.start_timer(now);
        self.outgoing(seq, flags, idle)
    }

    /// Sends a lost segment again.
    fn send_again(&mut self, tcp: &Tcp<A>, now: Time, segment: u32) -> Outgoing {
        let idle = self.board.outstanding() == 0;
        self.board.sent_again();
        self.resend_at_once = false;
        self.retransmissions += 1;
        self.timed = None;
        if let Some(times) = &mut self.send_times {
            times.sent_again(segment);
        }
        let may_mark = tcp.uses_ecn && tcp.settings.ect_on != EctOn::NewData;
        self.start_timer(now);
        self.outgoing(segment, Flags::RETRANSMISSION.with_if(may_mark, Flags::ECT), idle)
    }

    #[inline]
    fn outgoing(&self, seq: u32, flags: Flags, idle: bool) -> Outgoing {
        let offset = u64::from(seq) * PACKET_PAYLOAD;
        Outgoing {
            seq,
            payload: (self.size.get() - offset).min(PACKET_PAYLOAD) as u32,
            offset,
            flags,
            idle,
            timeouts_in_a_row: self.timeouts.in_a_row,
            work: Work { size: self.size, remaining: self.segments - self.board.delivered() },
            header: (),
        }
    }

    /// The SYN, or the probe of one byte, that is to be sent.
    #[cold]
    #[inline(never)]
    fn poll_special(&mut self, tcp: &Tcp<A>, now: Time) -> Option<Outgoing> {
        let flags = self.special.take()?;
        if flags.has(Flags::SYN) && self.timeouts.in_a_row == 0 {
            (self.timed, self.timed_since) = (Some(0), now);
        }
        self.start_timer(now);
        let payload = u32::from(flags.has(Flags::PROBE));
        let may_mark = tcp.uses_ecn && tcp.settings.ect_on == EctOn::EveryPacket;
        let flags = flags.with_if(may_mark, Flags::ECT);
        let seq = self.board.unacknowledged();
        Some(Outgoing { payload, ..self.outgoing(seq, flags, false) })
    }

    /// The end of the segments that may be sent for the first time now, if none is lost and the
    /// application has handed over the flow's first `segments`. With SACK-based recovery the window
    /// limits the segments in flight (RFC 6675). Without this recovery, it limits the distance from the
    /// first unacknowledged segment.
    #[inline]
    fn end_of_new(&self, tcp: &Tcp<A>, segments: u32) -> u32 {
        let window = self.connection.window.segments();
        let arrived = if tcp.fast_retransmit { self.board.sacked() } else { 0 };
        let first = self.board.unacknowledged();
        let count = window.saturating_add(arrived).min(tcp.settings.receive_window);
        first + count.min(segments.saturating_sub(first))
    }

    /// Whether the window lets a lost segment be sent again.
    fn may_send_again(&self, tcp: &Tcp<A>, segment: u32) -> bool {
        let place = segment - self.board.unacknowledged();
        let ahead = if tcp.fast_retransmit { self.board.in_flight() } else { place };
        ahead < self.connection.window.segments()
    }

    #[inline]
    fn start_timer(&mut self, now: Time) {
        if self.deadline == Time::MAX {
            self.deadline = now + self.timeout;
        }
    }

    /// Takes in a measured round-trip time, and updates the timeout.
    #[inline(never)]
    fn measure(&mut self, tcp: &Tcp<A>, round_trip: Time) {
        let at = Position { unacknowledged: self.board.unacknowledged(), next: self.board.next() };
        self.connection.round_trip.measure_at(round_trip, &tcp.settings, at);
        self.timeout = self.connection.round_trip.timeout(&tcp.settings);
    }

    /// Handles an ACK.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, tcp: &Tcp<A>, now: Time, ack: &Packet) {
        if self.is_done() {
            return;
        }
        if ack.flags.has(Flags::SYN) {
            return self.on_handshake(tcp, now);
        }
        let fresh = self.board.acknowledge(ack.seq);
        if ack.sack_len > 0 {
            self.board.report(ack.sack_block());
        }
        self.timeouts.end_row();
        self.is_probing = false;
        self.special = None;
        if let Some(times) = &mut self.send_times
            && let Some(sent) = times.answered(ack.seq, ack.sack_block())
        {
            self.measure(tcp, now - sent);
        }
        if fresh > 0 {
            self.on_progress(tcp, now, ack.seq);
        }
        self.control_congestion(tcp, now, ack.flags.has(Flags::ECE), fresh);
        if tcp.fast_retransmit && self.board.find_losses() && self.recovery == Recovery::None {
            self.start_fast_recovery();
        }
    }

    #[inline(never)]
    fn start_fast_recovery(&mut self) {
        let next = self.board.next();
        self.recovery = Recovery::Fast(next);
        self.resend_at_once = self.board.lost() == Some(self.board.unacknowledged());
        let Connection { congestion, window, .. } = &mut self.connection;
        window.cut(self.board.outstanding(), congestion.on_loss(Loss::Reported, *window));
        // RFC 3168, 6.1.2: marks of this window do not cut it again.
        self.cut_at = next;
    }

    #[inline(never)]
    fn on_handshake(&mut self, tcp: &Tcp<A>, now: Time) {
        if self.connection.is_open {
            return;
        }
        self.connection.is_open = true;
        self.special = None;
        self.timeouts.end_row();
        self.deadline = Time::MAX;
        if self.timed.take().is_some() {
            self.measure(tcp, now - self.timed_since);
        }
    }

    #[inline]
    fn on_progress(&mut self, tcp: &Tcp<A>, now: Time, acknowledged: u32) {
        if self.timed.is_some_and(|segment| segment < acknowledged) {
            self.measure(tcp, now - self.timed_since);
            self.timed = None;
        }
        match self.recovery {
            Recovery::Fast(until) | Recovery::Timeout(until) if acknowledged >= until => {
                self.recovery = Recovery::None;
            }
            _ => {}
        }
        // RFC 6298, 5.2 and 5.3.
        let is_awaiting = self.board.outstanding() > 0;
        self.deadline = if is_awaiting { now + self.timeout } else { Time::MAX };
    }

    #[inline(always)]
    fn control_congestion(&mut self, tcp: &Tcp<A>, now: Time, marked: bool, fresh: u32) {
        let grows_on_marks = tcp.settings.growth == Growth::Ns2 && self.was_marked;
        let acked = Acked {
            segments: fresh.max(1),
            marked,
            unacknowledged: self.board.unacknowledged(),
            next: self.board.next(),
            now,
            window: self.connection.window,
            may_grow: fresh > 0
                && (!marked || grows_on_marks)
                && !matches!(self.recovery, Recovery::Fast(_)),
            round_trip: self.connection.round_trip.smoothed().unwrap_or_default(),
        };
        let growth = self.connection.congestion.on_ack(&acked);
        if acked.may_grow {
            self.connection.window.grow_by(growth);
        }
        if marked && acked.unacknowledged > self.cut_at {
            self.cut_for_marks(tcp, now);
        }
        self.was_marked = marked;
    }

    /// Multiplies the window by the congestion control's factor for marks.
    #[inline(never)]
    fn cut_for_marks(&mut self, tcp: &Tcp<A>, now: Time) {
        let Connection { congestion, window, round_trip, .. } = &mut self.connection;
        let ahead = Ahead {
            now,
            segments: self.segments - self.board.unacknowledged(),
            window: window.segments(),
            round_trip: round_trip.smoothed().unwrap_or_default(),
        };
        window.shrink(congestion.mark_factor(&ahead), tcp.settings.min_window);
        self.cut_at = self.board.next();
        self.tell_cut = true;
    }

    /// Handles the timeout if it is due (RFC 6298, 5.4 to 5.6).
    pub(super) fn on_timer(&mut self, tcp: &Tcp<A>, now: Time) {
        if now < self.deadline {
            return;
        }
        self.deadline = Time::MAX;
        self.timeouts.add();
        self.connection.round_trip.back_off(&tcp.settings);
        self.timeout = self.connection.round_trip.timeout(&tcp.settings);
        if !self.connection.is_open {
            self.special = Some(Flags::SYN);
            self.timed = None;
            // RFC 5681, 3.1: after a lost SYN the initial window is one segment.
            self.connection.window.resize(1);
            return;
        }
        let Connection { congestion, window, .. } = &mut self.connection;
        let outstanding = self.board.outstanding().min(window.segments());
        window.collapse(outstanding, congestion.on_loss(Loss::TimedOut, *window));
        self.recovery = Recovery::Timeout(self.board.next());
        self.resend_at_once = false;
        self.board.lose_all();
        self.timed = None;
        let probe_after = tcp.settings.probe_timeouts;
        if probe_after > 0 && self.timeouts.in_a_row >= probe_after {
            self.is_probing = true;
            self.special = Some(Flags::PROBE);
        }
    }
}

#[cfg(test)]
mod tests;
