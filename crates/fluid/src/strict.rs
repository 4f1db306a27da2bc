//! Strict priority, flow by flow: each takes what more critical flows leave on its path.
//!
//! PDQ's switches converge to these rates (PDQ 2012, section 4: drivers are accepted, all others paused): a flow
//! that one link pauses leaves its other links to less critical flows. If the order is by size this is SJF, by
//! remaining size SRPT and pFabric, by deadline EDF. A flow that asks for a rate gets at most that rate.
//!
//! # Only what an event touches
//! Every link lists its flows, the most critical first. An event recomputes the flows whose share
//! it changes, in that order. A flow with a new rate affects only less critical flows on its links,
//! only down to the place where the link is full before and after, and there only flows that the
//! link limits now or limited before. Waiting flows are recomputed a few at a time, as long as
//! capacity is left.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::noted::Noted;
use crate::paths::Paths;

/// The share of a capacity that counts as rounding.
const ROUNDING: f64 = 1e-9;

/// The most waiting flows that are recomputed before it is known whether anything is left for the next.
const A_FEW: usize = 16;

/// The slot of no flow.
const NOBODY: u32 = u32::MAX;

/// How critical a flow is; the lowest goes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Criticality {
    /// The deadline in picoseconds; the largest number without one.
    pub(crate) deadline: u64,
    /// Bits to send, or another measure of the size.
    pub(crate) size: f64,
    /// Decides between equals.
    pub(crate) id: u32,
    /// Decides between subflows of one flow.
    pub(crate) path: u32,
}

impl Eq for Criticality {}

impl PartialOrd for Criticality {
    fn partial_cmp(&self, other: &Criticality) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Criticality {
    fn cmp(&self, other: &Criticality) -> std::cmp::Ordering {
        let by_deadline = self.deadline.cmp(&other.deadline);
        by_deadline
            .then(self.size.total_cmp(&other.size))
            .then(self.id.cmp(&other.id))
            .then(self.path.cmp(&other.path))
    }
}

/// The order and the requests of flows at one instant.
pub(crate) trait Order {
    /// How critical the flow in this slot is now.
    fn criticality(&self, slot: u32) -> Criticality;

    /// The rate that the flow asks for, bit/s.
    fn asked(&self, slot: u32) -> f64;

    /// Whether flows become more critical when they send or start to send. Criticality changes for no other reason.
    fn moves(&self) -> bool;

    /// Whether the size of the flow `behind` may shrink faster than that of the flow `ahead`, as far as this order
    /// depends on sizes. Both are given as slot and rate.
    fn gains(&self, behind: (u32, f64), ahead: (u32, f64)) -> bool;
}

#[derive(Clone, Copy, Debug)]
struct Member {
    slot: u32,
    rate: f64,
}

#[derive(Clone, Debug)]
#[repr(align(64))]
struct Link {
    capacity: f64,
    /// The flows on the link, the most critical first as of the round `sorted_in`.
    members: VecDeque<Member>,
    sorted_in: u64,
    /// How many members have a rate. They are few, and most waiting flows behind them need not be visited.
    sending: usize,
    /// The last of the waiting flows that are due to be recomputed; [`NOBODY`] if there is none. Once it has been
    /// recomputed, the flows behind it are next.
    cursor: u32,
}

impl Link {
    /// The flows up to the last one that has a rate.
    fn up_to_the_last_that_sends(&self) -> impl Iterator<Item = &Member> {
        let mut sending = self.sending;
        self.members.iter().take_while(move |member| {
            let is_over = sending == 0;
            sending -= usize::from(!is_over && member.rate > 0.0);
            !is_over
        })
    }

    /// The place of the flow in `slot`. Flows are in order: none is more critical than those before it.
    fn place_of(&self, slot: u32, order: &impl Order) -> Option<usize> {
        let is_it = |place: &usize| self.members.get(*place).is_some_and(|m| m.slot == slot);
        // Most lookups are for the first flow.
        let place = Some(0).filter(is_it);
        let by_search = || Some(self.search(order.criticality(slot), order)).filter(is_it);
        let one_by_one = || self.members.iter().position(|member| member.slot == slot);
        place.or_else(by_search).or_else(one_by_one)
    }

    /// The number of flows that are more critical.
    fn search(&self, critical: Criticality, order: &impl Order) -> usize {
        self.members.partition_point(|member| order.criticality(member.slot) < critical)
    }

