//! Serves one queue whose packets are marked or dropped on arrival: when a packet leaves is known
//! as soon as it comes.

use flowsched_units::Time;

use super::replay::Begun;
use super::{Admission, Backlog, Count, MarkAt, MemorySharing, Queues, Serving};
use crate::packet::Frame;
use crate::port::{Arrivals, Line, Sent, Sink};

impl<F: Frame + Copy + Default, D: Serving> Queues<F, D> {
    /// Whether packets leave in the order in which they come, and whatever becomes of a packet is
    /// known when it comes. Marking at dequeue depends on what comes later; shared memory depends
    /// on other ports.
    pub(super) fn is_in_order(&self) -> bool {
        self.queues.len() == 1
            && self.settings.mark_at == MarkAt::Enqueue
            && !matches!(self.settings.sharing, MemorySharing::Switch { .. })
    }

    /// [`Port::serve`](crate::port::Port::serve) where [`Queues::is_in_order`].
    // Alone, its loop has registers enough.
    #[inline(never)]
    pub(super) fn serve_in_order<'f>(
        &mut self,
        line: &mut Line,
        mut arrivals: impl Arrivals<'f, F>,
        end: Time,
        sink: &mut impl Sink<F>,
    ) -> Sent
    where
        F: 'f,
    {
        let mut free = *line;
        self.notes.clear();
        // Packets that have come or will.
        let count = arrivals.len() + self.backlog.packets as usize;
        let mut bytes = 0;
        while free.free_at() < end
            && let Some(frame) = self.queues[0].frames.front()
        {
            let (start, wire) = (free.free_at(), frame.wire_bytes());
            self.notes.note_waited(start, wire);
            bytes += u64::from(wire);
            sink.sent(free.send(wire, start), frame);
            self.take_off(0, wire);
        }
        let mut begun = Begun::new(free, arrivals.clone());
        let byte_time = free.least_byte_time();
        // What waits in the queue takes at least so long.
        let queued_time = |bytes: u64| bytes.saturating_mul(byte_time);
        let mut unhindered_time = match self.settings.count {
            Count::Bytes => queued_time(self.unhindered),
            Count::Packets => 0,
        };
        unhindered_time = unhindered_time.saturating_sub(queued_time(self.backlog.bytes));
        while let Some((now, arrived)) = arrivals.next() {
            let mut frame = arrived;
            let marked;
            let wire = frame.wire_bytes();
            let start = free.free_at().max(now);
            let mut after = free;
            let left = after.send(wire, start);
            // What has departed and waits takes no longer than until the line is free.
            if left.as_ps() - now.as_ps() > unhindered_time {
                let mut copy = *frame;
                let to_come = arrivals.len();
                let begun = begun.by(now, to_come, &self.notes);
                let all = count - to_come - 1 - self.notes.dropped();
                let waiting = Backlog {
                    bytes: bytes + self.backlog.bytes - begun.bytes,
                    packets: all as u32 - begun.packets,
                };
                if !self.is_admitted(&mut copy, waiting) {
                    self.notes.note_dropped(to_come);
                    sink.dropped(copy);
                    continue;
                }
                marked = copy;
                frame = &marked;
            }
            if start < end {
                bytes += u64::from(wire);
                free = after;
                sink.sent(left, frame);
            } else {
                unhindered_time = unhindered_time.saturating_sub(queued_time(wire.into()));
                self.push(0, frame);
            }
        }
        *line = free;
        let packets = count - self.notes.dropped() - self.backlog.packets as usize;
        Sent { bytes, packets: packets as u64 }
    }

    /// Whether a packet is taken in that comes while so much waits; marks it if it is to be marked.
    fn is_admitted(&mut self, frame: &mut F, waiting: Backlog) -> bool {
        match self.admission(frame, waiting) {
            Admission::Taken => true,
            Admission::Marked => {
                self.mark(frame);
                true
            }
            Admission::Dropped => false,
        }
    }

    fn admission(&self, frame: &F, waiting: Backlog) -> Admission {
        let bytes = waiting.bytes + u64::from(frame.wire_bytes());
        let after = self.amount(bytes, waiting.packets as usize + 1);
        let memory = match self.settings.sharing {
            MemorySharing::Port(memory) | MemorySharing::Queue(memory) => memory,
            MemorySharing::Switch { .. } => 0,
        };
        if after > memory {
            Admission::Dropped
        } else if after <= self.settings.ecn_threshold {
            Admission::Taken
        } else if frame.can_be_marked() {
            Admission::Marked
        } else if self.refuses(frame) {
            Admission::Dropped
        } else {
            Admission::Taken
        }
    }
}
