//! The summary of a study: what `--format json` prints and what reports start from.

use std::collections::BTreeSet;

use flowsched_units::Time;
use serde::{Deserialize, Serialize};

use super::comparison::{ClassComparison, compare};
use super::convergence::convergence_us;
use super::outcomes::Outcomes;
use super::queues::queue_bytes;
use super::{
    Comparison, Distribution, Figure, FlowRow, Order, OrderFound, PacketFigures, PerClass, Point,
    RunRecord, Schedule, SizeClass, Tables, Verdict,
};

/// The figures of all runs, and how the schemes compare.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The experiment's name.
    pub name: String,
    /// Whether every run of the experiment is there and went to its end.
    pub complete: bool,
    /// The runs, in the order in which they were written.
    pub runs: Vec<RunSummary>,
    /// Every other scheme against the first, at every point.
    pub comparisons: Vec<Comparison>,
    /// The orders of schemes that the experiment states, and whether they hold.
    #[serde(default)]
    pub orders: Vec<OrderFound>,
    /// The tables that the figures are from.
    pub tables: Tables,
}

/// The figures of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The varied keys and their values.
    pub point: Point,
    /// The scheme's name.
    pub scheme: String,
    /// The seed.
    pub seed: u64,
    /// Whether the run went to its end.
    pub complete: bool,
    /// As [`RunRecord::schedule`].
    #[serde(default)]
    pub schedule: Option<Schedule>,
    /// Measured flows.
    pub flows: u64,
    /// Measured flows that finished.
    pub finished: u64,
    /// Flows of warm-up and cool-down.
    pub unmeasured: u64,
    /// Measured flows that have a deadline.
    #[serde(default)]
    pub deadline_flows: u64,
    /// Those of them that met it.
    #[serde(default)]
    pub deadlines_met: u64,
    /// The share of them that met it (PDQ 2012, 5.1); `None` if there are none.
    #[serde(default)]
    pub application_throughput: Option<f64>,
    /// As [`super::Counters::packet_hops`].
    pub packet_hops: u64,
    /// As [`super::Counters::events`].
    pub events: u64,
    /// As [`super::Counters::cpu_s`].
    pub cpu_s: f64,
    /// As [`super::Counters::wall_s`].
    pub wall_s: f64,
    /// As [`super::Counters::peak_rss_bytes`].
    pub peak_rss_bytes: u64,
    /// As [`super::Counters::drops`].
    pub drops: u64,
    /// As [`super::Counters::ecn_marks`].
    pub ecn_marks: u64,
    /// As [`super::Counters::timeouts`].
    pub timeouts: u64,
    /// As [`super::Counters::retransmissions`].
    pub retransmissions: u64,
    /// How long flows took to make room for those that came last, in microseconds; `None` where
    /// that cannot be said.
    #[serde(default)]
    pub convergence_us: Option<f64>,
    /// Bytes that waited in switches' ports, at every sample while flows arrived.
    #[serde(default)]
    pub queue_bytes: Distribution,
    /// FCT at the sender, in microseconds.
    pub fct_us: PerClass<Distribution>,
    /// FCT over ideal FCT.
    pub slowdown: PerClass<Distribution>,
    /// Size over FCT, in Gbit/s: the goodput of each flow.
    #[serde(default)]
    pub goodput_gbps: PerClass<Distribution>,
    /// What packets met on their way.
    #[serde(default)]
    pub packets: PacketFigures,
    /// The parts of the workload; none where it is one.
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
    /// Those of them that met it.
    pub deadlines_met: u64,
    /// The share of them that met it; `None` if there are none.
    pub application_throughput: Option<f64>,
    /// FCT at the sender, in microseconds.
    pub fct_us: Distribution,
    /// FCT over ideal FCT.
    pub slowdown: Distribution,
    /// Size over FCT, in Gbit/s.
    #[serde(default)]
    pub goodput_gbps: Distribution,
    /// What packets met on their way.
    #[serde(default)]
    pub packets: PacketFigures,
}

/// How flows fared with their deadlines.
struct Deadlines {
    flows: u64,
    met: u64,
}

