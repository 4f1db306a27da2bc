//! Max-min fair rates, kept up as flows come and go.
//!
//! Every link offers all its flows the same rate, its *level*. At this rate the flows fill the
//! link, if each takes no more than its other links offer. A link that its flows cannot fill offers
//! an unlimited rate. A flow's rate is the lowest offer on its path. Rates are max-min fair exactly
//! if both rules hold everywhere: each flow is then among the largest on a link that is full.
//!
//! Flows may be in *classes*. The flows of class 0 share the links, those of class 1 share what
//! these leave, and so on. Sharing within a class is max-min fair (strict priority queues over fair
//! transports). A link then has one level per class. Below, class `c` of `n` on link `l` is *band*
//! `l n + c`.
//!
//! # Only what an event touches
//! A level depends only on rates below it. After a change, the affected bands are recomputed in the
//! order of the lower of their old and new levels. Everything below is final by then, so each band
//! settles when its turn comes. A change spreads upwards only: from a band to the flows whose rates
//! it changes, and from these flows to the higher bands that they cross. Nothing else is
//! recomputed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::repeat_with;

use crate::noted::Noted;
use crate::paths::Paths;

use history::{History, Membership};

/// The largest relative difference between rates that counts as rounding.
pub(crate) const ROUNDING: f64 = 1e-10;

/// The largest number of classes: each needs a bit of a word.
pub(crate) const MOST_CLASSES: usize = 64;

/// No turn is due.
const NO_TURN: u64 = u64::MAX;

/// A class of flows on a link. The bands of a path are far apart in memory, so each is in one cache
/// line.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Band {
    /// The capacity of its link, bit/s.
    capacity: f64,
    level: f64,
    /// The sum of its flows' rates, except for rounding.
    taken: f64,
    /// The bits of the level at which the band is recomputed.
    due: u64,
    /// The slots of its flows.
    members: Vec<u32>,
}

/// When a band is recomputed: its class, the bits of a level (which sort as levels do) and its
/// number. All three are in one number, because the first of many turns has to be found again and
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn(u128);

impl Turn {
    fn new(class: usize, due: u64, band: u32) -> Turn {
        Turn((class as u128) << 96 | u128::from(due) << 32 | u128::from(band))
    }

    fn due(self) -> u64 {
        (self.0 >> 32) as u64
    }

    fn band(self) -> u32 {
        self.0 as u32
    }
}

/// Max-min fair rates of all active flows.
#[derive(Clone, Debug)]
pub(crate) struct Fair {
    classes: usize,
    /// The classes that have flows on each link, a bit for each class.
    present: Vec<u64>,
    bands: Vec<Band>,
    /// The bands that each flow crosses, by slot.
    paths: Paths,
    /// The flow's places among the members of these bands, by slot.
    places: Paths,
    /// By slot.
    rates: Vec<f64>,
    /// The class of each flow, by slot.
    class_of: Vec<u8>,
    /// Bands that are to be recomputed.
    turns: BinaryHeap<Reverse<Turn>>,
    /// Slots whose rates have changed since the last call of [`Fair::settle`].
    changed: Noted,
    /// What the other links of each flow of a band offer.
    offers: Vec<f64>,
    unfixed: Vec<f64>,
    history: History,
}

impl Fair {
    /// Links of these capacities, in bit/s, without flows.
    pub(crate) fn new(capacities: Vec<f64>, classes: usize) -> Fair {
        assert!((1..=MOST_CLASSES).contains(&classes));
        let band = |capacity: &f64| Band {
            capacity: *capacity,
            level: f64::INFINITY,
            taken: 0.0,
            due: NO_TURN,
            members: Vec::new(),
        };
        Fair {
            classes,
            present: vec![0; capacities.len()],
            bands: capacities.iter().flat_map(|c| repeat_with(|| band(c)).take(classes)).collect(),
            paths: Paths::default(),
            places: Paths::default(),
            rates: Vec::new(),
            class_of: Vec::new(),
            turns: BinaryHeap::new(),
            changed: Noted::default(),
            offers: Vec::new(),
            unfixed: Vec::new(),
            history: History::default(),
        }
    }

