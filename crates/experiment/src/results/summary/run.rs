//! The figures of one run, and of the parts of its workload. Runs are compared elsewhere.
//!
//! A count that is `None` was not counted in this run.

use flowsched_units::Time;
use serde::{Deserialize, Serialize};

use crate::results::query_us;
use crate::results::{
    Distribution, FlowRow, LinkFigures, LoadFigures, OneByOne, OverheadRecord, PacketFigures,
    PerClass, Point, PortFigures, RunRecord, Schedule, SizeClass,
};

/// The figures of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The varied keys and their values.
    pub point: Point,
    /// The scheme's name.
    pub scheme: String,
    /// The seed.
    pub seed: u64,
    /// Whether the run is complete.
    pub complete: bool,
    /// The time of its last event, in microseconds of simulated time; `None` in older summaries.
    #[serde(default)]
    pub simulated_us: Option<f64>,
    /// The quality of the scheme as a schedule, if it is a schedule and not a protocol.
    #[serde(default)]
    pub schedule: Option<Schedule>,
    /// Measured flows.
    pub flows: u64,
    /// Measured flows that finished.
    pub finished: u64,
    /// Warm-up and cool-down flows.
    pub unmeasured: u64,
    /// Measured flows that have a deadline.
    #[serde(default)]
    pub deadline_flows: u64,
    /// Measured flows that met their deadline.
    #[serde(default)]
    pub deadlines_met: u64,
    /// The share of flows with a deadline that met it (PDQ 2012, 5.1); `None` if there are none.
    #[serde(default)]
    pub application_throughput: Option<f64>,
    /// The load, and the utilisation of the links.
    #[serde(default)]
    pub load: LoadFigures,
    /// Packets, data or ACK, that reached the far end of a link. Includes unmeasured flows.
    pub packet_hops: u64,
    /// Events that the engine handled.
    pub events: u64,
    /// User CPU time in seconds.
    pub cpu_s: f64,
    /// Elapsed time in seconds.
    pub wall_s: f64,
    /// The largest resident memory of the process up to the end of the run.
    pub peak_rss_bytes: u64,
    /// Packets dropped.
    #[serde(default)]
    pub drops: Option<u64>,
    /// Packets marked by ECN.
    #[serde(default)]
    pub ecn_marks: Option<u64>,
    /// Retransmission timeouts.
    #[serde(default)]
    pub timeouts: Option<u64>,
    /// Sequences of two or more timeouts of a flow, without a new acknowledgement between them.
    #[serde(default)]
    pub repeated_timeouts: Option<u64>,
    /// The number of timeouts in the longest such sequence.
    #[serde(default)]
    pub longest_timeouts: Option<u32>,
    /// Flows with so many timeouts that a real host would have ended the connection.
    #[serde(default)]
    pub terminations: Option<u64>,
    /// Data packets sent again.
    #[serde(default)]
    pub retransmissions: Option<u64>,
    /// The overhead of the scheme.
    #[serde(default)]
    pub overhead: OverheadRecord,
    /// The time in microseconds that the earlier flows took to make room for the last flow; `None` if
    /// this is undefined.
    #[serde(default)]
    pub convergence_us: Option<f64>,
    /// Bytes in the queues of switches' ports, over all samples while flows arrived; over all samples
    /// from the first start on if start times are not random.
    #[serde(default)]
    pub queue_bytes: Distribution,
    /// The links that the experiment names.
    #[serde(default)]
    pub links: Vec<LinkFigures>,
    /// FCT at the sender, in microseconds.
    pub fct_us: PerClass<Distribution>,
    /// FCT over ideal FCT.
    pub slowdown: PerClass<Distribution>,
    /// The mean FCT over the mean ideal FCT of the flows that finished; `None` if there are none.
    #[serde(default)]
    pub normalised_fct: PerClass<Option<f64>>,
    /// Size over FCT, in Gbit/s: the goodput of each flow.
    #[serde(default)]
    pub goodput_gbps: PerClass<Distribution>,
    /// What happened to packets on their way.
    #[serde(default)]
    pub packets: PacketFigures,
    /// The FCT of each flow, compared with that of the same flow under the first scheme. All fields are
    /// `None` for the first scheme.
    #[serde(default)]
    pub one_by_one: OneByOne,
    /// The figures of the parts of the workload; empty without parts.
    #[serde(default)]
    pub parts: Vec<PartSummary>,
}

