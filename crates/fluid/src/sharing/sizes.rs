//! The size of each flow in the order of criticality ([`SizeBy`]), and how ageing reduces it.

use flowsched_schemes::flow_level::{
    CriticalBy, FlowLevel, SizeBy, age_divisor, random_transmission,
};
use flowsched_topology::mix;
use flowsched_units::{PACKET_WIRE, Time};

use crate::latency::wire_bits;
use crate::transfers::{ROUNDING, Transfer};

/// A waiting flow says its size again whenever ageing has reduced it to 2^(-1/32) of what the flow last said, so by
/// 2%. Switches learn the size from the flow's probes, not at once.
const WORDS_A_HALVING: f64 = 32.0;

/// A waiting subflow says its size again when the other subflows have reduced it to this part of what it last said.
const NEXT_WORD: f64 = 0.98;

/// The unit of waiting in PDQ 2012, Figure 12.
const HUNDRED_MS: f64 = 0.1;

/// The sizes of all active flows.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    pub(crate) by: CriticalBy,
    seed: u64,
    /// The step of size estimates, in bits on the wire.
    step: f64,
    /// Whether switches know a waiting flow by what it last said.
    pub(crate) keeps_word: bool,
    /// Whether flows are split, so that a flow shrinks while one of its subflows waits.
    are_split: bool,
    /// By slot.
    flows: Vec<Known>,
}

/// What is known of a flow besides its transfer.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The flow's estimated size, in steps.
    steps: f64,
    /// How long the flow has waited, and since when it waits again: [`Time::MAX`] if it sends.
    waited: Time,
    since: Time,
    /// The size that the flow last said, and when, while it waits. Switches order the flow by this size, even if it
    /// still sends.
    said: Option<(f64, Time)>,
}

impl Sizes {
    /// The sizes of flows of `scheme`, which go in the order `by`. There are no flows yet.
    pub(crate) fn new(by: CriticalBy, scheme: &FlowLevel, seed: u64) -> Sizes {
        let step = match by.size {
            SizeBy::Estimated { step } => wire_bits(step, scheme.header),
            _ => 0.0,
        };
        let are_split = scheme.subflows.is_some_and(|count| count > 1);
        // Flows may hear late that switches have paused them.
        let keeps_word = scheme.admission.acceptance().is_some() || by.ageing > 0.0 || are_split;
        Sizes { by, seed: mix(seed), step, keeps_word, are_split, flows: Vec::new() }
    }

    /// The flow starts to compete.
    pub(crate) fn start(&mut self, slot: u32, transfer: &Transfer, now: Time) {
        let new = Known { steps: 1.0, waited: Time::ZERO, since: now, said: None };
        if slot as usize >= self.flows.len() {
            self.flows.resize(slot as usize + 1, new);
        }
        self.flows[slot as usize] = new;
        // The size changes even if the flow, or this subflow of it, has not sent yet.
        if self.by.ageing > 0.0 || self.are_split {
            self.say(slot, transfer, now);
        }
    }

    /// The flow may send from `now` on.
    pub(crate) fn sends(&mut self, slot: u32, now: Time) {
        let known = &mut self.flows[slot as usize];
        known.said = None;
        if known.since < Time::MAX {
            known.waited += now.saturating_sub(known.since);
            known.since = Time::MAX;
        }
    }

    /// The flow waits from `now` on, unless it waits already.
    pub(crate) fn waits(&mut self, slot: u32, transfer: &Transfer, now: Time) {
        let known = &mut self.flows[slot as usize];
        if known.since == Time::MAX {
            known.since = now;
        }
        if self.keeps_word && known.said.is_none() {
            self.say(slot, transfer, now);
        }
    }

    /// The flow says what its size is now.
    pub(crate) fn say(&mut self, slot: u32, transfer: &Transfer, now: Time) {
        if self.keeps_word {
            self.flows[slot as usize].said = Some((self.now(slot, transfer, now), now));
        }
    }

    /// The flow's size, as others know it.
    #[inline]
    pub(crate) fn known(&self, slot: u32, transfer: &Transfer, now: Time) -> f64 {
        let said = self.flows[slot as usize].said;
        said.map_or_else(|| self.now(slot, transfer, now), |(size, _)| size)
    }

