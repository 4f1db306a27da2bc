//! Decides which flow spends the next token at a source. One packet leaves at a time.

use flowsched_units::{Bytes, Rate, Time};

/// A flow that has tokens to spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The flow.
    pub flow: u32,
    /// Segments that its receiver lacks.
    pub missing: u32,
    /// When its last token expires.
    pub until: Time,
}

/// The sending side of a host: its card, and the flows that have tokens.
#[derive(Clone, Debug)]
pub struct Source {
    rate: Rate,
    /// When the card has sent all packets that it was handed.
    free: Time,
    waiting: Vec<Claim>,
    /// The flow that [`Source::next`] returned last, until it sends.
    named: Option<u32>,
}

impl Source {
    /// The sending side of a host with an idle card of this rate.
    pub fn new(rate: Rate) -> Source {
        Source { rate, free: Time::ZERO, waiting: Vec::new(), named: None }
    }

    /// Adds a flow with tokens to spend to the list, or updates its claim.
    pub fn wait(&mut self, claim: Claim) {
        self.withdraw(claim.flow);
        self.waiting.push(claim);
    }

    /// Takes a flow with nothing to send off the list.
    pub fn withdraw(&mut self, flow: u32) {
        self.waiting.retain(|claim| claim.flow != flow);
    }

    /// Takes the flow that lacks the fewest segments off the list, if the card is free. Returns the
    /// flow: its sender is to be polled.
    pub fn next(&mut self, now: Time) -> Option<u32> {
        let first = self.first(now)?;
        self.named = Some(self.waiting.swap_remove(first).flow);
        self.named
    }

    /// Whether the flow may send a packet now. If so, it is no longer on the list.
    #[inline]
    pub fn is_turn_of(&mut self, flow: u32, now: Time) -> bool {
        if self.named.take() == Some(flow) {
            return true;
        }
        let Some(first) = self.first(now) else { return false };
        let is_first = self.waiting[first].flow == flow;
        if is_first {
            self.waiting.swap_remove(first);
        }
        is_first
    }

    /// The place of the flow that goes first, if the card is free. Flows whose tokens have expired
    /// are forgotten.
    fn first(&mut self, now: Time) -> Option<usize> {
        if self.free > now {
            return None;
        }
        self.waiting.retain(|claim| claim.until >= now);
        let order = |place: &usize| (self.waiting[*place].missing, self.waiting[*place].flow);
        (0..self.waiting.len()).min_by_key(order)
    }

    /// Records that the card is handed a packet of this many bytes on the wire, with data or without.
    #[inline]
    pub fn sent(&mut self, now: Time, wire: u32) {
        let time = self.rate.transmission_time(Bytes::new(u64::from(wire)));
        self.free = self.free.max(now).saturating_add(time);
    }

    /// When the next flow may send: [`Time::MAX`] if none may before another token comes.
    #[inline]
    pub fn deadline(&self) -> Time {
        if self.waiting.is_empty() { Time::MAX } else { self.free }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(flow: u32, missing: u32, until: u64) -> Claim {
        Claim { flow, missing, until: Time::from_us(until) }
    }

    #[test]
    fn one_packet_at_a_time_of_the_flow_that_lacks_the_fewest() {
        let mut source = Source::new(Rate::from_gbps(1));
        source.wait(claim(1, 9, 100));
        source.wait(claim(2, 5, 100));
        assert!(!source.is_turn_of(1, Time::ZERO), "flow 2 goes first");
        assert!(source.is_turn_of(2, Time::ZERO));
        source.sent(Time::ZERO, 1500);
        assert_eq!((source.next(Time::from_us(11)), source.deadline()), (None, Time::from_us(12)));
        assert_eq!(source.next(Time::from_us(12)), Some(1));
        assert!(source.is_turn_of(1, Time::from_us(12)));
        assert_eq!(source.deadline(), Time::MAX, "nobody waits");
    }

    #[test]
    fn flows_whose_tokens_have_expired_are_passed_over() {
        let mut source = Source::new(Rate::from_gbps(1));
        source.wait(claim(1, 1, 5));
        source.wait(claim(2, 7, 20));
        assert_eq!(source.next(Time::from_us(6)), Some(2));
        assert_eq!(source.next(Time::from_us(6)), None);
    }
}
