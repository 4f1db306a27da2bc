//! The capacity that acknowledgements and probes take from links.
//!
//! Acknowledgements never wait. The links of a flow's data set the flow's rate, and its
//! acknowledgements take capacity from the links on their own path, whatever else these links
//! carry. The probes of a waiting flow take capacity in both directions.
//!
//! If data fills a link, acknowledgements and probes reduce the rates of all its flows by the same
//! share. A flow that crosses several such links sends at the rate of its discipline, reduced by
//! the largest of these shares. No other flow uses the capacity that the reduced flow leaves on its
//! other links. That capacity is less than the size of an acknowledgement relative to its packets.
//! Flows that exceed a link's rate, because the order to stop has not reached them yet, reduce the
//! other flows in the same way, as if all shared one queue.
//!
//! No flow waits for another under this model, so an event costs one pass over the flows of the
//! links that it changes.

use crate::paths::Paths;

/// A link's flows are recomputed when the part of their rates that they can use has changed by more
/// than this. No rate is wrong by more.
const WORTH_A_LOOK: f64 = 0.002;

/// The share of a link's remaining capacity that counts as rounding.
const ROUNDING: f64 = 1e-9;

/// The capacity that all active flows, their acknowledgements and their probes need on links.
#[derive(Clone, Debug)]
pub(crate) struct SideTraffic {
    /// The links that each flow's acknowledgements pass, by slot.
    ways: Paths,
    /// The bits that go back for every bit that the flow sends, by slot.
    ratios: Vec<f64>,
    /// The rate that the discipline gives each flow, bit/s, by slot.
    rates: Vec<f64>,
    /// The rate of each flow's probes while it waits, bit/s, and whether it waits now, by slot.
    probes: Vec<(f64, bool)>,
    links: Vec<Link>,
    /// The number of flows whose acknowledgements or probes pass each link.
    passing: Vec<u32>,
    touched: Touched,
}

/// The part of a link's state that rates change. It is so small that one memory access finds it.
/// Rates are in bit/s.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Link {
    capacity: f64,
    /// The rates that data would take, and that acknowledgements and probes take.
    data: f64,
    rest: f64,
    /// The part of their rates that flows can use.
    usable: f64,
}

impl Link {
    /// The part of their rates at which flows fill what acknowledgements and probes leave: at least
    /// half of the capacity counts as left. It is 1 if the full rates fit.
    fn fill(&self) -> f64 {
        let left = f64::max(self.capacity - self.rest, self.capacity / 2.0);
        if self.data > left * (1.0 + ROUNDING) { left / self.data } else { 1.0 }
    }

    /// Whether there is room for all traffic, and flows use their full rates already.
    fn has_room(&self) -> bool {
        (self.usable == 1.0) & (self.data <= self.capacity - self.rest)
    }
}

/// Links that have changed and do not have room for all traffic. A link may be in the list more
/// than once.
///
/// Noting a link does not branch on its state, so that the processor looks up many links at a time,
/// which are far apart in memory.
#[derive(Clone, Debug, Default)]
struct Touched {
    /// How many entries of `links` are in use.
    count: usize,
    links: Vec<u32>,
}

impl Touched {
    /// Makes room for this many more links.
    fn reserve(&mut self, count: usize) {
        if self.links.len() < self.count + count {
            self.links.resize(2 * (self.count + count), 0);
        }
    }

    /// Notes the link if `is_to_be`.
    #[inline]
    fn note_if(&mut self, is_to_be: bool, link: u32) {
        self.links[self.count] = link;
        self.count += usize::from(is_to_be);
    }
}

impl SideTraffic {
    /// No side traffic, on links of these rates in bit/s.
    pub(crate) fn new(capacities: impl Iterator<Item = f64>) -> SideTraffic {
        let link = |capacity| Link { capacity, data: 0.0, rest: 0.0, usable: 1.0 };
        let links: Vec<Link> = capacities.map(link).collect();
        SideTraffic {
            ways: Paths::default(),
            ratios: Vec::new(),
            rates: Vec::new(),
            probes: Vec::new(),
            passing: vec![0; links.len()],
            touched: Touched::default(),
            links,
        }
    }

