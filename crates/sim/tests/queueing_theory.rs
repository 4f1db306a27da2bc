//! One link against the M/G/1 queue: what the engine gives for Poisson arrivals of flows of
//! whole packets is what closed forms say of the discipline that the parts amount to.
//!
//! Bursts into a FIFO are first come first served; windows of one packet are processor sharing;
//! bursts into a port that orders packets by what is left of their flow, or by what their flow
//! has sent, are shortest remaining processing time and foreground-background.

mod common;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use common::observed::Observed;
use common::scheme;
use flowsched_schemes::packet::Frame;
use flowsched_schemes::port::{Backlog, Port, PriorityPort};
use flowsched_schemes::scheme::TransportChoice;
use flowsched_schemes::transport::tcp::Tcp;
use flowsched_schemes::{Packet, Scheme};
use flowsched_sim::{Job, Outcome, Progress};
use flowsched_theory::Mg1;
use flowsched_topology::{HostId, Link, Network, NetworkBuilder, Routing};
use flowsched_units::{Bytes, PACKET_PAYLOAD, PACKET_WIRE, Rate, Settings, Time, Value};
use flowsched_workload::sizes::{SizeDistribution, by_name};
use flowsched_workload::{Flow, PARAMETERS, generate};

const SEEDS: u64 = 20;
/// Student's t with 19 degrees of freedom: 99.9% lie within this many standard errors.
const T_999: f64 = 3.883;
/// More than flows ever share the link: each takes the next sender, so that no pair of hosts
/// has two at once, of which one would need a handshake.
const SENDERS: u32 = 500;
const BOTTLENECK: Rate = Rate::from_gbps(1);
/// A byte in a picosecond: what senders add is 1.5 ns.
const ACCESS: Rate = Rate::from_gbps(8_000);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Discipline {
    FirstComeFirstServed,
    ProcessorSharing,
    ShortestRemaining,
    ForegroundBackground,
}
use Discipline::{FirstComeFirstServed, ForegroundBackground, ProcessorSharing, ShortestRemaining};

/// A port that serves the flow whose first waiting packet has the lowest rank, of equals the
/// one whose packet came first; a flow's packets go in order.
struct RankPort {
    rank: Rc<dyn Fn(&Packet) -> u32>,
    /// By flow: its packets, each with its place in the order of arrival.
    queues: HashMap<u32, VecDeque<(u64, Packet)>>,
    /// Each flow's first packet: its rank and place.
    first: BTreeSet<(u32, u64, u32)>,
    came: u64,
    backlog: Backlog,
}

impl RankPort {
    fn new(rank: Rc<dyn Fn(&Packet) -> u32>) -> RankPort {
        RankPort {
            rank,
            queues: HashMap::new(),
            first: BTreeSet::new(),
            came: 0,
            backlog: Backlog::default(),
        }
    }
}

impl Port<Packet> for RankPort {
    fn enqueue(&mut self, packet: Packet, _: u64, _: impl FnMut(Packet)) {
        self.came += 1;
        self.backlog.bytes += u64::from(packet.wire_bytes());
        self.backlog.packets += 1;
        let queue = self.queues.entry(packet.flow).or_default();
        if queue.is_empty() {
            self.first.insert(((self.rank)(&packet), self.came, packet.flow));
        }
        queue.push_back((self.came, packet));
    }