impl Deadlines {
    fn of<'a>(flows: impl IntoIterator<Item = &'a FlowRow>) -> Deadlines {
        let met: Vec<bool> = flows.into_iter().filter_map(FlowRow::deadline_met).collect();
        let count = met.iter().filter(|met| **met).count();
        Deadlines { flows: met.len() as u64, met: count as u64 }
    }

    /// PDQ's metric (PDQ 2012, 5.1).
    fn application_throughput(&self) -> Option<f64> {
        (self.flows > 0).then(|| self.met as f64 / self.flows as f64)
    }
}

impl PartSummary {
    /// Of the part number `place` of a run.
    fn of(run: &RunRecord, place: usize, name: &str) -> PartSummary {
        let is_of_part = |(index, flow): &(usize, &FlowRow)| {
            flow.measured && run.parts.of(*index) == Some(place)
        };
        let flows: Vec<&FlowRow> =
            run.flows.iter().enumerate().filter(is_of_part).map(|(_, flow)| flow).collect();
        let distribution = |value: fn(&FlowRow) -> Option<f64>| {
            Distribution::of(flows.iter().filter_map(|flow| value(flow)).collect())
        };
        let deadlines = Deadlines::of(flows.iter().copied());
        PartSummary {
            name: name.to_owned(),
            flows: flows.len() as u64,
            finished: flows.iter().filter(|flow| flow.finished()).count() as u64,
            deadline_flows: deadlines.flows,
            deadlines_met: deadlines.met,
            application_throughput: deadlines.application_throughput(),
            fct_us: distribution(fct_us),
            slowdown: distribution(FlowRow::slowdown),
            goodput_gbps: distribution(goodput_gbps),
            packets: PacketFigures::of(&flows),
        }
    }
}

/// Payload bits a nanosecond, of a flow that finished.
fn goodput_gbps(flow: &FlowRow) -> Option<f64> {
    let bits = flow.size.get() as f64 * 8.0;
    flow.fct.filter(|fct| *fct > Time::ZERO).map(|fct| bits / (fct.as_us_f64() * 1000.0))
}

fn fct_us(flow: &FlowRow) -> Option<f64> {
    flow.fct.map(|fct| fct.as_us_f64())
}

impl RunSummary {
    /// Of a run.
    pub fn of(run: &RunRecord) -> RunSummary {
        let measured: Vec<&FlowRow> = run.flows.iter().filter(|flow| flow.measured).collect();
        let distribution = |value: fn(&FlowRow) -> Option<f64>| {
            PerClass::from_fn(|class| {
                let asked = |flow: &&&FlowRow| class.is_none_or(|class| class == flow.class());
                Distribution::of(measured.iter().filter(asked).filter_map(|f| value(f)).collect())
            })
        };
        let deadlines = Deadlines::of(measured.iter().copied());
        let parts = run.parts.names().iter().enumerate();
        let counters = run.counters;
        RunSummary {
            point: run.point.clone(),
            scheme: run.scheme.clone(),
            seed: run.seed,
            complete: !run.stopped,
            schedule: run.schedule,
            flows: measured.len() as u64,
            finished: measured.iter().filter(|flow| flow.finished()).count() as u64,
            unmeasured: (run.flows.len() - measured.len()) as u64,
            deadline_flows: deadlines.flows,
            deadlines_met: deadlines.met,
            application_throughput: deadlines.application_throughput(),
            packet_hops: counters.packet_hops,
            events: counters.events,
            cpu_s: counters.cpu_s,
            wall_s: counters.wall_s,
            peak_rss_bytes: counters.peak_rss_bytes,
            drops: counters.drops,
            ecn_marks: counters.ecn_marks,
            timeouts: counters.timeouts,
            retransmissions: counters.retransmissions,
            convergence_us: convergence_us(run),
            queue_bytes: queue_bytes(run),
            fct_us: distribution(fct_us),
            slowdown: distribution(FlowRow::slowdown),
            goodput_gbps: distribution(goodput_gbps),
            packets: PacketFigures::of(&measured),
            parts: parts.map(|(place, name)| PartSummary::of(run, place, name)).collect(),
        }
    }
}