    /// A flow starts over `path`.
    pub(crate) fn add(&mut self, slot: u32, path: impl Iterator<Item = u32>, class: u8) {
        let index = slot as usize;
        if index >= self.rates.len() {
            self.rates.resize(index + 1, 0.0);
            self.class_of.resize(index + 1, 0);
        }
        self.class_of[index] = class;
        self.history.note_flow(Membership::Starts(slot));
        let band = |link: u32| link * self.classes as u32 + u32::from(class);
        let bands: Vec<u32> = path.map(band).collect();
        let last = |band: &u32| self.bands[*band as usize].members.len() as u32;
        let places: Vec<u32> = bands.iter().map(last).collect();
        self.paths.set(slot, &bands);
        self.places.set(slot, &places);
        for band in bands {
            self.bands[band as usize].members.push(slot);
            self.present[band as usize / self.classes] |= 1 << class;
            self.look_at(band, 0.0);
        }
    }

    /// A flow ends; its rate is zero from now on.
    pub(crate) fn remove(&mut self, slot: u32) {
        self.set_rate(slot, 0.0);
        self.history.note_flow(Membership::Ends(slot));
        for hop in 0..self.paths.path(slot).len() {
            let index = self.paths.path(slot)[hop] as usize;
            self.leave(index, self.places.path(slot)[hop]);
            let band = &mut self.bands[index];
            if band.members.is_empty() {
                self.history.note_band(index as u32, band.level, band.taken);
                band.level = f64::INFINITY;
                band.taken = 0.0;
                self.present[index / self.classes] &= !(1 << (index % self.classes));
            }
            let level = band.level;
            self.look_at(index as u32, level);
            self.look_at_lower_classes(index);
        }
    }

    /// Removes the member at this place from the band. The last member gets its place.
    fn leave(&mut self, band: usize, place: u32) {
        let members = &mut self.bands[band].members;
        members.swap_remove(place as usize);
        let Some(moved) = members.get(place as usize).copied() else { return };
        self.set_place(moved, band as u32, place);
    }

    /// Notes that the flow is at this place among the members of the band.
    fn set_place(&mut self, slot: u32, band: u32, place: u32) {
        let hop = self.paths.path(slot).iter().position(|other| *other == band);
        if let Some(hop) = hop {
            self.places.of_mut(slot)[hop] = place;
        }
    }

    /// Moves a flow to another class.
    pub(crate) fn set_class(&mut self, slot: u32, class: u8) {
        let links = |band: &u32| band / self.classes as u32;
        let path: Vec<u32> = self.paths.path(slot).iter().map(links).collect();
        self.remove(slot);
        self.add(slot, path.into_iter(), class);
    }

