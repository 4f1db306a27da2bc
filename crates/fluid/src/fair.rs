//! Max-min fair rates, kept up as flows come and go.
//!
//! Every link offers all its flows the same rate, its *level*: the one at which they fill it,
//! where each takes no more than its other links offer. A link that its flows cannot fill offers
//! everything. A flow's rate is the lowest offer on its path. Rates are max-min fair just when
//! both hold everywhere: each flow is then among the largest on a link that is full.
//!
//! Flows may be in *classes*: those of class 0 share the links, those of class 1 what these
//! leave, and so on, max-min fairly within each (strict priority queues over fair transports).
//! A link then has a level a class; link `l` and class `c` of `n` are *band* `l n + c` below.
//!
//! # Only what an event touches
//! A level depends on nothing but rates below it. When something changes, the bands it concerns
//! are looked at again in the order of the lower one of their old and new levels, as water
//! rises: whatever lies below is final by then, so that a band settles once it is its turn, and
//! a change spreads upwards only, from a band to the flows whose rates it changes, and on to the
//! bands above that these cross. Nothing else is looked at.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::paths::Paths;

/// The relative difference of rates that passes for rounding.
pub(crate) const ROUNDING: f64 = 1e-10;

/// The most classes: a bit for each in a word.
pub(crate) const MOST_CLASSES: usize = 64;

/// No turn is due.
const NO_TURN: u64 = u64::MAX;

/// Max-min fair rates of all active flows.
#[derive(Clone, Debug)]
pub(crate) struct Fair {
    classes: usize,
    /// By link: what it carries, bit/s.
    capacities: Vec<f64>,
    /// By link: the classes that have flows there.
    present: Vec<u64>,
    /// By band: the slots of its flows.
    members: Vec<Vec<u32>>,
    /// By band.
    levels: Vec<f64>,
    /// By band: the sum of its flows' rates, but for rounding.
    taken: Vec<f64>,
    /// By slot: the bands that the flow crosses.
    bands: Paths,
    /// By slot.
    rates: Vec<f64>,
    /// By slot: the class.
    class_of: Vec<u8>,
    /// Bands to be looked at: class, the bits of a level (which sort as levels do), band.
    turns: BinaryHeap<Reverse<(u8, u64, u32)>>,
    /// By band: the level at which it is to be looked at.
    due: Vec<u64>,
    /// Slots whose rate has changed since the last look.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
    /// What each flow of a band is offered elsewhere.
    offers: Vec<f64>,
    unfixed: Vec<f64>,
}

impl Fair {
    /// No flows on links of these capacities, in bit/s.
    pub(crate) fn new(capacities: Vec<f64>, classes: usize) -> Fair {
        assert!((1..=MOST_CLASSES).contains(&classes));
        let bands = capacities.len() * classes;
        Fair {
            classes,
            present: vec![0; capacities.len()],
            capacities,
            members: vec![Vec::new(); bands],
            levels: vec![f64::INFINITY; bands],
            taken: vec![0.0; bands],
            bands: Paths::default(),
            rates: Vec::new(),
            class_of: Vec::new(),
            turns: BinaryHeap::new(),
            due: vec![NO_TURN; bands],
            changed: Vec::new(),
            is_changed: Vec::new(),
            offers: Vec::new(),
            unfixed: Vec::new(),
        }
    }

    /// A flow starts over `path`.
    pub(crate) fn add(&mut self, slot: u32, path: impl Iterator<Item = u32>, class: u8) {
        let index = slot as usize;
        if index >= self.rates.len() {
            self.rates.resize(index + 1, 0.0);
            self.class_of.resize(index + 1, 0);
            self.is_changed.resize(index + 1, false);
        }
        self.class_of[index] = class;
        let band = |link: u32| link * self.classes as u32 + u32::from(class);
        let bands: Vec<u32> = path.map(band).collect();
        self.bands.set(slot, &bands);
        for band in bands {
            self.members[band as usize].push(slot);
            self.present[band as usize / self.classes] |= 1 << class;
            self.look_at(band, 0.0);
        }
    }