impl Summary {
    /// The points of the sweep, in the order of the runs.
    pub fn points(&self) -> Vec<&Point> {
        in_order(self.runs.iter().map(|run| &run.point))
    }

    /// The schemes' names, in the order of the runs.
    pub fn schemes(&self) -> Vec<&str> {
        in_order(self.runs.iter().map(|run| run.scheme.as_str()))
    }

    /// The runs of `scheme` at `point`, one a seed.
    pub fn runs_of<'a>(
        &'a self,
        point: &'a Point,
        scheme: &'a str,
    ) -> impl Iterator<Item = &'a RunSummary> {
        self.runs.iter().filter(move |run| run.point == *point && run.scheme == scheme)
    }

    /// How `scheme` compares with the first at `point`; `None` for the first.
    pub fn comparison(&self, point: &Point, scheme: &str) -> Option<&Comparison> {
        self.comparisons.iter().find(|c| c.point == *point && c.scheme == scheme)
    }

    /// As JSON text, ending with a line break.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self);
        json.expect("texts and numbers can be written as JSON") + "\n"
    }

    /// Adds the comparisons of the runs, whose flows' `outcomes` are in the order of the runs, and
    /// whether the `orders` hold. Runs cut short take no part: what they lack is not lost, only not
    /// known.
    pub(super) fn compare(&mut self, outcomes: &[Outcomes], orders: &[Order]) {
        let points: Vec<Point> = self.points().into_iter().cloned().collect();
        for point in points {
            let at_point: Vec<(&RunSummary, &Outcomes)> =
                self.runs.iter().zip(outcomes).filter(|(run, _)| run.point == point).collect();
            let runs = RunsOfPoint(at_point);
            let schemes = in_order(runs.0.iter().map(|(run, _)| run.scheme.as_str()));
            let Some((against, others)) = schemes.split_first() else { continue };
            let comparison = |scheme: &&str| Comparison {
                point: point.clone(),
                scheme: (*scheme).to_owned(),
                against: (*against).to_owned(),
                fct: PerClass::from_fn(|class| runs.compare(against, scheme, class)),
            };
            let comparisons: Vec<Comparison> = others.iter().map(comparison).collect();
            let found =
                orders.iter().flat_map(|order| runs.find(order, &point)).collect::<Vec<_>>();
            self.comparisons.extend(comparisons);
            self.orders.extend(found);
        }
    }
}

/// The runs of one point with what became of their flows.
struct RunsOfPoint<'a>(Vec<(&'a RunSummary, &'a Outcomes)>);

impl RunsOfPoint<'_> {
    fn of(&self, scheme: &str, seed: u64) -> Option<&Outcomes> {
        let mut complete = self.0.iter().filter(|(run, _)| run.complete);
        let wanted = complete.find(|(run, _)| run.scheme == scheme && run.seed == seed);
        wanted.map(|(_, outcomes)| *outcomes)
    }

    /// `scheme` against another one, seed by seed.
    fn compare(&self, against: &str, scheme: &str, class: Option<SizeClass>) -> ClassComparison {
        let seeds = in_order(self.0.iter().map(|(run, _)| run.seed));
        let both = |seed: &u64| self.of(against, *seed).zip(self.of(scheme, *seed));
        let pairs: Vec<_> = seeds.iter().filter_map(both).collect();
        compare(&pairs, class)
    }

    /// Each two neighbours of an order.
    fn find(&self, order: &Order, point: &Point) -> Vec<OrderFound> {
        let neighbours = order.schemes.windows(2);
        let found = neighbours.map(|pair| {
            let compared = self.compare(&pair[0], &pair[1], order.class);
            let change = match order.figure {
                Figure::Mean => compared.mean,
                Figure::P99 => compared.p99,
            };
            OrderFound {
                point: point.clone(),
                class: order.class.map_or("all", SizeClass::name).to_owned(),
                figure: order.figure,
                lower: pair[0].clone(),
                higher: pair[1].clone(),
                change,
                verdict: Verdict::of(&change, compared.nothing_is_random()),
            }
        });
        found.collect()
    }
}