    /// The flows on the link.
    pub(crate) fn on(&self, link: u32) -> impl Iterator<Item = u32> + '_ {
        let first = link as usize * self.classes;
        let bands = classes(self.present[link as usize]).map(move |class| first + class);
        bands.flat_map(|band| self.bands[band].members.iter().copied())
    }

    /// The class that the flow is in.
    pub(crate) fn class(&self, slot: u32) -> u8 {
        self.class_of[slot as usize]
    }

    /// Sets the capacity of the link.
    pub(crate) fn set_capacity(&mut self, link: u32, capacity: f64) {
        let first = link as usize * self.classes;
        self.bands[first..first + self.classes]
            .iter_mut()
            .for_each(|band| band.capacity = capacity);
        for class in classes(self.present[link as usize]) {
            self.look_at((first + class) as u32, 0.0);
        }
    }

    /// The flow's rate in bit/s.
    #[inline]
    pub(crate) fn rate(&self, slot: u32) -> f64 {
        self.rates[slot as usize]
    }

    /// Finds the rates after all changes since the last call. `changed` gets the slots whose rates
    /// are new.
    pub(crate) fn settle(&mut self, mut changed: impl FnMut(u32)) {
        while let Some(Reverse(turn)) = self.turns.pop() {
            let band = turn.band();
            // Another entry has brought the turn forward.
            if self.bands[band as usize].due != turn.due() {
                continue;
            }
            self.bands[band as usize].due = NO_TURN;
            let (level, old) = (self.level(band), self.bands[band as usize].level);
            if is_same(level, old) && self.has_its_rates(band, level) {
                continue;
            }
            let turn = level.min(old);
            let first = Turn::new(self.class_of(band as usize), turn.to_bits(), 0);
            if self.turns.peek().is_some_and(|Reverse(next)| *next < first) {
                self.look_at(band, turn);
            } else {
                self.apply(band, level);
            }
        }
        self.changed.drain().for_each(&mut changed);
    }

    /// The band's level, given what the other bands of its flows offer now. Leaves these offers in
    /// `offers`, as far as they matter.
    ///
    /// A flow whose rate is lower than the band's present level is limited by another band, to this
    /// rate. A flow without a rate is new, or nothing is left for it on a link. The other bands of
    /// all other flows offer at least the present level, so their exact offers matter only if the
    /// level rises.
    fn level(&mut self, band: u32) -> f64 {
        let left = self.left_for(band as usize);
        let Fair { bands, paths, rates, offers, unfixed, history, .. } = self;
        let old = bands[band as usize].level;
        let below = old * (1.0 - ROUNDING);
        let offer = |slot: &u32| match rates[*slot as usize] {
            0.0 => offer_elsewhere(bands, paths, *slot, band),
            rate if rate < below => rate,
            _ => f64::INFINITY,
        };
        let members = &bands[band as usize].members;
        offers.clear();
        offers.extend(members.iter().map(offer));
        let taken = members.iter().map(|slot| rates[*slot as usize]).sum();
        history.note_band(band, old, bands[band as usize].taken);
        bands[band as usize].taken = taken;
        if old == f64::INFINITY && offers.iter().sum::<f64>() <= left {
            return f64::INFINITY;
        }
        unfixed.clone_from(offers);
        let level = fill(left, unfixed);
        if level <= old {
            return level;
        }
        for (slot, offer) in bands[band as usize].members.iter().zip(offers.iter_mut()) {
            if *offer == f64::INFINITY {
                *offer = offer_elsewhere(bands, paths, *slot, band);
            }
        }
        unfixed.clone_from(offers);
        fill(left, unfixed)
    }

    /// Whether the band's flows have the rates that its level gives them. A flow that has replaced
    /// another may not, although the level is the same.
    fn has_its_rates(&self, band: u32, level: f64) -> bool {
        let members = self.bands[band as usize].members.iter().zip(&self.offers);
        members.fold(true, |has, (slot, offer)| {
            has & is_same(self.rates[*slot as usize], level.min(*offer))
        })
    }

    /// What the classes that go before the band's leave of the capacity of its link.
    fn left_for(&self, band: usize) -> f64 {
        let (class, capacity) = (self.class_of(band), self.bands[band].capacity);
        if class == 0 {
            return capacity;
        }
        let link = band / self.classes;
        let mut left = capacity;
        for before in classes(self.present[link] & ((1 << class) - 1)) {
            let members = &self.bands[link * self.classes + before].members;
            left -= members.iter().map(|slot| self.rates[*slot as usize]).sum::<f64>();
        }
        if left > capacity * ROUNDING { left } else { 0.0 }
    }

    /// Gives the band its new level, and its flows the rates that follow.
    fn apply(&mut self, band: u32, level: f64) {
        let Band { level: old, taken, .. } = self.bands[band as usize];
        self.history.note_band(band, old, taken);
        self.bands[band as usize].level = level;
        for index in 0..self.offers.len() {
            let slot = self.bands[band as usize].members[index];
            let (old, rate) = (self.rates[slot as usize], level.min(self.offers[index]));
            if is_same(old, rate) {
                continue;
            }
            self.set_rate(slot, rate);
            for hop in 0..self.paths.path(slot).len() {
                let other = self.paths.path(slot)[hop];
                self.look_at_lower_classes(other as usize);
                if other == band || self.has_room(other as usize) {
                    continue;
                }
                // If the flow takes less, the other level rises from its present value, if it has
                // one. If the flow takes more, the other level cannot fall below the flow's old
                // rate.
                self.look_at(
                    other,
                    if rate < old { self.bands[other as usize].level } else { old },
                );
            }
        }
    }

    /// Whether the band has no level and does not need one, because its flows do not fill the link. With several
    /// classes, this is always false.
    #[inline]
    fn has_room(&self, band: usize) -> bool {
        let Band { capacity, level, taken, .. } = self.bands[band];
        self.classes == 1 && level == f64::INFINITY && capacity * (1.0 - ROUNDING) - taken > 0.0
    }

    fn set_rate(&mut self, slot: u32, rate: f64) {
        let old = self.rates[slot as usize];
        self.history.note_rate(slot, old);
        for &index in self.paths.path(slot) {
            let band = &mut self.bands[index as usize];
            self.history.note_band(index, band.level, band.taken);
            band.taken += rate - old;
        }
        self.rates[slot as usize] = rate;
        self.changed.note(slot);
    }

    /// Schedules the band to be recomputed at the turn of `level`. A band without a level is
    /// skipped: it has none to rise to.
    #[inline]
    fn look_at(&mut self, band: u32, level: f64) {
        let due = level.to_bits();
        if level < f64::INFINITY && due < self.bands[band as usize].due {
            self.bands[band as usize].due = due;
            self.turns.push(Reverse(Turn::new(self.class_of(band as usize), due, band)));
        }
    }

    /// The band's class. Needs no division if there is only one class.
    fn class_of(&self, band: usize) -> usize {
        if self.classes == 1 { 0 } else { band % self.classes }
    }

    /// Schedules the classes after the band's on its link to be recomputed, because what the band's
    /// flows take has changed.
    fn look_at_lower_classes(&mut self, band: usize) {
        if self.classes == 1 {
            return;
        }
        let (link, class) = (band / self.classes, band % self.classes);
        let after = self.present[link] & !(u64::MAX >> (63 - class));
        for lower in classes(after) {
            self.look_at((link * self.classes + lower) as u32, 0.0);
        }
    }
}

