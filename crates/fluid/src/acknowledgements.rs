//! What acknowledgements take of the links on their way back.
//!
//! Nothing holds them up: a flow's rate follows from the links that its data passes, and what goes
//! back for it takes its part of the links there, whatever else these carry. Where data fills a link,
//! that part is missing. All flows of the link bear it alike: each sends at the rate that the
//! discipline gives it, less the part that is missing where most is. What a flow does not use for
//! that reason elsewhere is given to nobody; that is less than the ratio of an acknowledgement to
//! its packets.
//!
//! That makes no flow wait for another, so that it costs no more than looking at the flows of the
//! links where something changes.

use crate::paths::Paths;

/// A link's flows are looked at when the part of their rates that they can use is another by more
/// than this: no rate is wrong by more.
const WORTH_A_LOOK: f64 = 0.002;

/// What all active flows and their acknowledgements want of the links.
#[derive(Clone, Debug)]
pub(crate) struct Acknowledgements {
    /// By slot: the links that acknowledgements pass.
    ways: Paths,
    /// By slot: bits that go back for every bit that is sent.
    ratios: Vec<f64>,
    /// By slot: the rate that the discipline gives, bit/s.
    rates: Vec<f64>,
    links: Vec<Link>,
    /// Links on which something has changed.
    touched: Vec<u32>,
}

/// Rates are in bit/s.
#[derive(Clone, Copy, Debug)]
struct Link {
    capacity: f64,
    /// What data would take, and acknowledgements.
    data: f64,
    back: f64,
    /// Flows whose acknowledgements pass.
    acknowledged: u32,
    is_touched: bool,
    /// The part of their rates that flows can use.
    usable: f64,
}

impl Link {
    /// The part of their rates at which flows fill what acknowledgements leave; these leave half of
    /// it at least.
    fn usable(&self) -> f64 {
        if self.acknowledged == 0 {
            return 1.0;
        }
        let left = f64::max(self.capacity - self.back, self.capacity / 2.0);
        if self.data > left { left / self.data } else { 1.0 }
    }
}

impl Acknowledgements {
    /// None, on links of these rates in bit/s.
    pub(crate) fn new(capacities: impl Iterator<Item = f64>) -> Acknowledgements {
        let link = |capacity| Link {
            capacity,
            data: 0.0,
            back: 0.0,
            acknowledged: 0,
            is_touched: false,
            usable: 1.0,
        };
        Acknowledgements {
            ways: Paths::default(),
            ratios: Vec::new(),
            rates: Vec::new(),
            links: capacities.map(link).collect(),
            touched: Vec::new(),
        }
    }

    /// A flow starts, for which so many bits go back over `way` for every bit that it sends.
    pub(crate) fn start(&mut self, slot: u32, way: &[u32], ratio: f64) {
        self.ways.set(slot, way);
        if slot as usize >= self.ratios.len() {
            self.ratios.resize(slot as usize + 1, 0.0);
            self.rates.resize(slot as usize + 1, 0.0);
        }
        self.ratios[slot as usize] = ratio;
        self.rates[slot as usize] = 0.0;
        way.iter().for_each(|link| self.links[*link as usize].acknowledged += 1);
    }

    /// The discipline gives the flow over `path` this rate.
    #[inline]
    pub(crate) fn set_rate(&mut self, slot: u32, path: &[u32], rate: f64) {
        let more = rate - std::mem::replace(&mut self.rates[slot as usize], rate);
        if more == 0.0 || self.ways.of(slot).is_empty() {
            return;
        }
        let more_back = more * self.ratios[slot as usize];
        let of_data = path.iter().map(|link| (*link, more, 0.0));
        let of_others = self.ways.of(slot).iter().map(|link| (*link, 0.0, more_back));
        for (index, data, back) in of_data.chain(of_others) {
            let link = &mut self.links[index as usize];
            link.data += data;
            link.back += back;
            if !std::mem::replace(&mut link.is_touched, true) {
                self.touched.push(index);
            }
        }
    }

    /// The flow over `path` sends no more.
    pub(crate) fn end(&mut self, slot: u32, path: &[u32]) {
        self.set_rate(slot, path, 0.0);
        for index in self.ways.of(slot) {
            let link = &mut self.links[*index as usize];
            link.acknowledged -= 1;
            if link.acknowledged == 0 {
                link.back = 0.0;
            }
        }
    }

    /// What the flow over `path` can use of its rate, bit/s.
    #[inline]
    pub(crate) fn rate(&self, slot: u32, path: &[u32]) -> f64 {
        let usable = path.iter().map(|link| self.links[*link as usize].usable);
        self.rates[slot as usize] * usable.fold(1.0, f64::min)
    }

    /// The links that the flow's acknowledgements pass, and bits that go back for every bit that is
    /// sent.
    pub(crate) fn of(&self, slot: u32) -> (&[u32], f64) {
        (self.ways.of(slot), self.ratios[slot as usize])
    }

    /// Finds what flows can use of their rates; `changed` gets the links where it is new.
    pub(crate) fn settle(&mut self, mut changed: impl FnMut(u32)) {
        for index in self.touched.drain(..) {
            let link = &mut self.links[index as usize];
            link.is_touched = false;
            let usable = link.usable();
            let is_worth_a_look = (usable - link.usable).abs() > WORTH_A_LOOK;
            if usable != link.usable && (is_worth_a_look || usable == 1.0) {
                link.usable = usable;
                changed(index);
            }
        }
    }
}
