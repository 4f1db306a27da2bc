//! Packets that go from one part of the network to another.
//!
//! A part puts packets for another part's port into an inbox, as if the port were its own. Before the threads
//! meet, each part posts the contents of these inboxes, and after the meeting it takes in what others have posted.
//! This does not change the order of packets at a port: every inbox is sorted before it is used.

use std::sync::{Mutex, PoisonError};

use flowsched_topology::PortId;

use super::arrival::Arrival;
use super::arrivals::Inbox;

/// A letter box for each pair of parts.
#[derive(Debug)]
pub(crate) struct Post<H> {
    parts: usize,
    boxes: Vec<Mutex<Letters<H>>>,
}

/// The packets posted from one part to another.
#[derive(Debug)]
struct Letters<H> {
    letters: Vec<(PortId, Vec<Arrival<H>>)>,
    /// How many of these are full. The others are empty and keep their memory.
    sealed: usize,
}

impl<H: Copy> Post<H> {
    /// Letter boxes for this many parts.
    pub(crate) fn new(parts: usize) -> Post<H> {
        let empty = || Mutex::new(Letters { letters: Vec::new(), sealed: 0 });
        Post { parts, boxes: (0..parts * parts).map(|_| empty()).collect() }
    }

    /// Posts the contents of an inbox that the part `from` has for a port of the part `to`.
    pub(super) fn send(&self, from: usize, to: usize, port: PortId, inbox: &mut Inbox<H>) {
        let letters = &self.boxes[to * self.parts + from];
        let mut letters = letters.lock().unwrap_or_else(PoisonError::into_inner);
        if letters.sealed == letters.letters.len() {
            letters.letters.push((port, Vec::new()));
        }
        let sealed = letters.sealed;
        let letter = &mut letters.letters[sealed];
        letter.0 = port;
        inbox.hand_over(&mut letter.1);
        letters.sealed += 1;
    }

    /// Hands all that was posted to the part `to` to `open`, which empties it.
    pub(super) fn receive(&self, to: usize, mut open: impl FnMut(PortId, &mut Vec<Arrival<H>>)) {
        for letters in &self.boxes[to * self.parts..][..self.parts] {
            let mut letters = letters.lock().unwrap_or_else(PoisonError::into_inner);
            let sealed = std::mem::take(&mut letters.sealed);
            for (port, arrivals) in &mut letters.letters[..sealed] {
                open(*port, arrivals);
            }
        }
    }
}
