//! Serves several queues whose packets are marked or dropped on arrival. Packets are passed on from
//! where they are, without a copy.

use flowsched_units::Time;

use super::{Count, Queues, Serving};
use crate::packet::Frame;
use crate::port::line::Batch;
use crate::port::{Arrivals, Line, Sent, Sink};

impl<F: Frame + Copy + Default, D: Serving> Queues<F, D> {
    /// [`Port::serve`](crate::port::Port::serve) where no packet is marked when it leaves.
    // As a function of its own, the loop has enough registers.
    #[inline(never)]
    pub(super) fn serve_by_queue<'f, S: Sink<F>>(
        &mut self,
        line: &mut Line,
        arrivals: impl Arrivals<'f, F>,
        end: Time,
        sink: &mut S,
    ) -> Sent
    where
        F: 'f,
    {
        let mut batch = Batch::new(*line, sink);
        let unhindered = match self.settings.count {
            Count::Bytes => self.unhindered,
            Count::Packets => 0,
        };
        // When the next waiting packet leaves.
        let mut due = self.due(&batch.line);
        for (now, arrived) in arrivals {
            if due <= now {
                self.send_until(now, &mut batch);
                due = self.due(&batch.line);
            }
            let mut frame = arrived;
            let (mut looked_at, marked);
            if S::LOOKS {
                looked_at = *arrived;
                batch.sink.coming(now, &mut looked_at, || self.backlog);
                frame = &looked_at;
            }
            let mut queue = None;
            if self.backlog.bytes + u64::from(frame.wire_bytes()) > unhindered {
                match self.take_in(frame, batch.sink) {
                    Some((index, taken)) => (queue, marked) = (Some(index), taken),
                    None => continue,
                }
                frame = &marked;
            }
            if batch.line.free_at() > now {
                self.push(queue.unwrap_or_else(|| self.queue_of(frame)), frame);
                due = batch.line.free_at();
            } else {
                batch.send(now, frame);
            }
        }
        // Up to the last instant before the end.
        self.send_until(end.saturating_sub(Time::from_ps(1)), &mut batch);
        *line = batch.line;
        batch.sent
    }

    /// Takes in a packet that may be marked or dropped. Returns its queue and the packet, or `None`
    /// if the packet was dropped and handed to `sink`.
    #[cold]
    #[inline(never)]
    fn take_in(&mut self, arrived: &F, sink: &mut impl Sink<F>) -> Option<(usize, F)> {
        let mut frame = *arrived;
        let queue = self.place(&mut frame, 0);
        if queue.is_none() {
            sink.dropped(frame);
        }
        queue.map(|index| (index, frame))
    }

    /// When the next waiting packet leaves, if no other packet comes: [`Time::MAX`] if none waits.
    #[inline]
    fn due(&self, line: &Line) -> Time {
        if self.occupied == 0 { Time::MAX } else { line.free_at() }
    }

    /// Sends waiting packets whose transmission begins at `until` or earlier.
    #[inline(always)]
    fn send_until(&mut self, until: Time, batch: &mut Batch<'_, impl Sink<F>>) {
        while (self.occupied != 0) & (batch.line.free_at() <= until) {
            let index = self.serving.next(self.occupied);
            let Some(frame) = self.queues[index].frames.front() else { break };
            let bytes = frame.wire_bytes();
            batch.send(batch.line.free_at(), frame);
            self.take_off(index, bytes);
        }
    }
}
