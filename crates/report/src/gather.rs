//! What charts need from the tables, gathered run by run.

use std::collections::BTreeMap;

use flowsched_experiment::results::{
    FlowRow, FlowsOfRun, Folder, Point, PortSample, PortsOfRun, ResultsError, RunKey, RunSummary,
    SizeClass, Summary,
};
use flowsched_units::{Bytes, Time};

/// What the charts of one scheme at one point show, over its seeds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    /// The finished, measured flows.
    pub flows: Vec<Flow>,
    /// The ports, by class, in the order in which the classes first appear.
    pub ports: Vec<PortClass>,
}

/// A finished, measured flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub size: u64,
    pub fct_us: f64,
    pub slowdown: Option<f64>,
}

impl Flow {
    /// Small, medium or large.
    pub fn class(&self) -> SizeClass {
        SizeClass::of(Bytes::new(self.size))
    }
}

/// All ports of one class.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortClass {
    pub name: String,
    /// How many samples, taken while flows arrived, saw so many bytes waiting.
    pub queues: BTreeMap<u64, u64>,
    /// For each port and seed the share of its link's capacity that was used.
    pub utilisation: Vec<f64>,
    pub packets: u64,
    pub drops: u64,
    pub marks: u64,
}

/// By point and scheme.
pub(crate) type ByScheme = BTreeMap<(Point, String), Gathered>;

/// Reads both tables of `folder`, and of each scheme those runs that its figures are over.
pub(crate) fn gather(folder: &Folder) -> Result<ByScheme, ResultsError> {
    let counted = counted(folder.summary());
    let mut gathered = ByScheme::new();
    let mut arrivals = BTreeMap::new();
    folder.flows(|FlowsOfRun { run, flows, .. }| {
        if !counted.contains(&run) {
            return;
        }
        arrivals.insert(run.clone(), arrival_window(&flows));
        let flows = flows.iter().filter(|flow| flow.measured).filter_map(finished);
        gathered.entry((run.point, run.scheme)).or_default().flows.extend(flows);
    })?;
    folder.ports(|ports| {
        if counted.contains(&ports.run) {
            let window = arrivals.get(&ports.run).copied().flatten();
            let key = (ports.run.point.clone(), ports.run.scheme.clone());
            add_ports(&mut gathered.entry(key).or_default().ports, &ports, window);
        }
    })?;
    Ok(gathered)
}

fn counted(summary: &Summary) -> Vec<RunKey> {
    let key = |run: &&RunSummary| RunKey {
        point: run.point.clone(),
        scheme: run.scheme.clone(),
        seed: run.seed,
    };
    let points = summary.points();
    let rows = points.into_iter().flat_map(|point| crate::overview::rows(summary, point));
    rows.flat_map(|row| row.runs.iter().map(key).collect::<Vec<_>>()).collect()
}

fn finished(flow: &FlowRow) -> Option<Flow> {
    let fct_us = flow.fct?.as_us_f64();
    Some(Flow { size: flow.size.get(), fct_us, slowdown: flow.slowdown() })
}

/// From the first to the last start of a measured flow: while the network is loaded as asked.
fn arrival_window(flows: &[FlowRow]) -> Option<(Time, Time)> {
    let starts = || flows.iter().filter(|flow| flow.measured).map(|flow| flow.start);
    starts().min().zip(starts().max())
}

fn add_ports(classes: &mut Vec<PortClass>, run: &PortsOfRun, window: Option<(Time, Time)>) {
    let mut by_port: Vec<Vec<&PortSample>> = vec![Vec::new(); run.ports.len()];
    for sample in &run.samples {
        by_port[sample.port as usize].push(sample);
    }
    for (port, samples) in run.ports.iter().zip(&by_port) {
        let place = classes.iter().position(|class| class.name == port.class);
        let place = place.unwrap_or_else(|| {
            classes.push(PortClass { name: port.class.clone(), ..PortClass::default() });
            classes.len() - 1
        });
        let class = &mut classes[place];
        for sample in samples.iter().filter(|sample| within(window, sample.time)) {
            *class.queues.entry(sample.queue_bytes).or_default() += 1;
        }
        if let Some(last) = samples.last() {
            class.packets += last.tx_packets;
            class.drops += last.drops;
            class.marks += last.ecn_marks;
        }
        class.utilisation.extend(utilisation(samples, port.rate.as_bytes_per_sec_f64(), window));
    }
}

fn within(window: Option<(Time, Time)>, time: Time) -> bool {
    window.is_none_or(|(from, to)| (from..=to).contains(&time))
}

/// The share of a link's capacity that was used within `window`, or over the whole run if that
/// holds less than two samples.
fn utilisation(
    samples: &[&PortSample],
    bytes_per_second: f64,
    window: Option<(Time, Time)>,
) -> Option<f64> {
    let first = samples.iter().find(|sample| within(window, sample.time))?;
    let last = samples.iter().rfind(|sample| within(window, sample.time))?;
    let start = PortSample::default();
    let (first, last) = match first.time < last.time {
        true => (*first, *last),
        false => (&start, *samples.last()?),
    };
    let seconds = (last.time.saturating_sub(first.time)).as_secs_f64();
    let bytes = last.tx_bytes.saturating_sub(first.tx_bytes) as f64;
    (seconds > 0.0 && bytes_per_second > 0.0).then(|| bytes / (bytes_per_second * seconds))
}
