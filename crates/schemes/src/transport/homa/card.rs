//! Whose turn it is to send at a host.
//!
//! A sender with several messages to transmit prefers the one with the fewest bytes left (Montazeri
//! et al., SIGCOMM 2018, 3.2). That works only if packets do not pile up in the network card (4):
//! here the card is handed a packet only once it has sent the one before.

use flowsched_units::{Bytes, Rate, Time};

/// A message that wants to send its next packet. The least one goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    /// Segments from that packet to the message's end.
    pub remaining: u32,
    /// The message.
    pub flow: u32,
}

/// A network card, and who waits for it.
#[derive(Clone, Debug)]
pub struct Card {
    rate: Rate,
    /// When it has sent all that it was handed.
    free: Time,
    /// In falling order.
    waiting: Vec<Claim>,
}

impl Card {
    /// An idle card of this rate.
    pub fn new(rate: Rate) -> Card {
        Card { rate, free: Time::ZERO, waiting: Vec::new() }
    }

    /// Whether the card is free and no waiting message goes before `claim`.
    #[inline]
    pub fn is_turn_of(&self, claim: Claim, now: Time) -> bool {
        self.free <= now && self.waiting.last().is_none_or(|first| claim <= *first)
    }

    /// The message waits.
    pub fn wait(&mut self, claim: Claim) {
        let place = self.waiting.partition_point(|other| *other > claim);
        self.waiting.insert(place, claim);
    }

    /// The message waits no longer.
    pub fn withdraw(&mut self, claim: Claim) {
        if let Ok(place) = self.waiting.binary_search_by(|other| claim.cmp(other)) {
            self.waiting.remove(place);
        }
    }

    /// The card is handed a packet of this many bytes.
    #[inline]
    pub fn occupy(&mut self, now: Time, wire: u32) {
        let time = self.rate.transmission_time(Bytes::new(u64::from(wire)));
        self.free = self.free.max(now).saturating_add(time);
    }

    /// Takes the message that goes first off the list, if the card is free.
    pub fn next(&mut self, now: Time) -> Option<u32> {
        if self.free > now {
            return None;
        }
        self.waiting.pop().map(|claim| claim.flow)
    }

    /// When there is somebody to poll; [`Time::MAX`]: not before somebody waits.
    #[inline]
    pub fn deadline(&self) -> Time {
        if self.waiting.is_empty() { Time::MAX } else { self.free }
    }
}