    fn dequeue(&mut self) -> Option<Packet> {
        let (_, _, flow) = self.first.pop_first()?;
        let queue = self.queues.get_mut(&flow)?;
        let (_, packet) = queue.pop_front()?;
        if let Some((place, next)) = queue.front() {
            self.first.insert(((self.rank)(next), *place, flow));
        }
        self.backlog.bytes -= u64::from(packet.wire_bytes());
        self.backlog.packets -= 1;
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn marks(&self) -> u64 {
        0
    }

    fn shares_memory(&self) -> bool {
        false
    }
}

/// Host 0 behind the bottleneck, the others senders; nothing has a delay.
fn one_link() -> Network {
    let mut builder = NetworkBuilder::new();
    let switch = builder.tier("switch", 1)[0];
    builder.host(switch, Link { rate: BOTTLENECK, delay: Time::ZERO });
    builder.hosts(SENDERS, switch, Link { rate: ACCESS, delay: Time::ZERO });
    builder.finish().unwrap()
}

fn flows(
    network: &Network,
    sizes: &SizeDistribution,
    load: f64,
    count: u64,
    seed: u64,
) -> Vec<Flow> {
    let mut settings = Settings::defaults(PARAMETERS);
    settings.set("pattern", Value::Text("many-to-one".into()));
    settings.set("receiver", Value::Text("0".into()));
    settings.set("load", Value::Number(load));
    settings.set("flows", Value::Count(count));
    let mut flows = generate(&settings, network, sizes, seed).unwrap().flows;
    for flow in &mut flows {
        flow.src = HostId(1 + flow.id % SENDERS);
    }
    flows
}

/// TCP that neither waits nor loses: unlimited memory, no timeout, a window of one packet or of
/// everything.
fn endless(discipline: Discipline) -> Scheme {
    let (window, ack_ratio) =
        if discipline == ProcessorSharing { ("1", "1") } else { ("1000000000", "64") };
    scheme(
        "tcp",
        "none",
        &[
            ("initial_window", window),
            ("max_window", window),
            ("ack_ratio", ack_ratio),
            ("ack_delay", "100000s"),
            ("rto", "fixed"),
            ("rto_min", "100000s"),
            ("buffer", "unlimited"),
        ],
    )
}

fn run(network: &Network, flows: &[Flow], discipline: Discipline) -> Outcome {
    let scheme = endless(discipline);
    let job = Job {
        network,
        routing: Routing::Ecmp,
        flows,
        scheme: &scheme,
        seed: 1,
        sample_interval: Time::ZERO,
        until: None,
    };
    let TransportChoice::Tcp(settings, algorithm) = scheme.transport;
    // ACKs take no time on the way back: a sender alone keeps the link busy with one packet.
    let transport = Observed {
        inner: Tcp::new(settings, algorithm, false),
        seen: |_, _: &_| {},
        answer: |mut ack: Packet| {
            ack.wire = 0;
            ack
        },
    };
    let packets: Rc<[u32]> = flows.iter().map(|flow| packets(flow.size)).collect();
    let rank: Rc<dyn Fn(&Packet) -> u32> = match discipline {
        ShortestRemaining => Rc::new(move |packet| packets[packet.flow as usize] - packet.seq),
        _ => Rc::new(|packet| packet.seq),
    };
    let progress = Progress::default();
    match discipline {
        FirstComeFirstServed | ProcessorSharing => {
            flowsched_sim::run_with(&job, transport, || PriorityPort::new(scheme.port), &progress)
        }
        ShortestRemaining | ForegroundBackground => {
            let new_port = || RankPort::new(rank.clone());
            flowsched_sim::run_with(&job, transport, new_port, &progress)
        }
    }
}

fn packets(size: Bytes) -> u32 {
    size.get().div_ceil(PACKET_PAYLOAD) as u32
}

/// The closed form's response time of flows by size, in packet times.
struct Theory<'a> {
    queue: Mg1<'a>,
    discipline: Discipline,
    known: RefCell<HashMap<u32, f64>>,
}