    /// A flow ends; its rate is zero from now on.
    pub(crate) fn remove(&mut self, slot: u32) {
        self.set_rate(slot, 0.0);
        for hop in 0..self.bands.of(slot).len() {
            let band = self.bands.of(slot)[hop] as usize;
            let members = &mut self.members[band];
            if let Some(place) = members.iter().position(|member| *member == slot) {
                members.swap_remove(place);
            }
            if members.is_empty() {
                self.levels[band] = f64::INFINITY;
                self.taken[band] = 0.0;
                self.present[band / self.classes] &= !(1 << (band % self.classes));
            }
            self.look_at(band as u32, self.levels[band]);
            self.look_at_lower_classes(band);
        }
    }

    /// A flow goes on in another class.
    pub(crate) fn set_class(&mut self, slot: u32, class: u8) {
        let links = |band: &u32| band / self.classes as u32;
        let path: Vec<u32> = self.bands.of(slot).iter().map(links).collect();
        self.remove(slot);
        self.add(slot, path.into_iter(), class);
    }

    /// The flows on the link.
    pub(crate) fn on(&self, link: u32) -> impl Iterator<Item = u32> + '_ {
        let first = link as usize * self.classes;
        let bands = classes(self.present[link as usize]).map(move |class| first + class);
        bands.flat_map(|band| self.members[band].iter().copied())
    }

    /// The class that the flow is in.
    pub(crate) fn class(&self, slot: u32) -> u8 {
        self.class_of[slot as usize]
    }

    /// What the link carries from now on.
    pub(crate) fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.capacities[link as usize] = capacity;
        let first = link as usize * self.classes;
        for class in classes(self.present[link as usize]) {
            self.look_at((first + class) as u32, 0.0);
        }
    }

    /// The flow's rate in bit/s.
    #[inline]
    pub(crate) fn rate(&self, slot: u32) -> f64 {
        self.rates[slot as usize]
    }

    /// Finds the rates after what has happened since the last time; `changed` gets the slots
    /// whose rates are new.
    pub(crate) fn settle(&mut self, mut changed: impl FnMut(u32)) {
        while let Some(Reverse((class, due, band))) = self.turns.pop() {
            // Another entry has brought the turn forward.
            if self.due[band as usize] != due {
                continue;
            }
            self.due[band as usize] = NO_TURN;
            let (level, old) = (self.level(band), self.levels[band as usize]);
            if is_same(level, old) && self.has_its_rates(band, level) {
                continue;
            }
            let turn = level.min(old);
            let next = self.turns.peek();
            if next.is_some_and(|Reverse((c, d, _))| (*c, *d) < (class, turn.to_bits())) {
                self.look_at(band, turn);
            } else {
                self.apply(band, level);
            }
        }
        for slot in self.changed.drain(..) {
            self.is_changed[slot as usize] = false;
            changed(slot);
        }
    }

    /// The band's level as its flows' other offers are now; these are left in `offers`, as far as
    /// they matter.
    ///
    /// A flow with a lower rate than the band's level so far is held back elsewhere, by that very
    /// rate. One without a rate is new, or the link is taken. The others are offered no less than
    /// that level elsewhere, so that how much it is matters only if the level rises.
    fn level(&mut self, band: u32) -> f64 {
        let old = self.levels[band as usize];
        let below = old * (1.0 - ROUNDING);
        self.offers.clear();
        for &slot in &self.members[band as usize] {
            self.offers.push(match self.rates[slot as usize] {
                0.0 => offer_elsewhere(&self.bands, &self.levels, slot, band),
                rate if rate < below => rate,
                _ => f64::INFINITY,
            });
        }
        let capacity = self.left_for(band as usize);
        let members = self.members[band as usize].iter();
        self.taken[band as usize] = members.map(|slot| self.rates[*slot as usize]).sum();
        if old == f64::INFINITY && self.offers.iter().sum::<f64>() <= capacity {
            return f64::INFINITY;
        }
        self.unfixed.clone_from(&self.offers);
        let level = fill(capacity, &mut self.unfixed);
        if level <= old {
            return level;
        }
        for index in 0..self.offers.len() {
            if self.offers[index] == f64::INFINITY {
                let slot = self.members[band as usize][index];
                self.offers[index] = offer_elsewhere(&self.bands, &self.levels, slot, band);
            }
        }
        self.unfixed.clone_from(&self.offers);
        fill(capacity, &mut self.unfixed)
    }

    /// Whether the band's flows have the rates that its level gives them; one that has come in
    /// the place of another may not, though the level is the same.
    fn has_its_rates(&self, band: u32, level: f64) -> bool {
        let members = self.members[band as usize].iter().zip(&self.offers);
        members.fold(true, |has, (slot, offer)| {
            has & is_same(self.rates[*slot as usize], level.min(*offer))
        })
    }

    /// What the classes before the band's leave of its link.
    fn left_for(&self, band: usize) -> f64 {
        let (link, class) = (band / self.classes, band % self.classes);
        let capacity = self.capacities[link];
        if class == 0 {
            return capacity;
        }
        let mut left = capacity;
        for before in classes(self.present[link] & ((1 << class) - 1)) {
            let members = &self.members[link * self.classes + before];
            left -= members.iter().map(|slot| self.rates[*slot as usize]).sum::<f64>();
        }
        if left > capacity * ROUNDING { left } else { 0.0 }
    }

    /// Gives the band its new level, and its flows the rates that follow.
    fn apply(&mut self, band: u32, level: f64) {
        self.levels[band as usize] = level;
        for index in 0..self.offers.len() {
            let slot = self.members[band as usize][index];
            let (old, rate) = (self.rates[slot as usize], level.min(self.offers[index]));
            if is_same(old, rate) {
                continue;
            }
            self.set_rate(slot, rate);
            for hop in 0..self.bands.of(slot).len() {
                let other = self.bands.of(slot)[hop];
                self.look_at_lower_classes(other as usize);
                if other == band || self.has_room(other as usize) {
                    continue;
                }
                // With more left, a level rises from what it was, if there is one. With less
                // left, it cannot fall below the rate that the flow had while it was higher.
                self.look_at(other, if rate < old { self.levels[other as usize] } else { old });
            }
        }
    }

    /// Whether the band has no level, and does not need one: its flows do not fill the link.
    #[inline]
    fn has_room(&self, band: usize) -> bool {
        let room = || self.capacities[band / self.classes] * (1.0 - ROUNDING) - self.taken[band];
        self.classes == 1 && self.levels[band] == f64::INFINITY && room() > 0.0
    }

    fn set_rate(&mut self, slot: u32, rate: f64) {
        let change = rate - self.rates[slot as usize];
        for &band in self.bands.of(slot) {
            self.taken[band as usize] += change;
        }
        self.rates[slot as usize] = rate;
        if !self.is_changed[slot as usize] {
            self.is_changed[slot as usize] = true;
            self.changed.push(slot);
        }
    }

    /// Looks at the band again when it is the turn of `level`; one without a level has none to
    /// rise to.
    #[inline]
    fn look_at(&mut self, band: u32, level: f64) {
        let due = &mut self.due[band as usize];
        if level < f64::INFINITY && level.to_bits() < *due {
            *due = level.to_bits();
            let class = (band as usize % self.classes) as u8;
            self.turns.push(Reverse((class, *due, band)));
        }
    }

    /// What the band's flows take has changed, and with it what the classes after its have.
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
fn offer_elsewhere(bands: &Paths, levels: &[f64], slot: u32, band: u32) -> f64 {
    let others = bands.of(slot).iter().filter(|other| **other != band);
    others.map(|other| levels[*other as usize]).fold(f64::INFINITY, f64::min)
}

/// The numbers of the bits that are set.
fn classes(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let class = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(class)
    })
}

/// The level at which flows that take no more than `wanted` each fill `capacity`; infinite if
/// they cannot.
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

/// Whether two rates differ by rounding alone; everything differs from infinity.
#[inline]
fn is_same(one: f64, other: f64) -> bool {
    one == other || (one - other).abs() <= ROUNDING * one.min(other)
}

#[cfg(test)]
#[path = "fair/tests.rs"]
mod tests;
