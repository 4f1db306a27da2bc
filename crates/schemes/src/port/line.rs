//! The line behind a port, as far as it decides when packets leave.

use flowsched_units::{Rate, Time};

use super::Port;
use crate::packet::Frame;

/// A line that carries one packet after the other.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// The packet being sent has left then; or when the last one left.
    free_at: Time,
    /// Picoseconds a byte takes, in units of 2^-24 ps.
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

    /// When the packet being sent has left; not in the future if there is none.
    #[inline]
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// A packet's first bit leaves at `start`: when its last bit leaves.
    #[inline]
    pub fn send(&mut self, bytes: u32, start: Time) -> Time {
        let duration = (u128::from(bytes) * u128::from(self.byte_time)) >> FRACTION_BITS;
        self.free_at = start.saturating_add(Time::from_ps(duration as u64));
        self.free_at
    }

    /// How much of the packet being sent is yet to leave at `now`, in bytes.
    pub fn unsent_bytes(&self, now: Time) -> f64 {
        let left = self.free_at.saturating_sub(now).as_ps() as f64;
        left * (1_u64 << FRACTION_BITS) as f64 / self.byte_time as f64
    }

    /// Picoseconds that a byte takes at least, however long the packet.
    #[inline]
    pub fn least_byte_time(&self) -> u64 {
        self.byte_time >> FRACTION_BITS
    }
}

/// [`Port::serve`] for any port: one packet after the other.
#[inline]
pub fn serve_one_by_one<'f, F: Frame + Copy + 'f>(
    port: &mut (impl Port<F> + ?Sized),
    line: &mut Line,
    mut arrivals: impl Iterator<Item = (Time, &'f F)>,
    end: Time,
    mut dropped: impl FnMut(F),
    mut sent: impl FnMut(Time, &F),
) {
    // The last instant before the end.
    let last = end.saturating_sub(Time::from_ps(1));
    loop {
        let next = arrivals.next();
        let until = next.map_or(last, |(now, _)| now);
        while line.free_at <= until
            && let Some(frame) = port.dequeue()
        {
            sent(line.send(frame.wire_bytes(), line.free_at), &frame);
        }
        let Some((now, frame)) = next else { break };
        if line.free_at > now {
            port.enqueue(*frame, 0, &mut dropped);
        } else if let Some(frame) = port.pass(*frame, 0, &mut dropped) {
            sent(line.send(frame.wire_bytes(), now), &frame);
        }
    }
}
