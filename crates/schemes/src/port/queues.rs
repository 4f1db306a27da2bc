//! Queues that share memory and marking, whatever the discipline.
//!
//! PIAS ToN 2017, III-B.2: an arriving packet is marked "if the instant buffer occupancy is
//! larger than the marking threshold".

mod by_queue;
mod in_order;
mod replay;

use std::sync::Arc;

use flowsched_units::Time;

use super::line::serve_one_by_one;
use super::parameters::MOST_QUEUES;
use super::{
    Arrivals, Backlog, Count, EcnScope, HighestFirst, Line, MarkAt, MemorySharing, OnFull, Port,
    PortSettings, Ring, Sent, Serving, Sink, WithoutEct,
};
use crate::packet::Frame;
use replay::Notes;

/// What becomes of a packet that comes to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Admission {
    Taken,
    Marked,
    Dropped,
}

/// A port with up to 64 queues, each first in first out.
#[derive(Clone, Debug)]
pub struct Queues<F, D> {
    /// The settings, which equal ports share, so that they stay in the cache.
    settings: Arc<PortSettings>,
    queues: Box<[Queue<F>]>,
    /// Bit i is set while queue i holds a packet.
    occupied: u64,
    backlog: Backlog,
    marks: u64,
    /// While no more than this waits, the new packet included, this packet has room and is not
    /// marked, whatever its queue.
    unhindered: u64,
    serving: D,
    /// The notes of the batch being served.
    notes: Notes,
}

/// A port whose highest non-empty queue is served first; with one queue, FIFO.
pub type PriorityPort<F> = Queues<F, HighestFirst>;

#[derive(Clone, Debug)]
struct Queue<F> {
    frames: Ring<F>,
    bytes: u64,
}

impl<F: Frame + Copy + Default> PriorityPort<F> {
    /// An empty port that serves by strict priority.
    pub fn new(settings: impl Into<Arc<PortSettings>>) -> PriorityPort<F> {
        Queues::with_serving(settings, HighestFirst)
    }
}

impl<F: Frame + Copy + Default, D: Serving> Queues<F, D> {
    /// An empty port that serves by `serving`.
    pub fn with_serving(settings: impl Into<Arc<PortSettings>>, serving: D) -> Queues<F, D> {
        let settings = settings.into();
        let queue = Queue { frames: Ring::default(), bytes: 0 };
        Queues {
            queues: vec![queue; settings.queues.clamp(1, MOST_QUEUES)].into_boxed_slice(),
            unhindered: unhindered(&settings),
            settings,
            occupied: 0,
            backlog: Backlog::default(),
            marks: 0,
            serving,
            notes: Notes::default(),
        }
    }

    /// What waits in queue `index`; nothing if there is no such queue.
    pub fn queue_backlog(&self, index: usize) -> Backlog {
        self.queues.get(index).map_or(Backlog::default(), |queue| Backlog {
            bytes: queue.bytes,
            packets: queue.frames.len() as u32,
        })
    }

    #[inline]
    fn amount(&self, bytes: u64, packets: usize) -> u64 {
        match self.settings.count {
            Count::Bytes => bytes,
            Count::Packets => packets as u64,
        }
    }

    #[inline]
    fn port_amount(&self) -> u64 {
        self.amount(self.backlog.bytes, self.backlog.packets as usize)
    }

    #[inline]
    fn queue_amount(&self, index: usize) -> u64 {
        let queue = &self.queues[index];
        self.amount(queue.bytes, queue.frames.len())
    }

    #[inline]
    fn has_room(&self, index: usize, more: u64, elsewhere: u64) -> bool {
        match self.settings.sharing {
            MemorySharing::Port(memory) => self.port_amount() + more <= memory,
            MemorySharing::Queue(memory) => self.queue_amount(index) + more <= memory,
            MemorySharing::Switch { memory, alpha } => {
                let used = self.port_amount() + elsewhere;
                let free = memory.saturating_sub(used);
                more <= free && (self.queue_amount(index) + more) as f64 <= alpha * free as f64
            }
        }
    }

    /// The queue that a packet asks for.
    #[inline]
    fn queue_of(&self, frame: &F) -> usize {
        self.serving.queue_of(frame).min(self.queues.len() - 1)
    }

    /// Returns the queue that takes the packet in, or `None` if the packet is dropped. Marks the
    /// packet if it must be marked on arrival.
    #[inline]
    fn place(&mut self, frame: &mut F, elsewhere: u64) -> Option<usize> {
        let index = self.queue_of(frame);
        let more = self.amount(u64::from(frame.wire_bytes()), 1);
        if self.port_amount() + more <= self.unhindered {
            return Some(index);
        }
        self.place_hindered(index, more, frame, elsewhere)
    }

