//! Max-min fair sharing whose rates a second thread finds ahead ([`crate::deputy`]).

use std::mem::{swap, take};

use flowsched_units::Time;

use super::{Allocator, Moment, Step};
use crate::deputy::Deputy;
use crate::paths::Paths;

/// The longest pause, in events, after the deputy has been of no help.
const LONGEST_PAUSE: u32 = (1 << 10) - 1;

/// The number of events until a deputy that has been woken is ready, if it gets a processor.
const UNTIL_AWAKE: u32 = 4;

/// Max-min fair sharing; all flows are alike.
#[derive(Debug)]
pub(crate) struct Ahead<'d> {
    deputy: Deputy<'d>,
    /// The steps of this instant.
    steps: Vec<Step>,
    is_expecting: bool,
    is_woken: bool,
    pauses: Pauses,
    /// The rate of each flow in bit/s, and its links, by slot.
    rates: Vec<f64>,
    paths: Paths,
    /// The flows on each link, in any order.
    on: Vec<Vec<u32>>,
    news: Vec<(u32, f64)>,
}

/// Pauses in which the deputy is not used: on a busy machine, it has no processor to help with.
#[derive(Debug, Default)]
struct Pauses {
    /// The length of the last pause, in events.
    length: u32,
    left: u32,
}

impl Pauses {
    fn note(&mut self, has_helped: bool) {
        self.length = if has_helped { 0 } else { (2 * self.length + 1).min(LONGEST_PAUSE) };
        self.left = self.length;
    }
}

impl<'d> Ahead<'d> {
    /// This many links without flows.
    pub(crate) fn new(deputy: Deputy<'d>, links: usize) -> Ahead<'d> {
        Ahead {
            deputy,
            steps: Vec::new(),
            is_expecting: false,
            is_woken: false,
            pauses: Pauses::default(),
            rates: Vec::new(),
            paths: Paths::default(),
            on: vec![Vec::new(); links],
            news: Vec::new(),
        }
    }
}

impl Allocator for Ahead<'_> {
    const LOOKS_AHEAD: bool = true;

    fn start(&mut self, slot: u32, path: &[u32], _: Moment<'_>) {
        if slot as usize >= self.rates.len() {
            self.rates.resize(slot as usize + 1, 0.0);
        }
        self.paths.set(slot, path);
        path.iter().for_each(|link| self.on[*link as usize].push(slot));
        self.steps.push(Step::Start(slot, path.to_vec()));
    }

    fn end(&mut self, slot: u32, _: Moment<'_>) {
        for link in self.paths.path(slot) {
            let flows = &mut self.on[*link as usize];
            if let Some(place) = flows.iter().position(|other| *other == slot) {
                flows.swap_remove(place);
            }
        }
        self.rates[slot as usize] = 0.0;
        self.steps.push(Step::End(slot));
    }

    fn turn(&mut self, _: u32, _: Moment<'_>) {}

    fn settle(&mut self, _: Moment<'_>, mut changed: impl FnMut(u32)) {
        if self.steps.is_empty() {
            return;
        }
        let (mut work, is_prompt) = self.deputy.meet();
        let is_found = work.find(&self.steps);
        swap(&mut work.rates, &mut self.news);
        drop(work);
        self.steps.clear();
        if take(&mut self.is_expecting) {
            self.pauses.note(is_found && is_prompt);
        } else {
            self.pauses.left = self.pauses.left.saturating_sub(1);
        }
        for &(slot, rate) in &self.news {
            self.rates[slot as usize] = rate;
            changed(slot);
        }
    }

    fn rate(&self, slot: u32) -> f64 {
        self.rates[slot as usize]
    }

    fn on(&self, link: u32, tell: impl FnMut(u32)) {
        self.on[link as usize].iter().copied().for_each(tell);
    }

    fn turning_point(&self, _: u32, _: Moment<'_>) -> Time {
        Time::MAX
    }

    fn has_time(&self) -> bool {
        !self.is_expecting && self.pauses.left == 0 && self.deputy.is_there()
    }

    fn expect(&mut self, step: Step) {
        if self.deputy.expect(step) {
            (self.is_expecting, self.is_woken) = (true, false);
        } else if take(&mut self.is_woken) {
            self.pauses.note(false);
        } else {
            self.is_woken = true;
            self.pauses.left = UNTIL_AWAKE;
        }
    }
}