/// Each value once, where it first appears.
fn in_order<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    values.filter(|value| seen.insert(*value)).collect()
}

/// One key of the summary.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Where it stands: `[]` for every element of an array, `{a,b}` for each of these.
    pub path: &'static str,
    /// The unit, or nothing.
    pub unit: &'static str,
    /// What it means, in one sentence.
    pub about: &'static str,
}

const fn key(path: &'static str, unit: &'static str, about: &'static str) -> Key {
    Key { path, unit, about }
}

/// Every key of `summary.json`.
pub const SUMMARY: &[Key] = &[
    key("name", "", "The experiment's name."),
    key("complete", "", "Whether every run of the experiment is there and went to its end."),
    key("runs[].point", "", "The varied keys and their values, as texts; empty if none were."),
    key("runs[].scheme", "", "The scheme's name."),
    key("runs[].seed", "", "The seed."),
    key("runs[].complete", "", "Whether the run went to its end."),
    key(
        "runs[].schedule",
        "",
        "For an omniscient schedule what no scheme does better, \"least-mean-fct\" or \
         \"most-deadlines-met\", or \"heuristic\" if it bounds nothing; null for schemes.",
    ),
    key("runs[].flows", "", "Measured flows."),
    key("runs[].finished", "", "Measured flows that finished."),
    key("runs[].unmeasured", "", "Flows of warm-up and cool-down, which no figure includes."),
    key("runs[].deadline_flows", "", "Measured flows that have a deadline."),
    key("runs[].deadlines_met", "", "Those of them that met it."),
    key(
        "runs[].application_throughput",
        "",
        "The share of them that met it; null if no measured flow has a deadline.",
    ),
    key("runs[].packet_hops", "", "Packets, data or ACK, that reached the far end of a link."),
    key("runs[].events", "", "Events that the engine handled."),
    key("runs[].cpu_s", "s", "User CPU time of the run."),
    key("runs[].wall_s", "s", "Elapsed time of the run."),
    key("runs[].peak_rss_bytes", "B", "The largest resident memory of the process so far."),
    key("runs[].drops", "", "Packets dropped."),
    key("runs[].ecn_marks", "", "Packets marked by ECN."),
    key("runs[].timeouts", "", "Retransmission timeouts."),
    key("runs[].retransmissions", "", "Data packets sent again."),
    key(
        "runs[].convergence_us",
        "us",
        "From the last start of a flow until those before it first sent, from one sample to the \
         next, no more than their fair share, the mean; null unless one link carries all flows and \
         the hosts of those before have no other.",
    ),
    key("runs[].queue_bytes.count", "", "Samples of switches' ports while flows arrived."),
    key(
        "runs[].queue_bytes.{mean,p50,p95,p99,p999,max}",
        "B",
        "Bytes that waited there, every port at every sample alike; null if there are none.",
    ),
    key("runs[].fct_us.{all,small,medium,large}.count", "", "Flows of the class that finished."),
    key(
        "runs[].fct_us.{all,small,medium,large}.{mean,p50,p95,p99,p999,max}",
        "us",
        "FCT at the sender of those flows; null if there are none.",
    ),
    key("runs[].slowdown.{all,small,medium,large}.count", "", "Flows with a slowdown."),
    key(
        "runs[].slowdown.{all,small,medium,large}.{mean,p50,p95,p99,p999,max}",
        "",
        "FCT over ideal FCT of those flows; null if there are none.",
    ),
    key("runs[].goodput_gbps.{all,small,medium,large}.count", "", "Flows that finished."),
    key(
        "runs[].goodput_gbps.{all,small,medium,large}.{mean,p50,p95,p99,p999,max}",
        "Gbit/s",
        "Size over FCT of those flows; null if there are none.",
    ),
    key("runs[].packets.arrived", "", "Data packets of measured flows that arrived."),
    key("runs[].packets.marked", "", "The share of them that some port marked."),
    key("runs[].packets.marked_again", "", "The share that more than one port marked."),
    key(
        "runs[].packets.marked_again_in_tail",
        "",
        "The same of the packets of flows beyond the 95th percentile of FCT.",
    ),
    key(
        "runs[].packets.reordered",
        "",
        "The share that came, sent for the first time, after a packet sent later.",
    ),
    key(
        "runs[].packets.{duplicate_acks,third_duplicate_acks}",
        "",
        "Of the ACKs of flows that lost nothing, the share that acknowledged nothing new, and \
         that was the third or later such one in a row.",
    ),
    key("runs[].parts[].name", "", "A part of the workload; there are none where it is one."),
    key(
        "runs[].parts[].{flows,finished,deadline_flows,deadlines_met,application_throughput}",
        "",
        "As those of the run, of the part's flows.",
    ),
    key("runs[].parts[].{fct_us,slowdown}.count", "", "Flows of the part that finished."),
    key(
        "runs[].parts[].fct_us.{mean,p50,p95,p99,p999,max}",
        "us",
        "FCT at the sender of those flows; null if there are none.",
    ),
    key(
        "runs[].parts[].slowdown.{mean,p50,p95,p99,p999,max}",
        "",
        "FCT over ideal FCT of those flows; null if there are none.",
    ),
    key(
        "runs[].parts[].goodput_gbps.{count,mean,p50,p95,p99,p999,max}",
        "Gbit/s",
        "Size over FCT of those flows; null if there are none.",
    ),
    key(
        "runs[].parts[].packets.{arrived,marked,marked_again,marked_again_in_tail,reordered,\
         duplicate_acks,third_duplicate_acks}",
        "",
        "As those of the run, of the part's packets.",
    ),
    key("orders[].point", "", "The varied keys and their values."),
    key("orders[].{class,figure}", "", "What is compared: FCTs of a class, their mean or p99."),
    key("orders[].{lower,higher}", "", "The schemes that are said to have less and more."),
    key(
        "orders[].change.{change,low,high}",
        "",
        "Relative excess of `higher` over `lower`, as in `comparisons`, with its 95% interval; null \
         if there is none.",
    ),
    key(
        "orders[].verdict",
        "",
        "\"holds\" or \"reversed\" if the whole interval is on one side, or if nothing is random \
         and the change is; else \"undecided\".",
    ),
    key("comparisons[].point", "", "The varied keys and their values."),
    key("comparisons[].scheme", "", "The scheme compared."),
    key("comparisons[].against", "", "The scheme that it is compared with: the first."),
    key(
        "comparisons[].fct.{all,small,medium,large}.seeds",
        "",
        "Seeds with flows to compare; from two on, the intervals are over seeds.",
    ),
    key(
        "comparisons[].fct.{all,small,medium,large}.samples",
        "",
        "How many of these seeds differ in any FCT: 1 of several if nothing is random, and then \
         there are no intervals.",
    ),
    key(
        "comparisons[].fct.{all,small,medium,large}.pairs",
        "",
        "Flows that finished under both schemes, over all seeds.",
    ),
    key(
        "comparisons[].fct.{all,small,medium,large}.left_out",
        "",
        "Measured flows that did not finish under both, and are not compared.",
    ),
    key(
        "comparisons[].fct.{all,small,medium,large}.{mean,p99}.change",
        "",
        "Relative difference of the mean or 99th percentile of FCT: -0.2 is 20% less. Over several \
         seeds the geometric mean of the seeds' ratios, less 1.",
    ),
    key(
        "comparisons[].fct.{all,small,medium,large}.{mean,p99}.{low,high}",
        "",
        "Its 95% confidence interval, Student's t over the logs of the seeds' ratios; for the mean \
         of one seed, over its flows. Null if there is none.",
    ),
    key(
        "comparisons[].fct.{all,small,medium,large}.one_by_one.{halved,longer,doubled}",
        "",
        "Shares of the compared flows that take at most half as long as under the first scheme, \
         longer, and at least twice as long.",
    ),
    key(
        "comparisons[].fct.{all,small,medium,large}.one_by_one.worst",
        "",
        "How many times as long the flow takes that fares worst against the first scheme.",
    ),
    key("tables.{flows,ports}.bytes", "B", "The length of flows.parquet and ports.parquet."),
    key("tables.{flows,ports}.crc32", "", "Their CRC-32: the same for the same runs."),
];