/// The figures of one part of the workload in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartSummary {
    /// Its name.
    pub name: String,
    /// Measured flows.
    pub flows: u64,
    /// Measured flows that finished.
    pub finished: u64,
    /// Measured flows that have a deadline.
    pub deadline_flows: u64,
    /// Measured flows that met their deadline.
    pub deadlines_met: u64,
    /// The share of flows with a deadline that met it; `None` if there are none.
    pub application_throughput: Option<f64>,
    /// FCT at the sender, in microseconds.
    pub fct_us: Distribution,
    /// Completion times of queries, in microseconds.
    #[serde(default)]
    pub query_us: Distribution,
    /// FCT over ideal FCT.
    pub slowdown: Distribution,
    /// Size over FCT, in Gbit/s.
    #[serde(default)]
    pub goodput_gbps: Distribution,
    /// Retransmission timeouts of measured flows.
    #[serde(default)]
    pub timeouts: Option<u64>,
    /// What happened to packets on their way.
    #[serde(default)]
    pub packets: PacketFigures,
}

/// The number of flows with a deadline, and of those that met it.
struct Deadlines {
    flows: u64,
    met: u64,
}

impl Deadlines {
    fn from_flows<'a>(flows: impl IntoIterator<Item = &'a FlowRow>) -> Deadlines {
        let met: Vec<bool> = flows.into_iter().filter_map(FlowRow::deadline_met).collect();
        let count = met.iter().filter(|met| **met).count();
        Deadlines { flows: met.len() as u64, met: count as u64 }
    }

    /// The share of flows that met their deadline, which is PDQ's metric (PDQ 2012, 5.1).
    fn application_throughput(&self) -> Option<f64> {
        (self.flows > 0).then(|| self.met as f64 / self.flows as f64)
    }
}

impl PartSummary {
    /// The figures of part number `place` of a run.
    fn new(run: &RunRecord, place: usize, name: &str) -> PartSummary {
        let is_of_part = |(index, flow): &(usize, &FlowRow)| {
            flow.measured && run.parts.part_of(*index) == Some(place)
        };
        let flows: Vec<&FlowRow> =
            run.flows.iter().enumerate().filter(is_of_part).map(|(_, flow)| flow).collect();
        let distribution = |value: fn(&FlowRow) -> Option<f64>| {
            Distribution::from_values(flows.iter().filter_map(|flow| value(flow)).collect())
        };
        let deadlines = Deadlines::from_flows(flows.iter().copied());
        PartSummary {
            name: name.to_owned(),
            flows: flows.len() as u64,
            finished: flows.iter().filter(|flow| flow.finished()).count() as u64,
            deadline_flows: deadlines.flows,
            deadlines_met: deadlines.met,
            application_throughput: deadlines.application_throughput(),
            fct_us: distribution(fct_us),
            query_us: query_us(&flows),
            slowdown: distribution(FlowRow::slowdown),
            goodput_gbps: distribution(goodput_gbps),
            timeouts: (!run.uncounted.timeouts)
                .then(|| flows.iter().map(|flow| flow.timeouts).sum()),
            packets: PacketFigures::from_flows(&flows, run.uncounted),
        }
    }
}

/// Payload bits per nanosecond of a flow that finished.
fn goodput_gbps(flow: &FlowRow) -> Option<f64> {
    let bits = flow.size.get() as f64 * 8.0;
    flow.fct.filter(|fct| *fct > Time::ZERO).map(|fct| bits / (fct.as_us_f64() * 1000.0))
}

