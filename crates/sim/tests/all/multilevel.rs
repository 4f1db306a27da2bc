//! One link with demotion against the multilevel queue: flows that lose priority as they send take
//! the time that Kleinrock's formulas give.
//!
//! If PIAS tags bursts for a strict-priority port, levels are served first come, first served. With
//! windows of one packet, flows of a level share the link (processor sharing).

use std::collections::{HashMap, VecDeque};

use crate::common::one_link::{self, ClosedForm, ONE_PACKET, Window, endless};
use flowsched_schemes::Packet;
use flowsched_schemes::packet::Frame;
use flowsched_schemes::port::{Backlog, Port, PriorityPort};
use flowsched_sim::Outcome;
use flowsched_theory::{Mg1, MultilevelFcfs, MultilevelPs};
use flowsched_thresholds::{DEFAULT_LINK, Forecast, ModelName, Predictor};
use flowsched_topology::Network;
use flowsched_units::{Bytes, PACKET_PAYLOAD, PACKET_WIRE};
use flowsched_workload::Flow;
use flowsched_workload::sizes::{SizeDistribution, by_name};

/// A strict-priority port in which each flow has one packet in line. The flow's next packet joins
/// the line when that one has left.
///
/// A sender with a window of one packet has the same effect, except for the 1.5 ns until its next
/// packet comes. In a FIFO this gap does not matter. But if no other flow of the level waits, a
/// strict-priority port uses the gap to send a packet of a lower level. Senders therefore have
/// windows of two packets here, and the second packet waits outside of the line.
struct OneInLine {
    line: PriorityPort<Packet>,
    /// For each flow in the line or on the link, the packets that follow.
    behind: HashMap<u32, VecDeque<Packet>>,
    leaving: Option<u32>,
    outside: Backlog,
}

impl OneInLine {
    fn new(line: PriorityPort<Packet>) -> OneInLine {
        let outside = Backlog::default();
        OneInLine { line, behind: HashMap::new(), leaving: None, outside }
    }

    /// The packet on the link has left, so the next one of its flow joins the line.
    fn follow_up(&mut self) {
        let Some(flow) = self.leaving.take() else { return };
        let Some(next) = self.behind.get_mut(&flow).and_then(VecDeque::pop_front) else {
            self.behind.remove(&flow);
            return;
        };
        self.outside.bytes -= u64::from(next.wire_bytes());
        self.outside.packets -= 1;
        self.line.enqueue(next, 0, |_| unreachable!("unlimited memory"));
    }
}

impl Port<Packet> for OneInLine {
    fn enqueue(&mut self, packet: Packet, elsewhere: u64, dropped: impl FnMut(Packet)) {
        if let Some(behind) = self.behind.get_mut(&packet.flow) {
            self.outside.bytes += u64::from(packet.wire_bytes());
            self.outside.packets += 1;
            behind.push_back(packet);
        } else {
            self.behind.insert(packet.flow, VecDeque::new());
            self.line.enqueue(packet, elsewhere, dropped);
        }
    }

    /// Called when the previous packet has left.
    fn dequeue(&mut self) -> Option<Packet> {
        self.follow_up();
        let packet = self.line.dequeue()?;
        self.leaving = Some(packet.flow);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        let line = self.line.backlog();
        Backlog {
            bytes: line.bytes + self.outside.bytes,
            packets: line.packets + self.outside.packets,
        }
    }

    fn marks(&self) -> u64 {
        self.line.marks()
    }

    fn shares_memory(&self) -> bool {
        false
    }
}

/// A closed form's mean and its response time by size, in bytes.
struct Theory<F> {
    mean: f64,
    response: F,
}

impl<F: Fn(f64) -> f64> ClosedForm for Theory<F> {
    fn mean(&self) -> f64 {
        self.mean / PACKET_PAYLOAD as f64
    }