    /// Does what [`Queues::place`] does, for a packet of the amount `more` that may find no room,
    /// or be marked.
    #[inline(never)]
    fn place_hindered(
        &mut self,
        mut index: usize,
        more: u64,
        frame: &mut F,
        elsewhere: u64,
    ) -> Option<usize> {
        if !self.has_room(index, more, elsewhere) {
            index = self.place_below(index, more, elsewhere)?;
        }
        if self.above_threshold(index, more) {
            if self.refuses(frame) {
                return None;
            }
            if self.settings.mark_at == MarkAt::Enqueue {
                self.mark(frame);
            }
        }
        Some(index)
    }

    /// The next queue with room below a full one; `None` if there is none, or if packets are not
    /// demoted.
    #[cold]
    fn place_below(&self, full: usize, more: u64, elsewhere: u64) -> Option<usize> {
        if self.settings.on_full == OnFull::Drop {
            return None;
        }
        (full + 1..self.queues.len()).find(|index| self.has_room(*index, more, elsewhere))
    }

    #[inline]
    fn above_threshold(&self, index: usize, more: u64) -> bool {
        let waiting = match self.settings.ecn_scope {
            EcnScope::Port => self.port_amount(),
            EcnScope::Queue => self.queue_amount(index),
        };
        waiting + more > self.settings.ecn_threshold
    }

    /// Whether a packet is dropped if more than the threshold waits.
    #[inline]
    fn refuses(&self, frame: &F) -> bool {
        self.settings.without_ect == WithoutEct::Drop && !frame.can_be_marked()
    }

    #[inline]
    fn push(&mut self, index: usize, frame: &F) {
        let bytes = u64::from(frame.wire_bytes());
        let queue = &mut self.queues[index];
        queue.frames.push(*frame);
        queue.bytes += bytes;
        self.occupied |= 1 << index;
        self.backlog.bytes += bytes;
        self.backlog.packets += 1;
    }

    /// Removes the first packet of queue `index`, which has this many bytes.
    #[inline]
    fn take_off(&mut self, index: usize, bytes: u32) {
        let bytes = u64::from(bytes);
        let queue = &mut self.queues[index];
        queue.frames.remove_front();
        queue.bytes -= bytes;
        self.occupied &= !(u64::from(queue.frames.is_empty()) << index);
        self.backlog.bytes -= bytes;
        self.backlog.packets -= 1;
    }

    #[inline]
    fn mark(&mut self, frame: &mut F) {
        if frame.can_be_marked() {
            frame.mark();
            self.marks += 1;
        }
    }
}

impl<F: Frame + Copy + Default, D: Serving> Port<F> for Queues<F, D> {
    #[inline]
    fn enqueue(&mut self, mut frame: F, elsewhere: u64, mut dropped: impl FnMut(F)) {
        let Some(index) = self.place(&mut frame, elsewhere) else { return dropped(frame) };
        self.push(index, &frame);
    }

    #[inline]
    fn dequeue(&mut self) -> Option<F> {
        if self.occupied == 0 {
            return None;
        }
        let index = self.serving.next(self.occupied);
        let mut frame = *self.queues[index].frames.front()?;
        self.take_off(index, frame.wire_bytes());
        if self.settings.mark_at == MarkAt::Dequeue && self.above_threshold(index, 0) {
            self.mark(&mut frame);
        }
        Some(frame)
    }

    #[inline]
    fn pass(&mut self, frame: &mut F, elsewhere: u64, mut dropped: impl FnMut(F)) -> bool {
        debug_assert_eq!(self.occupied, 0);
        if self.amount(u64::from(frame.wire_bytes()), 1) <= self.unhindered {
            return true;
        }
        let has_room = self.place(frame, elsewhere).is_some();
        if !has_room {
            dropped(*frame);
        }
        has_room
    }

    #[inline]
    fn serve<'f, S: Sink<F>>(
        &mut self,
        line: &mut Line,
        arrivals: impl Arrivals<'f, F>,
        end: Time,
        sink: &mut S,
    ) -> Sent
    where
        F: 'f,
    {
        if self.is_in_order() {
            self.serve_in_order(line, arrivals, end, sink)
        } else if self.settings.mark_at == MarkAt::Enqueue {
            self.serve_by_queue(line, arrivals, end, sink)
        } else {
            serve_one_by_one(self, line, arrivals, end, sink)
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn marks(&self) -> u64 {
        self.marks
    }

    #[inline]
    fn shares_memory(&self) -> bool {
        matches!(self.settings.sharing, MemorySharing::Switch { .. })
    }
}

/// The amount up to which packets have room and are not marked, whatever their queue.
fn unhindered(settings: &PortSettings) -> u64 {
    match settings.sharing {
        MemorySharing::Port(memory) | MemorySharing::Queue(memory) => {
            memory.min(settings.ecn_threshold)
        }
        // How much room there is depends on the other ports.
        MemorySharing::Switch { .. } => 0,
    }
}

#[cfg(test)]
mod tests;
