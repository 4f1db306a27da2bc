//! What the charts of a scheme show, taken over its seeds.

use std::collections::BTreeMap;

use flowsched_experiment::results::{FlowRow, PerClass, Point, SizeClass};

use crate::histogram::Histogram;

/// The number of bins of flow size per factor of ten.
const SIZES_PER_DECADE: f64 = 4.0;

/// What the charts of one scheme at one point show, taken over its seeds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    pub flows: Flows,
    /// The ports, by class, in the order in which the classes first appear.
    pub ports: Vec<PortClass>,
}

/// The finished, measured flows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flows {
    /// FCT, in microseconds.
    pub fct_us: PerClass<Histogram>,
    /// FCT over ideal FCT.
    pub slowdown: PerClass<Histogram>,
    /// The slowdowns in each bin of flow size.
    slowdown_by_size: BTreeMap<i32, Histogram>,
}

impl Flows {
    pub(super) fn add(&mut self, flow: &FlowRow) {
        let Some(fct) = flow.fct else { return };
        for histogram in both(&mut self.fct_us, flow.class()) {
            histogram.add(fct.as_us_f64());
        }
        let Some(slowdown) = flow.slowdown() else { return };
        for histogram in both(&mut self.slowdown, flow.class()) {
            histogram.add(slowdown);
        }
        let bin = ((flow.size.get().max(1) as f64).log10() * SIZES_PER_DECADE).floor() as i32;
        self.slowdown_by_size.entry(bin).or_default().add(slowdown);
    }

    /// The middle of each bin of flow size, in bytes, and the slowdowns of its flows.
    pub fn slowdown_by_size(&self) -> impl Iterator<Item = (f64, &Histogram)> {
        let middle = |bin: i32| 10f64.powf((f64::from(bin) + 0.5) / SIZES_PER_DECADE);
        self.slowdown_by_size.iter().map(move |(bin, slowdowns)| (middle(*bin), slowdowns))
    }
}

/// The histogram of all flows, and that of `class`.
fn both(of: &mut PerClass<Histogram>, class: SizeClass) -> [&mut Histogram; 2] {
    let one = match class {
        SizeClass::Small => &mut of.small,
        SizeClass::Medium => &mut of.medium,
        SizeClass::Large => &mut of.large,
    };
    [&mut of.all, one]
}

/// What was gathered for each point and scheme.
pub(crate) type ByScheme = BTreeMap<(Point, String), Gathered>;

/// All ports of one class, over the seeds of one scheme at one point.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortClass {
    pub name: String,
    /// The bytes waiting at each port in each sample, while flows arrived.
    pub queues: Histogram,
    /// What the ports did in each run.
    pub runs: Vec<PortsInRun>,
}

/// What the ports of one class did in one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PortsInRun {
    /// The share of its link's capacity that each port used.
    pub(super) utilisation: Vec<f64>,
    pub(super) packets: u64,
    pub(super) drops: u64,
    pub(super) marks: u64,
}

impl PortsInRun {
    /// The share of the links' capacity that was used, mean over ports.
    pub fn utilisation(&self) -> Option<f64> {
        let sum: f64 = self.utilisation.iter().sum();
        (!self.utilisation.is_empty()).then(|| sum / self.utilisation.len() as f64)
    }

    /// The utilisation of every port.
    pub fn utilisations(&self) -> &[f64] {
        &self.utilisation
    }

    /// The share of the packets that reached a port and were dropped.
    pub fn dropped(&self) -> f64 {
        share(self.drops, self.packets + self.drops)
    }

    /// The share of the packets sent that were marked.
    pub fn marked(&self) -> f64 {
        share(self.marks, self.packets)
    }
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use flowsched_units::{Bytes, Time};

    use super::*;

    fn flow(size: u64, fct_us: u64) -> FlowRow {
        FlowRow {
            size: Bytes::new(size),
            fct: Some(Time::from_us(fct_us)),
            ideal_fct: Time::from_us(10),
            measured: true,
            ..FlowRow::default()
        }
    }

    #[test]
    fn flows_count_in_their_class_and_among_all() {
        let mut flows = Flows::default();
        for flow in [flow(1_000, 20), flow(100_000, 30), flow(100_001, 40)] {
            flows.add(&flow);
        }
        flows.add(&FlowRow { fct: None, ..flow(1, 0) });
        let count = |class| flows.fct_us.get(class).count();
        assert_eq!([count(None), count(Some(SizeClass::Small))], [3, 2]);
        assert_eq!(flows.slowdown.get(Some(SizeClass::Medium)).percentile(500), Some(4.0));
        let counts: Vec<u64> = flows.slowdown_by_size().map(|(_, bin)| bin.count()).collect();
        assert_eq!(counts, [1, 2]);
    }
}
