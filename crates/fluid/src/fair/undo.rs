//! Takes back what a change has done, so that rates may be found for events that do not happen.

use super::Fair;
use super::history::Membership;

impl Fair {
    /// Forgets how to undo what has happened. If `is_recorded`, [`Fair::undo`] takes back what follows: one flow
    /// that starts or ends, and the rates after that.
    pub(crate) fn begin(&mut self, is_recorded: bool) {
        self.history.begin(is_recorded);
    }

    /// Restores every number, and the order of the members of each band. The last change is taken back first.
    pub(crate) fn undo(&mut self) {
        while let Some((slot, rate)) = self.history.rates.pop() {
            self.rates[slot as usize] = rate;
        }
        while let Some((band, level, taken)) = self.history.bands.pop() {
            let band = &mut self.bands[band as usize];
            (band.level, band.taken) = (level, taken);
        }
        match self.history.flow.take() {
            Some(Membership::Starts(slot)) => self.undo_start(slot),
            Some(Membership::Ends(slot)) => self.undo_end(slot),
            None => {}
        }
    }

    /// Takes back the start of a flow. It is the last member of each of its bands.
    fn undo_start(&mut self, slot: u32) {
        for &band in self.paths.path(slot) {
            let band = band as usize;
            self.bands[band].members.pop();
            if self.bands[band].members.is_empty() {
                self.present[band / self.classes] &= !(1 << (band % self.classes));
            }
        }
    }

    /// Takes back the end of a flow. It returns to its place among the members of each band, and the member at this
    /// place becomes the last.
    fn undo_end(&mut self, slot: u32) {
        for hop in 0..self.paths.path(slot).len() {
            let (band, place) = (self.paths.path(slot)[hop], self.places.path(slot)[hop]);
            let index = band as usize;
            self.present[index / self.classes] |= 1 << (index % self.classes);
            let members = &mut self.bands[index].members;
            let last = members.len();
            members.push(slot);
            members.swap(place as usize, last);
            let moved = members[last];
            self.set_place(moved, band, last as u32);
        }
    }
}
