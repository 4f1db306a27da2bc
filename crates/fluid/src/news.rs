//! When hosts hear what switches have decided, in schemes whose switches accept and pause flows
//! ([`Acceptance`] says how long that takes).
//!
//! A switch puts its decision into the answer to a flow's packets, so a flow learns a decision one
//! round trip late. If the decision changes again before the flow learns it, the flow learns only
//! the last one.
//!
//! - A flow that is paused or slowed sends at its old rate for one more round trip. These bits
//!   pass the links beside those of the flow that replaced it.
//! - A flow that may send more learns this with the next answer. A waiting flow learns it with the
//!   answer to its next probe.
//! - Two kinds of flows learn their rates at once: a flow that has just announced itself, because
//!   the answer to the announcement has the rate; and a flow on whose links another flow has
//!   ended, because [`Acceptance::hand_over`] already has that delay.
//!
//! [`Acceptance`]: flowsched_schemes::flow_level::Acceptance
//! [`Acceptance::hand_over`]: flowsched_schemes::flow_level::Acceptance::hand_over

use flowsched_units::Time;

use crate::latency::round_trips;
use crate::transfers::{ROUNDING, Transfer};

/// The rates that flows have heard of.
#[derive(Clone, Debug)]
pub(crate) struct News {
    /// Round trips until a flow that waits has probed.
    until_probed: f64,
    /// By slot.
    heard: Vec<Heard>,
    /// The flows on each link that still send at their old rates, though they are paused or slowed.
    sending_on: Vec<Vec<u32>>,
    /// Whether a flow has left each link at this instant, and the list of these links.
    is_left: Vec<bool>,
    left: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Heard {
    /// The rate that the flow knows of, bit/s.
    rate: f64,
    next: Next,
}

/// When a flow hears of a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Next {
    /// At once, with the answer to its announcement.
    Now,
    /// There is nothing new.
    Never,
    /// The flow hears of a higher rate at this time.
    At(Time),
    /// The flow hears of a lower rate when it has sent this many bits.
    Sent(f64),
}

/// A flow that switches have decided on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided<'a> {
    pub(crate) rate: f64,
    pub(crate) path: &'a [u32],
    pub(crate) transfer: &'a Transfer,
    pub(crate) round_trip: Time,
}

impl News {
    /// No news yet, on this many links.
    pub(crate) fn new(until_probed: f64, links: usize) -> News {
        News {
            until_probed,
            heard: Vec::new(),
            sending_on: vec![Vec::new(); links],
            is_left: vec![false; links],
            left: Vec::new(),
        }
    }

    /// The flow starts to compete.
    pub(crate) fn start(&mut self, slot: u32) {
        let announced = Heard { rate: 0.0, next: Next::Now };
        if slot as usize >= self.heard.len() {
            self.heard.resize(slot as usize + 1, announced);
        }
        self.heard[slot as usize] = announced;
    }

    /// The flow over `path` sends no more.
    pub(crate) fn end(&mut self, slot: u32, path: &[u32]) {
        self.expect(slot, path, Next::Never);
    }

    /// Other flows have the share that the flow over `path` had.
    pub(crate) fn leave(&mut self, path: &[u32]) {
        for &link in path {
            if !std::mem::replace(&mut self.is_left[link as usize], true) {
                self.left.push(link);
            }
        }
    }

    /// Lets the flow hear of what switches have `decided`, now or later. Returns the rate at which
    /// the flow sends now, bit/s.
    pub(crate) fn hear(&mut self, slot: u32, now: Time, decided: Decided<'_>) -> f64 {
        let Decided { rate, path, transfer, round_trip } = decided;
        let Heard { rate: known, next } = self.heard[slot as usize];
        let is_higher = rate > known;
        let is_known = match next {
            Next::Now => true,
            _ if rate == known => true,
            _ if is_higher && path.iter().any(|link| self.is_left[*link as usize]) => true,
            Next::At(_) => is_higher && self.is_due(slot, now, transfer),
            Next::Sent(_) => !is_higher && self.is_due(slot, now, transfer),
            Next::Never => false,
        };
        let is_expected = match next {
            Next::At(_) => is_higher,
            Next::Sent(_) => !is_higher,
            Next::Now | Next::Never => false,
        };
        if is_known {
            self.heard[slot as usize].rate = rate;
            self.expect(slot, path, Next::Never);
        } else if !is_expected {
            let next = if is_higher {
                let wait = if known == 0.0 { 1.0 + self.until_probed } else { 1.0 };
                Next::At(now.saturating_add(round_trips(wait, round_trip)))
            } else {
                Next::Sent(transfer.sent_at(now) + known * round_trip.as_secs_f64())
            };
            self.expect(slot, path, next);
        }
        self.heard[slot as usize].rate
    }

    /// Notes when the flow over `path` hears of its next rate.
    fn expect(&mut self, slot: u32, path: &[u32], next: Next) {
        let before = std::mem::replace(&mut self.heard[slot as usize].next, next);
        let [did, does] = [before, next].map(|next| matches!(next, Next::Sent(_)));
        for &link in path {
            let sending_on = &mut self.sending_on[link as usize];
            match (did, does) {
                (false, true) => sending_on.push(slot),
                (true, false) => sending_on.retain(|other| *other != slot),
                _ => {}
            }
        }
    }

    /// When the flow hears of its next rate, if it keeps its present one until then.
    pub(crate) fn next(&self, slot: u32, now: Time, transfer: &Transfer) -> Time {
        match self.heard[slot as usize].next {
            Next::Now | Next::Never => Time::MAX,
            Next::At(time) => time,
            Next::Sent(bits) => transfer.time_of(bits, now),
        }
    }

    /// Whether the flow hears of its next rate now.
    pub(crate) fn is_due(&self, slot: u32, now: Time, transfer: &Transfer) -> bool {
        match self.heard[slot as usize].next {
            Next::Now | Next::Never => false,
            Next::At(time) => time <= now,
            Next::Sent(bits) => transfer.sent_at(now) >= bits - ROUNDING,
        }
    }

    /// Calls `tell` for each flow on the link that still sends at its old rate, though it is paused
    /// or slowed.
    pub(crate) fn sending_on(&self, link: u32, tell: impl FnMut(u32)) {
        self.sending_on[link as usize].iter().copied().for_each(tell);
    }

    /// Forgets which links flows have left, once the rates of this instant are found.
    pub(crate) fn settle(&mut self) {
        self.left.drain(..).for_each(|link| self.is_left[link as usize] = false);
    }
}
