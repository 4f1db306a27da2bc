//! Serves one queue whose packets are marked or dropped on arrival: when a packet leaves is known
//! as soon as it comes.

use flowsched_units::Time;

use super::departed::Waiting;
use super::{Admission, Backlog, Count, MarkAt, MemorySharing, Queues, Serving};
use crate::packet::Frame;
use crate::port::{Line, Port};

impl<F: Frame + Copy + Default, D: Serving> Queues<F, D> {
    /// Whether packets leave in the order in which they come, and whatever becomes of a packet is
    /// known when it comes. Marking at dequeue depends on what comes later; shared memory depends
    /// on other ports.
    pub(super) fn is_in_order(&self) -> bool {
        self.queues.len() == 1
            && self.settings.mark_at == MarkAt::Enqueue
            && !matches!(self.settings.sharing, MemorySharing::Switch { .. })
    }

    /// [`Port::serve`] where [`Queues::is_in_order`].
    #[inline]
    pub(super) fn serve_in_order<'f>(
        &mut self,
        line: &mut Line,
        arrivals: impl Iterator<Item = (Time, &'f F)>,
        end: Time,
        mut dropped: impl FnMut(F),
        mut sent: impl FnMut(Time, &F),
    ) where
        F: 'f,
    {
        let mut departed = std::mem::take(&mut self.departed);
        departed.clear();
        let mut waiting = Waiting::new(&mut departed);
        while line.free_at() < end
            && let Some(frame) = self.dequeue()
        {
            let start = line.free_at();
            waiting.note(start, frame.wire_bytes());
            sent(line.send(frame.wire_bytes(), start), &frame);
        }
        let is_hindered = self.unhindered < u64::MAX;
        let byte_time = line.least_byte_time();
        let unhindered_time = match self.settings.count {
            Count::Bytes => self.unhindered.saturating_mul(byte_time),
            Count::Packets => 0,
        };
        for (now, arrived) in arrivals {
            let mut frame = arrived;
            let mut marked;
            let bytes = frame.wire_bytes();
            let start = line.free_at().max(now);
            if is_hindered {
                // What has departed and waits takes no longer than until the line is free.
                let more = self.backlog.bytes + u64::from(bytes);
                let time = (start.as_ps() - now.as_ps()).saturating_add(more * byte_time);
                if time > unhindered_time {
                    marked = *frame;
                    if !self.is_admitted(&mut marked, waiting.at(now)) {
                        dropped(marked);
                        continue;
                    }
                    frame = &marked;
                }
            }
            if start < end {
                if is_hindered {
                    waiting.note(start, bytes);
                }
                sent(line.send(bytes, start), frame);
            } else {
                self.push(0, *frame);
            }
        }
        self.departed = departed;
    }

    /// Whether a packet is taken in that comes while `departed` and the queue are ahead of it; marks
    /// it if it is to be marked.
    #[inline(never)]
    fn is_admitted(&mut self, frame: &mut F, departed: Backlog) -> bool {
        let waiting = Backlog {
            bytes: departed.bytes + self.backlog.bytes,
            packets: departed.packets + self.backlog.packets,
        };
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
