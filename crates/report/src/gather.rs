//! What charts need from the tables, gathered piece by piece.
//!
//! A run may have 10^6 flows and 10^8 port samples. What is kept of them depends on the number
//! of ports and on how widely the values spread, not on how many rows there are; a run may come
//! in any number of pieces.

use std::collections::{BTreeMap, BTreeSet};

use flowsched_experiment::results::{
    FlowRow, Folder, PerClass, Point, ResultsError, RunKey, RunSummary, SizeClass, Summary,
};
use flowsched_units::Time;

use crate::gather_ports::{PortClass, PortGatherer};
use crate::histogram::Histogram;

/// Bins of flow size in a factor of ten.
const SIZES_PER_DECADE: f64 = 4.0;

/// What the charts of one scheme at one point show, over its seeds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    pub flows: Flows,
    /// The ports, by class, in the order in which the classes first appear.
    pub ports: Vec<PortClass>,
}

/// The finished, measured flows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flows {
    /// FCT at the sender, in microseconds.
    pub fct_us: PerClass<Histogram>,
    /// FCT over ideal FCT.
    pub slowdown: PerClass<Histogram>,
    /// Slowdown by bin of flow size.
    slowdown_by_size: BTreeMap<i32, Histogram>,
}

impl Flows {
    fn add(&mut self, flow: &FlowRow) {
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

/// By point and scheme.
pub(crate) type ByScheme = BTreeMap<(Point, String), Gathered>;

/// When measured flows start: from the first start to the last one, for each run.
type Windows = BTreeMap<RunKey, (Time, Time)>;

/// Reads both tables of `folder`: at each of `points`, the runs that the figures of a scheme are
/// over.
pub(crate) fn gather(folder: &Folder, points: &[&Point]) -> Result<ByScheme, ResultsError> {
    let counted = counted(folder.summary(), points);
    let mut gathered = ByScheme::new();
    let mut windows = Windows::new();
    folder.flows(|piece| {
        if counted.contains(&piece.run) {
            widen(&mut windows, &piece.run, &piece.flows);
            let key = (piece.run.point, piece.run.scheme);
            let flows = &mut gathered.entry(key).or_default().flows;
            piece.flows.iter().filter(|flow| flow.measured).for_each(|flow| flows.add(flow));
        }
    })?;
    let mut ports = PortGatherer::default();
    folder.ports(|piece| {
        if counted.contains(&piece.run) {
            let window = windows.get(&piece.run).copied();
            ports.add(&mut gathered, &piece.run, window, &piece.ports, &piece.samples);
        }
    })?;
    ports.finish(&mut gathered);
    Ok(gathered)
}

fn counted(summary: &Summary, points: &[&Point]) -> BTreeSet<RunKey> {
    let key = |run: &&RunSummary| RunKey {
        point: run.point.clone(),
        scheme: run.scheme.clone(),
        seed: run.seed,
    };
    let rows = points.iter().flat_map(|point| crate::overview::rows(summary, point));
    rows.flat_map(|row| row.runs.iter().map(key).collect::<Vec<_>>()).collect()
}

/// Makes room in the window of `run` for the starts of these flows.
fn widen(windows: &mut Windows, run: &RunKey, flows: &[FlowRow]) {
    let starts = || flows.iter().filter(|flow| flow.measured).map(|flow| flow.start);
    let Some((first, last)) = starts().min().zip(starts().max()) else { return };
    let window = windows.entry(run.clone()).or_insert((first, last));
    *window = (window.0.min(first), window.1.max(last));
}

#[cfg(test)]
mod tests {
    use flowsched_units::Bytes;

    use super::*;

    fn flow(size: u64, start_us: u64, fct_us: u64) -> FlowRow {
        FlowRow {
            size: Bytes::new(size),
            start: Time::from_us(start_us),
            fct: Some(Time::from_us(fct_us)),
            ideal_fct: Time::from_us(10),
            measured: true,
            ..FlowRow::default()
        }
    }

    #[test]
    fn flows_count_in_their_class_and_among_all() {
        let mut flows = Flows::default();
        for flow in [flow(1_000, 0, 20), flow(100_000, 0, 30), flow(100_001, 0, 40)] {
            flows.add(&flow);
        }
        flows.add(&FlowRow { fct: None, ..flow(1, 0, 0) });
        let count = |class| flows.fct_us.get(class).count();
        assert_eq!([count(None), count(Some(SizeClass::Small))], [3, 2]);
        assert_eq!(flows.slowdown.get(Some(SizeClass::Medium)).percentile(500), Some(4.0));
        let counts: Vec<u64> = flows.slowdown_by_size().map(|(_, bin)| bin.count()).collect();
        assert_eq!(counts, [1, 2]);
    }

    #[test]
    fn a_window_holds_the_starts_of_every_piece() {
        let run = RunKey { point: Point::default(), scheme: "a".to_owned(), seed: 1 };
        let mut windows = Windows::new();
        let warm_up = FlowRow { measured: false, ..flow(1, 1, 1) };
        widen(&mut windows, &run, &[warm_up, flow(1, 7, 1)]);
        widen(&mut windows, &run, &[flow(1, 5, 1)]);
        widen(&mut windows, &run, &[flow(1, 9, 1), flow(1, 6, 1)]);
        assert_eq!(windows[&run], (Time::from_us(5), Time::from_us(9)));
    }
}
