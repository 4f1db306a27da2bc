//! The line behind a port, as far as it decides when packets leave.

use flowsched_units::{Rate, Time};

use super::{Backlog, Port};
use crate::packet::Frame;

/// A line that carries one packet after the other.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// When the packet being sent will have left, or when the last one left.
    free_at: Time,
    /// The time that a byte takes, in units of 2^-24 ps.
    byte_time: u64,
}

const FRACTION_BITS: u32 = 24;

impl Line {
    /// A line that is free from the start.
    pub fn new(rate: Rate) -> Line {
        let byte_time =
            (8_000_000_000_000_u128 << FRACTION_BITS) / u128::from(rate.as_bps().max(1));
        Line { free_at: Time::ZERO, byte_time: u64::try_from(byte_time).unwrap_or(u64::MAX) }
    }

    /// When the packet being sent will have left. The time is not in the future if there is none.
    #[inline]
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Sends a packet whose first bit leaves at `start`, a time within a run. Returns when its last bit
    /// leaves.
    #[inline]
    pub fn send(&mut self, bytes: u32, start: Time) -> Time {
        let duration = (u128::from(bytes) * u128::from(self.byte_time)) >> FRACTION_BITS;
        self.free_at = start + Time::from_ps(duration as u64);
        self.free_at
    }

    /// The bytes of the packet being sent that have not left by `now`.
    pub fn unsent_bytes(&self, now: Time) -> f64 {
        let left = self.free_at.saturating_sub(now).as_ps() as f64;
        left * (1_u64 << FRACTION_BITS) as f64 / self.byte_time as f64
    }

    /// The least time that a byte takes in a packet of any length, in picoseconds.
    #[inline]
    pub fn least_byte_time(&self) -> u64 {
        self.byte_time >> FRACTION_BITS
    }
}

/// The packets that come to a port, in order, each with the time when it comes.
pub trait Arrivals<'f, F: 'f>: ExactSizeIterator<Item = (Time, &'f F)> + Clone {}

impl<'f, F: 'f, I: ExactSizeIterator<Item = (Time, &'f F)> + Clone> Arrivals<'f, F> for I {}

/// Takes the packets that a port serves in a batch, and may see them when they come.
pub trait Sink<F> {
    /// Whether [`Sink::coming`] does anything; if not, it need not be called.
    const LOOKS: bool = false;

    /// The packet comes to the port at `now`. `waiting` computes what waits there. The packet's size must
    /// stay as it is.
    #[inline]
    fn coming(&mut self, _now: Time, _frame: &mut F, _waiting: impl FnMut() -> Backlog) {}

    /// The packet's last bit leaves at this time.
    fn sent(&mut self, at: Time, frame: &F);

    /// The port has dropped the packet.
    fn dropped(&mut self, frame: F);
}

/// What a port has sent in a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Bytes on the wire.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
}

impl Sent {
    /// Counts one more packet, of this many bytes on the wire.
    #[inline]
    pub fn add(&mut self, bytes: u32) {
        self.bytes += u64::from(bytes);
        self.packets += 1;
    }
}

/// A batch under way.
pub(super) struct Batch<'s, S> {
    pub(super) line: Line,
    pub(super) sink: &'s mut S,
    pub(super) sent: Sent,
}

impl<'s, S> Batch<'s, S> {
    /// A batch of which nothing has left yet.
    #[inline]
    pub(super) fn new(line: Line, sink: &'s mut S) -> Batch<'s, S> {
        Batch { line, sink, sent: Sent::default() }
    }

    /// Sends a packet whose first bit leaves at `start`.
    #[inline(always)]
    pub(super) fn send<F: Frame>(&mut self, start: Time, frame: &F)
    where
        S: Sink<F>,
    {
        self.sent.add(frame.wire_bytes());
        self.sink.sent(self.line.send(frame.wire_bytes(), start), frame);
    }
}

/// [`Port::serve`] for any port: one packet after the other.
#[inline]
pub fn serve_one_by_one<'f, F: Frame + Copy + 'f>(
    port: &mut (impl Port<F> + ?Sized),
    line: &mut Line,
    mut arrivals: impl Arrivals<'f, F>,
    end: Time,
    sink: &mut impl Sink<F>,
) -> Sent {
    // The last instant before the end.
    let last = end.saturating_sub(Time::from_ps(1));
    let mut sent = Sent::default();
    loop {
        let next = arrivals.next();
        let until = next.map_or(last, |(now, _)| now);
        while line.free_at <= until
            && let Some(frame) = port.dequeue()
        {
            sent.add(frame.wire_bytes());
            sink.sent(line.send(frame.wire_bytes(), line.free_at), &frame);
        }
        let Some((now, arrived)) = next else { return sent };
        let mut frame = *arrived;
        sink.coming(now, &mut frame, || port.backlog());
        if line.free_at > now {
            port.enqueue(frame, 0, |frame| sink.dropped(frame));
        } else if port.pass(&mut frame, 0, |frame| sink.dropped(frame)) {
            sent.add(frame.wire_bytes());
            sink.sent(line.send(frame.wire_bytes(), now), &frame);
        }
    }
}
