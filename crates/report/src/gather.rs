//! Gathers from the tables what charts need, piece by piece.
//!
//! A run may have 10^6 flows and 10^8 port samples. The memory for them depends on the number of
//! ports and on how widely the values spread, not on the number of rows. A run may come in any
//! number of pieces.

use std::collections::{BTreeMap, BTreeSet};

use flowsched_experiment::results::{
    FlowRow, Folder, Point, ResultsError, RunKey, RunSummary, Summary,
};
use flowsched_units::Time;

use crate::gather_ports::PortGatherer;
use crate::gathered::ByScheme;

/// The time in which the measured flows of each run start, from the first start to the last.
type Windows = BTreeMap<RunKey, (Time, Time)>;

/// Reads both tables of `folder`. At each of `points`, gathers the runs that the figures of a
/// scheme are taken over.
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

/// Widens the window of `run` to hold the starts of these flows.
fn widen(windows: &mut Windows, run: &RunKey, flows: &[FlowRow]) {
    let starts = || flows.iter().filter(|flow| flow.measured).map(|flow| flow.start);
    let Some((first, last)) = starts().min().zip(starts().max()) else { return };
    let window = windows.entry(run.clone()).or_insert((first, last));
    *window = (window.0.min(first), window.1.max(last));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(start_us: u64) -> FlowRow {
        FlowRow { start: Time::from_us(start_us), measured: true, ..FlowRow::default() }
    }

    #[test]
    fn a_window_holds_the_starts_of_every_piece() {
        let run = RunKey { point: Point::default(), scheme: "a".to_owned(), seed: 1 };
        let mut windows = Windows::new();
        let warm_up = FlowRow { measured: false, ..flow(1) };
        widen(&mut windows, &run, &[warm_up, flow(7)]);
        widen(&mut windows, &run, &[flow(5)]);
        widen(&mut windows, &run, &[flow(9), flow(6)]);
        assert_eq!(windows[&run], (Time::from_us(5), Time::from_us(9)));
    }
}