    fn of_size(&self, packets: u32) -> f64 {
        (self.response)(f64::from(packets) * PACKET_PAYLOAD as f64) / PACKET_PAYLOAD as f64
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Inside {
    FirstComeFirstServed,
    ProcessorSharing,
}
use Inside::{FirstComeFirstServed, ProcessorSharing};

/// Thresholds are in packets. Bytes sent include the packet itself here, so a level has as many
/// packets as its threshold says. By default a packet counts by its place in its flow, and the
/// packet that begins at the threshold is one more.
fn run(network: &Network, flows: &[Flow], inside: Inside, thresholds: &[u32]) -> Outcome {
    let window = match inside {
        FirstComeFirstServed => Window::Burst,
        ProcessorSharing => Window::Packets(2),
    };
    let queues = (thresholds.len() + 1).to_string();
    let sizes: Vec<String> = thresholds.iter().map(|packets| format!("{packets}pkt")).collect();
    let more = [
        ("queues", queues.as_str()),
        ("thresholds", &sizes.join(" ")),
        ("bookkeeping", "cumulative"),
    ];
    let scheme = endless("pias", window, &more);
    let line = || PriorityPort::new(scheme.port);
    match inside {
        FirstComeFirstServed => one_link::run(network, flows, &scheme, line),
        ProcessorSharing => one_link::run(network, flows, &scheme, || OneInLine::new(line())),
    }
}

fn bytes(packets: u32) -> Bytes {
    Bytes::new(u64::from(packets) * PACKET_PAYLOAD)
}

/// Asserts that response times match the closed form, up to the 99.9% interval and one packet time
/// of fluid service.
fn meets(sizes: &SizeDistribution, inside: Inside, load: f64, count: u64, thresholds: &[u32]) {
    println!("{inside:?}, load {load}, thresholds {thresholds:?}");
    let queue = Mg1::new(sizes, load);
    let ends: Vec<f64> = thresholds.iter().map(|packets| bytes(*packets).get() as f64).collect();
    let run = |network: &Network, flows: &[Flow]| run(network, flows, inside, thresholds);
    match inside {
        FirstComeFirstServed => {
            let levels = MultilevelFcfs::new(queue, &ends);
            let theory = Theory { mean: levels.mean(), response: |size| levels.response(size) };
            one_link::meets(sizes, load, count, &theory, ONE_PACKET, run);
        }
        ProcessorSharing => {
            let levels = MultilevelPs::new(queue, &ends);
            let theory = Theory { mean: levels.mean(), response: |size| levels.response(size) };
            one_link::meets(sizes, load, count, &theory, ONE_PACKET, run);
        }
    }
}

/// Sizes of up to 199 packets, 100 on average. Their variance is small, so that intervals are
/// narrow, and they are large next to one packet. With two levels, the threshold is in the middle.
/// With four, the second level has half of the sizes: in a level that wide, FCFS and sharing differ
/// by more than the interval.
fn uniform(inside: Inside, thresholds: &[u32]) {
    let sizes = SizeDistribution::uniform(bytes(1), bytes(199)).in_whole_packets().unwrap();
    meets(&sizes, inside, 0.5, 5000, thresholds);
}

/// `thresholds` are the optimal ones of `multilevel-fcfs` for this load. They separate small,
/// medium and large flows.
fn web_search(inside: Inside, thresholds: &[u32]) {
    meets(&by_name("web-search-packets").unwrap(), inside, 0.5, 400, thresholds);
}

#[test]
fn bursts_of_uniform_sizes_in_two_queues_are_levels_with_fcfs() {
    uniform(FirstComeFirstServed, &[100]);
}

#[test]
fn bursts_of_uniform_sizes_in_four_queues_are_levels_with_fcfs() {
    uniform(FirstComeFirstServed, &[30, 130, 160]);
}

#[test]
fn one_packet_windows_of_uniform_sizes_in_two_queues_are_levels_with_sharing() {
    uniform(ProcessorSharing, &[100]);
}

#[test]
fn one_packet_windows_of_uniform_sizes_in_four_queues_are_levels_with_sharing() {
    uniform(ProcessorSharing, &[30, 130, 160]);
}

#[test]
fn bursts_of_web_search_in_two_queues_are_levels_with_fcfs() {
    web_search(FirstComeFirstServed, &[1333]);
}

#[test]
fn bursts_of_web_search_in_four_queues_are_levels_with_fcfs() {
    web_search(FirstComeFirstServed, &[133, 1333, 6667]);
}

#[test]
fn one_packet_windows_of_web_search_in_two_queues_are_levels_with_sharing() {
    web_search(ProcessorSharing, &[1333]);
}

#[test]
fn one_packet_windows_of_web_search_in_four_queues_are_levels_with_sharing() {
    web_search(ProcessorSharing, &[133, 1333, 6667]);
}

/// With flows of a few packets, the threshold model's term for whole packets is much larger than
/// the interval. It is the only addition to fluid service: without it, the smaller half of the
/// flows is off by 0.19 +- 0.04 packet times.
#[test]
fn whole_packets_add_to_levels_with_fcfs_what_the_threshold_model_says() {
    let (load, thresholds) = (0.7, [2, 6]);
    let weighted = [(bytes(2), 0.45), (bytes(6), 0.45), (bytes(30), 0.1)];
    let sizes = SizeDistribution::from_weighted(weighted).unwrap();
    let mut forecast = Forecast::new(&sizes, load);
    forecast.path.whole_packets = true;
    let model = ModelName::MultilevelFcfs;
    let levels = Predictor::new(&forecast, model, &thresholds.map(bytes)).unwrap();
    let packet_time = DEFAULT_LINK.transmission_time(Bytes::new(PACKET_WIRE)).as_secs_f64();
    let byte_time = packet_time / PACKET_PAYLOAD as f64;
    let response = |size: f64| size + levels.delay_seconds(size) / byte_time;
    let mean = weighted.iter().map(|(size, share)| share * response(size.get() as f64)).sum();
    let theory = Theory { mean, response };
    one_link::meets(&sizes, load, 30_000, &theory, 0.0, |network, flows| {
        run(network, flows, FirstComeFirstServed, &thresholds)
    });
}
