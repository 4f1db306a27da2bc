//! Which queue a packet joins, and which queue is served next.

use crate::packet::Frame;

/// The rule of a port with several queues; what they share is in
/// [`Queues`](super::Queues).
pub trait Serving {
    /// The queue that an arriving packet asks for; the last one there is stands for all beyond.
    fn queue_of<F: Frame>(&self, frame: &F) -> usize;

    /// The queue to serve, of those that hold a packet: bit i of `occupied`, which is not 0, is
    /// queue i's.
    fn next(&mut self, occupied: u64) -> usize;
}
