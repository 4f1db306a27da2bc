//! Decides which message of a host sends next.
//!
//! A sender with several messages to transmit prefers the one with the fewest bytes left (Montazeri
//! et al., SIGCOMM 2018, 3.2). That works only if packets do not pile up in the network card (4).
//! Here the card is therefore handed a packet only once it has sent the one before.

use flowsched_units::{Bytes, Rate, Time};

/// A message that wants to send its next packet. The least claim goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    /// The number of segments from that packet to the message's end.
    pub remaining: u32,
    /// The message.
    pub flow: u32,
}

/// A network card, and the messages that wait for it.
#[derive(Clone, Debug)]
pub struct Card {
    rate: Rate,
    /// When the card has sent all packets that it was handed.
    free: Time,
    /// The claims that wait, in falling order.
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

    /// Adds a message that waits.
    pub fn wait(&mut self, claim: Claim) {
        let place = self.waiting.partition_point(|other| *other > claim);
        self.waiting.insert(place, claim);
    }

    /// Removes a message that waits no longer.
    pub fn withdraw(&mut self, claim: Claim) {
        if let Ok(place) = self.waiting.binary_search_by(|other| claim.cmp(other)) {
            self.waiting.remove(place);
        }
    }

    /// Records that the card is handed a packet of this many bytes on the wire.
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

    /// When the next message may send: [`Time::MAX`] if none waits.
    #[inline]
    pub fn deadline(&self) -> Time {
        if self.waiting.is_empty() { Time::MAX } else { self.free }
    }
}