/// The lowest level of the other bands that the flow crosses.
#[inline]
fn offer_elsewhere(bands: &[Band], paths: &Paths, slot: u32, band: u32) -> f64 {
    let others = paths.path(slot).iter().filter(|other| **other != band);
    others.map(|other| bands[*other as usize].level).fold(f64::INFINITY, f64::min)
}

/// The places of the bits that are set.
fn classes(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let class = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(class)
    })
}

/// The level at which flows that take no more than `wanted` each fill `capacity`. It is infinite if
/// they cannot fill it.
pub(crate) fn fill(capacity: f64, wanted: &mut Vec<f64>) -> f64 {
    let mut left = capacity;
    loop {
        if wanted.is_empty() {
            return f64::INFINITY;
        }
        let level = f64::max(left, 0.0) / wanted.len() as f64;
        let before = wanted.len();
        let mut index = 0;
        while index < wanted.len() {
            if wanted[index] <= level {
                left -= wanted.swap_remove(index);
            } else {
                index += 1;
            }
        }
        if wanted.len() == before {
            return level;
        }
    }
}

/// Whether two rates differ only by rounding. Every finite rate differs from infinity.
#[inline]
fn is_same(one: f64, other: f64) -> bool {
    one == other || (one - other).abs() <= ROUNDING * one.min(other)
}

mod history;
mod undo;

#[cfg(test)]
#[path = "fair/tests.rs"]
mod tests;