    /// Lists a few waiting flows behind this place, as long as the link has anything left. Puts the cursor on the
    /// last of them if there may be more.
    fn list_waiting(&mut self, place: usize, listed: &mut Vec<u32>) {
        let mut left = self.capacity;
        let before = self.up_to_the_last_that_sends().take(place + 1);
        before.for_each(|member| left -= member.rate);
        for member in self.members.range(place + 1..) {
            if above_rounding(left, self.capacity) == 0.0 {
                break;
            }
            if member.rate <= 0.0 {
                listed.push(member.slot);
            }
            if listed.len() == A_FEW {
                self.cursor = member.slot;
                break;
            }
            left -= member.rate;
        }
    }
}

/// The rates of all active flows.
#[derive(Clone, Debug)]
pub(crate) struct Strict {
    links: Vec<Link>,
    paths: Paths,
    /// By slot.
    rates: Vec<f64>,
    /// The hop that left each flow nothing when it was last recomputed, by slot.
    held_at: Vec<u8>,
    /// The number of the present round: one call of [`Strict::settle`] and the changes before it, all at one
    /// instant.
    round: u64,
    /// Flows to be recomputed in this round.
    due: Vec<u32>,
    is_due: Vec<bool>,
    turns: BinaryHeap<Reverse<(Criticality, u32)>>,
    changed: Noted,
    /// Whether a link may have its cursor on the flow, by slot.
    has_cursor: Vec<bool>,
    /// Waiting flows of a link.
    waiting: Vec<u32>,
}

impl Strict {
    /// Links of these capacities, in bit/s, without flows.
    pub(crate) fn new(capacities: Vec<f64>) -> Strict {
        let link = |capacity| Link {
            capacity,
            members: VecDeque::new(),
            sorted_in: 0,
            sending: 0,
            cursor: NOBODY,
        };
        Strict {
            links: capacities.into_iter().map(link).collect(),
            paths: Paths::default(),
            rates: Vec::new(),
            held_at: Vec::new(),
            round: 1,
            due: Vec::new(),
            is_due: Vec::new(),
            turns: BinaryHeap::new(),
            changed: Noted::default(),
            has_cursor: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// A flow starts over `path`.
    pub(crate) fn add(&mut self, slot: u32, path: &[u32], order: &impl Order) {
        let index = slot as usize;
        if index >= self.rates.len() {
            self.rates.resize(index + 1, 0.0);
            self.held_at.resize(index + 1, 0);
            self.is_due.resize(index + 1, false);
            self.has_cursor.resize(index + 1, false);
        }
        self.paths.set(slot, path);
        self.held_at[index] = 0;
        let critical = order.criticality(slot);
        for &link in path {
            self.sort(link, order);
            let link = &mut self.links[link as usize];
            let ahead = link.search(critical, order);
            link.members.insert(ahead, Member { slot, rate: 0.0 });
        }
        self.look_at(slot);
    }

    /// A flow ends; its rate is zero from now on.
    pub(crate) fn remove(&mut self, slot: u32, order: &impl Order) {
        self.set_rate(slot, 0.0, order);
        self.is_due[slot as usize] = false;
        self.go_on_behind(slot, order);
        for hop in 0..self.paths.path(slot).len() {
            self.take_off(slot, self.paths.path(slot)[hop], order);
        }
    }

    /// Takes the flow off a link of its path.
    fn take_off(&mut self, slot: u32, link: u32, order: &impl Order) {
        let link = &mut self.links[link as usize];
        if let Some(place) = link.place_of(slot, order) {
            link.members.remove(place);
        }
    }

    /// Moves a waiting flow to its place among the others. Takes it off each link before the other flows there are
    /// sorted, because sorting a flow needs the flows before it in order.
    pub(crate) fn put_in_order(&mut self, slot: u32, order: &impl Order) {
        debug_assert!(self.rate(slot) == 0.0, "it waits");
        self.go_on_behind(slot, order);
        let critical = order.criticality(slot);
        for hop in 0..self.paths.path(slot).len() {
            let link = self.paths.path(slot)[hop];
            self.take_off(slot, link, order);
            self.sort(link, order);
            let link = &mut self.links[link as usize];
            let ahead = link.search(critical, order);
            link.members.insert(ahead, Member { slot, rate: 0.0 });
        }
    }

    /// Schedules the flow to be recomputed: its rate, or what it asks for, may have changed.
    pub(crate) fn look_at(&mut self, slot: u32) {
        note(&mut self.due, &mut self.is_due, slot);
    }

    /// The flow's rate in bit/s.
    #[inline]
    pub(crate) fn rate(&self, slot: u32) -> f64 {
        self.rates[slot as usize]
    }

    /// The flows on the link and their rates, the most critical first when the link was last sorted.
    pub(crate) fn on(&self, link: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.links[link as usize].members.iter().map(|member| (member.slot, member.rate))
    }

    /// The flows that send on the link, the most critical first when the link was last sorted.
    pub(crate) fn sending_on(&self, link: u32) -> impl Iterator<Item = u32> + '_ {
        let sending = self.links[link as usize].up_to_the_last_that_sends();
        sending.filter(|member| member.rate > 0.0).map(|member| member.slot)
    }

    /// Whether flows other than the one in `slot` send on the link.
    #[inline]
    pub(crate) fn do_others_send(&self, slot: u32, link: u32) -> bool {
        self.links[link as usize].sending > usize::from(self.rates[slot as usize] > 0.0)
    }

    /// Calls `tell` for each flow that sends behind the one in `slot` on a link of both.
    pub(crate) fn behind(&self, slot: u32, mut tell: impl FnMut(u32)) {
        let shared = self.paths.path(slot).iter().filter(|link| self.do_others_send(slot, **link));
        for &link in shared {
            let link = &self.links[link as usize];
            let mut left = link.capacity;
            let mut is_passed = false;
            for member in link.up_to_the_last_that_sends() {
                left -= member.rate;
                if is_passed && member.rate > 0.0 {
                    tell(member.slot);
                }
                is_passed |= member.slot == slot;
                if above_rounding(left, link.capacity) == 0.0 {
                    break;
                }
            }
        }
    }

    /// The capacity that the link has left, bit/s.
    pub(crate) fn left(&self, link: u32) -> f64 {
        let link = &self.links[link as usize];
        let taken: f64 = link.members.iter().map(|member| member.rate).sum();
        above_rounding(link.capacity - taken, link.capacity)
    }

    /// The links that the flow crosses.
    pub(crate) fn path(&self, slot: u32) -> &[u32] {
        self.paths.path(slot)
    }

    /// Finds the rates after all that has happened at this instant. `changed` gets the slots whose rates are new,
    /// and those of flows that may now pass a slower flow.
    pub(crate) fn settle(&mut self, order: &impl Order, mut changed: impl FnMut(u32)) {
        loop {
            while let Some(slot) = self.due.pop() {
                self.turns.push(Reverse((order.criticality(slot), slot)));
            }
            let Some(Reverse((_, slot))) = self.turns.pop() else { break };
            if std::mem::replace(&mut self.is_due[slot as usize], false) {
                let rate = self.share(slot, order);
                if rate != self.rates[slot as usize] {
                    self.set_rate(slot, rate, order);
                }
                self.go_on_behind(slot, order);
            }
        }
        self.changed.drain().for_each(&mut changed);
        self.round += 1;
    }

    /// The rate that more critical flows leave to the flow, and no more than it asks for.
    fn share(&mut self, slot: u32, order: &impl Order) -> f64 {
        let mut share = order.asked(slot);
        let hops = self.paths.path(slot).len();
        let first = usize::from(self.held_at[slot as usize]);
        // Most flows wait, and most of these wait at the hop where they waited before.
        for hop in (first..hops).chain(0..first) {
            let link = self.paths.path(slot)[hop];
            self.sort(link, order);
            let link = &self.links[link as usize];
            let mut left = link.capacity;
            for member in link.up_to_the_last_that_sends() {
                if member.slot == slot || left <= 0.0 {
                    break;
                }
                left -= member.rate;
            }
            share = share.min(above_rounding(left, link.capacity));
            if share <= 0.0 {
                self.held_at[slot as usize] = hop as u8;
                return 0.0;
            }
        }
        share
    }

    /// Schedules the next waiting flows behind the one in `slot`, on the links that have their
    /// cursor on it.
    fn go_on_behind(&mut self, slot: u32, order: &impl Order) {
        if !std::mem::replace(&mut self.has_cursor[slot as usize], false) {
            return;
        }
        for &link in self.paths.path(slot) {
            let link = &mut self.links[link as usize];
            if link.cursor != slot {
                continue;
            }
            link.cursor = NOBODY;
            if let Some(place) = link.place_of(slot, order) {
                link.list_waiting(place, &mut self.waiting);
            }
            if link.cursor != NOBODY {
                self.has_cursor[link.cursor as usize] = true;
            }
            for next in self.waiting.drain(..) {
                note(&mut self.due, &mut self.is_due, next);
            }
        }
    }

    /// Sets the flow's rate, and has the flows recomputed whose shares this changes.
    fn set_rate(&mut self, slot: u32, rate: f64, order: &impl Order) {
        let old = std::mem::replace(&mut self.rates[slot as usize], rate);
        self.changed.note(slot);
        for hop in 0..self.paths.path(slot).len() {
            let link = self.paths.path(slot)[hop];
            self.sort(link, order);
            let Link { capacity, members, sending, cursor, .. } = &mut self.links[link as usize];
            *sending = *sending + usize::from(rate > 0.0) - usize::from(old > 0.0);
            let mut left = *capacity;
            let mut place = 0;
            // A cursor on the flow or before it will reach all flows behind it.
            let mut is_cursor_before = *cursor == slot;
            let mut waiting = 0;
            let mut sending_behind = *sending - usize::from(rate > 0.0);
            while members[place].slot != slot {
                left -= members[place].rate;
                is_cursor_before |= members[place].slot == *cursor;
                sending_behind -= usize::from(members[place].rate > 0.0);
                place += 1;
            }
            members[place].rate = rate;
            let (mut before, mut now) = (left - old, left - rate);
            for member in members.range(place + 1..) {
                let [had, has] = [before, now].map(|left| above_rounding(left, *capacity));
                let are_full = had == 0.0 && has == 0.0;
                let is_none_held_back = had > 0.0 || has <= had;
                if are_full || sending_behind == 0 && is_none_held_back {
                    break;
                }
                let waits = member.rate <= 0.0;
                let is_short = has < had && member.rate > has;
                let was_held_back = has > had && member.rate >= had;
                if is_short || was_held_back {
                    note(&mut self.due, &mut self.is_due, member.slot);
                }
                waiting += usize::from(waits && was_held_back);
                if waiting >= A_FEW && sending_behind == 0 {
                    if !is_cursor_before {
                        *cursor = member.slot;
                        self.has_cursor[member.slot as usize] = true;
                    }
                    break;
                }
                if 0.0 < rate && order.gains((member.slot, member.rate), (slot, rate)) {
                    self.changed.note(member.slot);
                }
                sending_behind -= usize::from(!waits);
                before -= member.rate;
                now -= member.rate;
            }
        }
    }

    /// Sorts the link's flows for this instant, once a round: flows that send may have become more critical than
    /// others before them. If a flow passes another and both send, both are recomputed. Passing a waiting flow
    /// changes nothing yet.
    fn sort(&mut self, link: u32, order: &impl Order) {
        let Link { members, sorted_in, sending, .. } = &mut self.links[link as usize];
        if !order.moves() || std::mem::replace(sorted_in, self.round) == self.round {
            return;
        }
        let mut left = *sending;
        for index in 0..members.len() {
            if left == 0 {
                break;
            }
            let Member { slot, rate } = members[index];
            if rate <= 0.0 {
                continue;
            }
            left -= 1;
            let mut place = index;
            while place > 0 && order.criticality(slot) < order.criticality(members[place - 1].slot)
            {
                let passed = members[place - 1];
                if passed.rate > 0.0 {
                    note(&mut self.due, &mut self.is_due, slot);
                    note(&mut self.due, &mut self.is_due, passed.slot);
                }
                members.swap(place, place - 1);
                place -= 1;
            }
        }
    }
}

/// Puts the slot on the list unless it is there.
#[inline]
fn note(list: &mut Vec<u32>, is_listed: &mut [bool], slot: u32) {
    if !std::mem::replace(&mut is_listed[slot as usize], true) {
        list.push(slot);
    }
}

/// What is left of a capacity. Zero if it is no more than rounding.
#[inline]
fn above_rounding(left: f64, capacity: f64) -> f64 {
    if left > capacity * ROUNDING { left } else { 0.0 }
}

#[cfg(test)]
#[path = "strict/tests.rs"]
mod tests;