/// The mean FCT divided by the mean ideal FCT, over the `flows` that finished.
fn normalised_fct<'a>(flows: impl Iterator<Item = &'a FlowRow>) -> Option<f64> {
    let both = flows.filter_map(|flow| Some((flow.fct?.as_us_f64(), flow.ideal_fct.as_us_f64())));
    let (fct, ideal) = both.fold((0.0, 0.0), |(fct, ideal), one| (fct + one.0, ideal + one.1));
    (ideal > 0.0).then(|| fct / ideal)
}

fn fct_us(flow: &FlowRow) -> Option<f64> {
    flow.fct.map(|fct| fct.as_us_f64())
}

impl RunSummary {
    /// The summary of a run, given the figures of its ports.
    #[doc(hidden)]
    pub fn new(run: &RunRecord, ports: &PortFigures) -> RunSummary {
        let measured: Vec<&FlowRow> = run.flows.iter().filter(|flow| flow.measured).collect();
        let of_class = |class: Option<SizeClass>| {
            let asked = move |flow: &&FlowRow| class.is_none_or(|class| class == flow.class());
            measured.iter().copied().filter(asked)
        };
        let distribution = |value: fn(&FlowRow) -> Option<f64>| {
            PerClass::from_fn(|class| {
                Distribution::from_values(of_class(class).filter_map(value).collect())
            })
        };
        let deadlines = Deadlines::from_flows(measured.iter().copied());
        let parts = run.parts.names().iter().enumerate();
        let (counters, uncounted) = (run.counters, run.uncounted);
        let has_rows = !uncounted.timeouts && !uncounted.timeout_rows;
        RunSummary {
            point: run.point.clone(),
            scheme: run.scheme.clone(),
            seed: run.seed,
            complete: !run.stopped,
            simulated_us: Some(run.end.as_us_f64()),
            schedule: run.schedule,
            flows: measured.len() as u64,
            finished: measured.iter().filter(|flow| flow.finished()).count() as u64,
            unmeasured: (run.flows.len() - measured.len()) as u64,
            deadline_flows: deadlines.flows,
            deadlines_met: deadlines.met,
            application_throughput: deadlines.application_throughput(),
            load: LoadFigures::new(&run.load, ports.utilisation),
            packet_hops: counters.packet_hops,
            events: counters.events,
            cpu_s: counters.cpu_s,
            wall_s: counters.wall_s,
            peak_rss_bytes: counters.peak_rss_bytes,
            drops: (!uncounted.ports).then_some(counters.drops),
            ecn_marks: (!uncounted.ports).then_some(counters.ecn_marks),
            timeouts: (!uncounted.timeouts).then_some(counters.timeouts),
            repeated_timeouts: has_rows.then_some(counters.repeated_timeouts),
            longest_timeouts: has_rows.then_some(counters.longest_timeouts),
            terminations: has_rows.then_some(counters.terminations),
            retransmissions: (!uncounted.retransmissions).then_some(counters.retransmissions),
            overhead: match uncounted.overhead {
                true => OverheadRecord::default(),
                false => counters.overhead,
            },
            convergence_us: ports.convergence_us,
            queue_bytes: ports.queue_bytes,
            links: ports.links.clone(),
            fct_us: distribution(fct_us),
            slowdown: distribution(FlowRow::slowdown),
            normalised_fct: PerClass::from_fn(|class| normalised_fct(of_class(class))),
            goodput_gbps: distribution(goodput_gbps),
            packets: match counters.packets {
                Some(all) => PacketFigures::of_all(all),
                None => PacketFigures::from_flows(&measured, uncounted),
            },
            one_by_one: OneByOne::default(),
            parts: parts.map(|(place, name)| PartSummary::new(run, place, name)).collect(),
        }
    }
}