    /// The flow's size at `now`.
    #[inline]
    pub(crate) fn now(&self, slot: u32, transfer: &Transfer, now: Time) -> f64 {
        let size = match self.by.size {
            SizeBy::Whole => transfer.size,
            SizeBy::Left => transfer.left_at(now),
            SizeBy::TimeLeft => transfer.left_at(now) / transfer.peak,
            SizeBy::Estimated { .. } => self.flows[slot as usize].steps * self.step,
            // As the packet engine's senders draw it.
            SizeBy::Random => {
                let random = mix(self.seed ^ (u64::from(transfer.id) << 32));
                random_transmission(random).as_ps() as f64
            }
        };
        size * self.age(slot, now)
    }

    /// The factor by which waiting reduces the flow's size.
    #[inline]
    fn age(&self, slot: u32, now: Time) -> f64 {
        if self.by.ageing == 0.0 {
            return 1.0;
        }
        let Known { waited, since, .. } = self.flows[slot as usize];
        let waited = waited.saturating_add(now.saturating_sub(since));
        1.0 / age_divisor(waited, self.by.ageing)
    }

    /// How fast the flow's size shrinks at `rate`.
    #[inline]
    pub(crate) fn pace(&self, slot: u32, transfer: &Transfer, rate: f64, now: Time) -> f64 {
        let unit = if self.by.size == SizeBy::TimeLeft { transfer.peak } else { 1.0 };
        rate / unit * self.age(slot, now)
    }

    /// When the flow's estimate will be too small, at its rate.
    pub(crate) fn next_step(&self, slot: u32, transfer: &Transfer, now: Time) -> Time {
        let sent = self.flows[slot as usize].steps * self.step;
        let has_more = self.step > 0.0 && transfer.rate() > 0.0 && sent < transfer.size;
        if has_more { transfer.time_of(sent, now) } else { Time::MAX }
    }

    /// Whether the flow's estimate is too small now.
    pub(crate) fn is_too_small(&self, slot: u32, transfer: &Transfer, now: Time) -> bool {
        let sent = self.flows[slot as usize].steps * self.step;
        self.step > 0.0 && sent < transfer.size && transfer.sent_at(now) >= sent - ROUNDING
    }

    /// Raises the flow's estimate by a step.
    pub(crate) fn raise(&mut self, slot: u32, transfer: &Transfer, now: Time) {
        self.flows[slot as usize].steps += 1.0;
        if self.flows[slot as usize].said.is_some() {
            self.say(slot, transfer, now);
        }
    }

    /// When a waiting flow says its size again, because it has aged or because its other subflows have sent.
    pub(crate) fn next_word(&self, slot: u32, transfer: &Transfer, now: Time) -> Time {
        let by_others = match self.sent_at_next_word(slot, transfer) {
            Some(bits) if transfer.rate() > 0.0 => transfer.time_of(bits, now),
            _ => Time::MAX,
        };
        by_others.min(self.next_word_of_age(slot))
    }

    /// Whether it is time for a waiting flow to say its size again.
    pub(crate) fn has_news(&self, slot: u32, transfer: &Transfer, now: Time) -> bool {
        let have_others_sent = || {
            let bits = self.sent_at_next_word(slot, transfer);
            bits.is_some_and(|bits| transfer.sent_at(now) >= bits - ROUNDING)
        };
        self.next_word_of_age(slot) <= now || have_others_sent()
    }

    fn next_word_of_age(&self, slot: u32) -> Time {
        match self.flows[slot as usize].said {
            Some((_, at)) if self.by.ageing > 0.0 => {
                let seconds = HUNDRED_MS / (self.by.ageing * WORDS_A_HALVING);
                at.saturating_add(Time::from_secs_f64(seconds).max(Time::from_ns(1)))
            }
            _ => Time::MAX,
        }
    }

    /// The bits that a flow will have sent when a waiting subflow of it says its size again. The subflow does not
    /// do so for the last packet.
    fn sent_at_next_word(&self, slot: u32, transfer: &Transfer) -> Option<f64> {
        let (size, at) = self.flows[slot as usize].said.filter(|_| self.are_split)?;
        let left = size / self.age(slot, at);
        let is_worth_it = self.by.size == SizeBy::Left && left > 8.0 * PACKET_WIRE as f64;
        is_worth_it.then_some(transfer.size - left * NEXT_WORD)
    }
}
