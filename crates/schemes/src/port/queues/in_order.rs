//! Serves one queue whose packets are marked or dropped on arrival. The time when a packet leaves is known as
//! soon as it comes.

use flowsched_units::Time;

use super::replay::Begun;
use super::{Admission, Backlog, Count, MarkAt, MemorySharing, Queues, Serving};
use crate::packet::Frame;
use crate::port::{Arrivals, Line, Sent, Sink};

impl<F: Frame + Copy + Default, D: Serving> Queues<F, D> {
    /// Whether packets leave in the order in which they come, and whether it is known what becomes of a packet
    /// when it comes. Marking at dequeue depends on later packets, and shared memory depends on other ports.
    pub(super) fn is_in_order(&self) -> bool {
        self.queues.len() == 1
            && self.settings.mark_at == MarkAt::Enqueue
            && !matches!(self.settings.sharing, MemorySharing::Switch { .. })
    }

    /// [`Port::serve`](crate::port::Port::serve) where [`Queues::is_in_order`].
    // As a function of its own, the loop has enough registers.
    #[inline(never)]
    pub(super) fn serve_in_order<'f, S: Sink<F>>(
        &mut self,
        line: &mut Line,
        arrivals: impl Arrivals<'f, F>,
        end: Time,
        sink: &mut S,
    ) -> Sent
    where
        F: 'f,
    {
        let (mut free, mut arrivals) = (*line, arrivals);
        self.notes.clear();
        // Packets that wait already or come in the batch.
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
        // The least time that bytes in the queue take to leave.
        let queued_time = |bytes: u64| bytes.saturating_mul(byte_time);
        let mut unhindered_time = match self.settings.count {
            Count::Bytes => queued_time(self.unhindered),
            Count::Packets => 0,
        };
        unhindered_time = unhindered_time.saturating_sub(queued_time(self.backlog.bytes));
        while let Some((now, arrived)) = arrivals.next() {
            let mut frame = arrived;
            let (mut looked_at, marked);
            let wire = frame.wire_bytes();
            if S::LOOKS {
                looked_at = *arrived;
                sink.coming(now, &mut looked_at, || {
                    if free.free_at() <= now {
                        return Backlog::default();
                    }
                    self.waiting(now, (bytes, count), arrivals.len(), &mut begun)
                });
                frame = &looked_at;
            }
            let start = free.free_at().max(now);
            let mut after = free;
            let left = after.send(wire, start);
            // Packets that were handed on but still wait at `now` take no longer than until the line is free.
            if left.as_ps() - now.as_ps() > unhindered_time {
                let to_come = arrivals.clone();
                match self.take_hindered((now, frame), (bytes, count), to_come, &mut begun, sink) {
                    Some(taken) => marked = taken,
                    None => continue,
                }
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

    /// What waits when a packet comes at `now`. In the batch, `bytes` bytes were handed on before it. Of `count`
    /// packets in all, `to_come` come after it.
    fn waiting<'f>(
        &self,
        now: Time,
        (bytes, count): (u64, usize),
        to_come: usize,
        begun: &mut Begun<impl Arrivals<'f, F>>,
    ) -> Backlog
    where
        F: 'f,
    {
        let begun = begun.by(now, to_come, &self.notes);
        Backlog {
            bytes: bytes + self.backlog.bytes - begun.bytes,
            packets: (count - to_come - 1 - self.notes.dropped()) as u32 - begun.packets,
        }
    }

    /// Takes in a packet that may be marked or dropped. Returns the packet, or `None` if it was dropped and
    /// handed to `sink`. `departed` is the pair of numbers of [`Queues::waiting`]. The arrivals after the packet
    /// are counted here, because the batch would count them for every packet.
    #[cold]
    #[inline(never)]
    fn take_hindered<'f>(
        &mut self,
        (now, arrived): (Time, &F),
        departed: (u64, usize),
        to_come: impl Arrivals<'f, F>,
        begun: &mut Begun<impl Arrivals<'f, F>>,
        sink: &mut impl Sink<F>,
    ) -> Option<F>
    where
        F: 'f,
    {
        let waiting = self.waiting(now, departed, to_come.len(), begun);
        let mut frame = *arrived;
        match self.admission(&frame, waiting) {
            Admission::Taken => {}
            Admission::Marked => self.mark(&mut frame),
            Admission::Dropped => {
                self.notes.note_dropped(to_come.len());
                sink.dropped(frame);
                return None;
            }
        }
        Some(frame)
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