    /// A flow starts over `path`. For every bit that it sends, `ratio` bits go back over `way`.
    /// While it waits, its `probes` take this rate, in bit/s, on both.
    pub(crate) fn start(&mut self, slot: u32, path: &[u32], way: &[u32], ratio: f64, probes: f64) {
        self.ways.set(slot, way);
        if slot as usize >= self.ratios.len() {
            self.ratios.resize(slot as usize + 1, 0.0);
            self.rates.resize(slot as usize + 1, 0.0);
            self.probes.resize(slot as usize + 1, (0.0, false));
        }
        self.ratios[slot as usize] = ratio;
        self.rates[slot as usize] = 0.0;
        self.probes[slot as usize] = (probes, false);
        way.iter().for_each(|link| self.passing[*link as usize] += 1);
        if probes > 0.0 {
            path.iter().for_each(|link| self.passing[*link as usize] += 1);
        }
    }

    /// Sets the rate that the discipline gives the flow over `path`.
    #[inline]
    pub(crate) fn set_rate(&mut self, slot: u32, path: &[u32], rate: f64) {
        let more = rate - std::mem::replace(&mut self.rates[slot as usize], rate);
        if more == 0.0 || self.ways.path(slot).is_empty() {
            return;
        }
        let more_back = more * self.ratios[slot as usize];
        let way = self.ways.path(slot);
        self.touched.reserve(path.len() + way.len());
        for &index in path {
            let link = &mut self.links[index as usize];
            link.data += more;
            self.touched.note_if(!link.has_room(), index);
        }
        for &index in way {
            let link = &mut self.links[index as usize];
            link.rest += more_back;
            self.touched.note_if(!link.has_room(), index);
        }
    }

    /// Sets whether the flow over `path` waits, and thus probes.
    #[inline]
    pub(crate) fn set_waiting(&mut self, slot: u32, path: &[u32], waits: bool) {
        let (probes, is_waiting) = &mut self.probes[slot as usize];
        if *probes == 0.0 || std::mem::replace(is_waiting, waits) == waits {
            return;
        }
        let more = if waits { *probes } else { -*probes };
        let way = self.ways.path(slot);
        self.touched.reserve(path.len() + way.len());
        for &index in path.iter().chain(way) {
            let link = &mut self.links[index as usize];
            link.rest += more;
            self.touched.note_if(!link.has_room(), index);
        }
    }

    /// The flow over `path` sends no more.
    pub(crate) fn end(&mut self, slot: u32, path: &[u32]) {
        self.set_rate(slot, path, 0.0);
        self.set_waiting(slot, path, false);
        let probed = if self.probes[slot as usize].0 > 0.0 { path } else { &[] };
        for &link in self.ways.path(slot).iter().chain(probed) {
            let passing = &mut self.passing[link as usize];
            *passing -= 1;
            if *passing == 0 {
                self.links[link as usize].rest = 0.0;
            }
        }
    }

    /// The part of its rate that the flow over `path` can use, bit/s.
    #[inline]
    pub(crate) fn rate(&self, slot: u32, path: &[u32]) -> f64 {
        let usable = path.iter().map(|link| self.links[*link as usize].usable);
        self.rates[slot as usize] * usable.fold(1.0, f64::min)
    }

    /// The links that the flow's acknowledgements pass, and the bits that go back for every bit
    /// that it sends.
    pub(crate) fn way_back(&self, slot: u32) -> (&[u32], f64) {
        (self.ways.path(slot), self.ratios[slot as usize])
    }

    /// Finds the part of their rates that flows can use. `changed` gets the links where it is new.
    pub(crate) fn settle(&mut self, mut changed: impl FnMut(u32)) {
        let count = std::mem::take(&mut self.touched.count);
        for &index in &self.touched.links[..count] {
            let link = &mut self.links[index as usize];
            let usable = link.fill();
            let is_worth_a_look = (usable - link.usable).abs() > WORTH_A_LOOK;
            if usable != link.usable && (is_worth_a_look || usable == 1.0) {
                link.usable = usable;
                changed(index);
            }
        }
    }
}
