//! Which queue a packet joins, and which queue is served next.

use crate::packet::Frame;

/// The rule by which a port serves several queues. [`Queues`](super::Queues) has what all rules
/// share.
pub trait Serving {
    /// Whether this is [`HighestFirst`].
    const IS_BY_PRIORITY: bool = false;

    /// The queue that an arriving packet asks for; numbers beyond the last queue mean the last one.
    fn queue_of<F: Frame>(&self, frame: &F) -> usize;

    /// Returns the queue to serve. Bit i of `occupied` is set if queue i holds a packet; at least
    /// one bit is set.
    fn next(&mut self, occupied: u64) -> usize;
}

/// The highest queue first, 0 being the highest; packets carry the number of their queue.
///
/// PIAS ToN 2017, III-B.2: "packets are dequeued based on their priorities strictly when a
/// fabric port is idle". One queue is FIFO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HighestFirst;

impl Serving for HighestFirst {
    const IS_BY_PRIORITY: bool = true;

    #[inline]
    fn queue_of<F: Frame>(&self, frame: &F) -> usize {
        usize::from(frame.priority())
    }

    #[inline]
    fn next(&mut self, occupied: u64) -> usize {
        occupied.trailing_zeros() as usize
    }
}