impl<'a> Theory<'a> {
    fn new(sizes: &'a SizeDistribution, load: f64, discipline: Discipline) -> Theory<'a> {
        Theory { queue: Mg1::new(sizes, load), discipline, known: RefCell::default() }
    }

    fn mean(&self) -> f64 {
        let bytes = match self.discipline {
            FirstComeFirstServed => self.queue.fcfs_mean(),
            ProcessorSharing => self.queue.ps_mean(),
            ShortestRemaining => self.queue.srpt_mean(),
            ForegroundBackground => self.queue.fb_mean(),
        };
        bytes / PACKET_PAYLOAD as f64
    }

    /// Of a flow of so many packets: exactly up to 64, between sizes 3% apart above.
    fn of(&self, packets: u32) -> f64 {
        if packets <= 64 || self.discipline != ShortestRemaining {
            return self.exactly(packets);
        }
        let mut low = 64;
        let mut high = 66;
        while high < packets {
            low = high;
            high += high.div_ceil(32);
        }
        let (from, to) = (self.exactly(low), self.exactly(high));
        from + (to - from) * f64::from(packets - low) / f64::from(high - low)
    }

    fn exactly(&self, packets: u32) -> f64 {
        *self.known.borrow_mut().entry(packets).or_insert_with(|| {
            let bytes = f64::from(packets) * PACKET_PAYLOAD as f64;
            let response = match self.discipline {
                FirstComeFirstServed => self.queue.fcfs(bytes),
                ProcessorSharing => self.queue.ps(bytes),
                ShortestRemaining => self.queue.srpt(bytes),
                ForegroundBackground => self.queue.fb(bytes),
            };
            response / PACKET_PAYLOAD as f64
        })
    }
}

/// Flows and how long each took, in packet times.
fn responses(flows: &[Flow], outcome: &Outcome) -> Vec<(u32, f64)> {
    let packet_time = BOTTLENECK.transmission_time(Bytes::new(PACKET_WIRE));
    let access = ACCESS.transmission_time(Bytes::new(PACKET_WIRE));
    let took = |flow: &Flow| {
        let outcome = outcome.flows[flow.id as usize];
        assert_eq!(outcome.connection, 0, "two flows of one sender at once: more senders");
        let took = outcome.finished_at_sender.expect("every flow ends") - flow.start - access;
        (packets(flow.size), took.as_us_f64() / packet_time.as_us_f64())
    };
    flows.iter().map(took).collect()
}

fn average(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / count
}

/// Holds the mean over the seeds to `expected`, up to the 99.9% interval and one packet time.
fn hold(what: &str, by_seed: &[f64], expected: f64) {
    let mean = average(by_seed.iter().copied());
    let squares: f64 = by_seed.iter().map(|value| (value - mean).powi(2)).sum();
    let count = by_seed.len() as f64;
    let half_width = T_999 * (squares / (count - 1.0) / count).sqrt();
    println!("  {what}: {mean:.2} +- {half_width:.2}, closed form {expected:.2} packet times");
    assert!(
        (mean - expected).abs() <= half_width + 1.0,
        "{what}: {mean} +- {half_width} packet times for {expected}"
    );
}

/// The first quarter of the flows is left out: the queue starts empty.
fn meets(sizes: &SizeDistribution, discipline: Discipline, load: f64, count: u64) {
    let network = one_link();
    let theory = Theory::new(sizes, load, discipline);
    let median = (sizes.quantile(0.5) / PACKET_PAYLOAD as f64) as u32;
    let (mut means, mut all, mut small) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 1..=SEEDS {
        let flows = flows(&network, sizes, load, count, seed);
        let responses = responses(&flows, &run(&network, &flows, discipline));
        let responses = &responses[responses.len() / 4..];
        means.push(average(responses.iter().map(|(_, took)| *took)));
        // What the sizes that happened to be drawn explain is taken out.
        all.push(average(responses.iter().map(|(size, took)| took - theory.of(*size))));
        let few = responses.iter().filter(|(size, _)| *size <= median);
        small.push(average(few.map(|(size, took)| took - theory.of(*size))));
    }
    println!("{discipline:?}, load {load}");
    hold("mean response", &means, theory.mean());
    hold("excess over the closed form of each flow's size", &all, 0.0);
    hold("the same, of the smaller half of the flows", &small, 0.0);
}

fn exponential(discipline: Discipline) {
    let mean = Bytes::new(20 * PACKET_PAYLOAD);
    let sizes = SizeDistribution::exponential(mean).in_whole_packets().unwrap();
    meets(&sizes, discipline, 0.7, 6000);
}

fn web_search(discipline: Discipline) {
    meets(&by_name("web-search-packets").unwrap(), discipline, 0.5, 400);
}

#[test]
fn bursts_into_a_fifo_of_exponential_sizes_are_first_come_first_served() {
    exponential(FirstComeFirstServed);
}

#[test]
fn one_packet_windows_of_exponential_sizes_share_the_processor() {
    exponential(ProcessorSharing);
}

#[test]
fn ranks_by_what_is_left_of_exponential_sizes_are_srpt() {
    exponential(ShortestRemaining);
}

#[test]
fn ranks_by_what_was_sent_of_exponential_sizes_are_foreground_background() {
    exponential(ForegroundBackground);
}

#[test]
fn bursts_into_a_fifo_of_web_search_are_first_come_first_served() {
    web_search(FirstComeFirstServed);
}

#[test]
fn one_packet_windows_of_web_search_share_the_processor() {
    web_search(ProcessorSharing);
}

#[test]
fn ranks_by_what_is_left_of_web_search_are_srpt() {
    web_search(ShortestRemaining);
}

#[test]
fn ranks_by_what_was_sent_of_web_search_are_foreground_background() {
    web_search(ForegroundBackground);
}
