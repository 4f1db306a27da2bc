//! One link that flows with Poisson arrivals share, and a comparison of their response times with a
//! closed form.

use flowsched_schemes::Scheme;
use flowsched_schemes::packet::Packet;
use flowsched_schemes::port::Port;
use flowsched_schemes::transport::tcp::Tcp;
use flowsched_sim::{Job, Outcome, Progress};
use flowsched_topology::{HostId, Link, Network, NetworkBuilder, Routing};
use flowsched_units::{Bytes, PACKET_PAYLOAD, PACKET_WIRE, Rate, Settings, Time, Value};
use flowsched_workload::sizes::SizeDistribution;
use flowsched_workload::{Flow, PARAMETERS, generate};

use super::observed::Observed;

const SEEDS: u64 = 20;
/// Student's t with 19 degrees of freedom: 99.9% lie within this many standard errors.
const T_999: f64 = 3.883;
/// More than the flows that ever share the link. Each flow takes the next sender, so that no pair
/// of hosts has two flows at once, of which one would need a handshake.
const SENDERS: u32 = 500;
const BOTTLENECK: Rate = Rate::from_gbps(1);
/// A byte in a picosecond, so senders add 1.5 ns per packet.
const ACCESS: Rate = Rate::from_gbps(8_000);

/// The windows of TCP that neither waits nor loses, in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// The whole flow at once.
    Burst,
    /// This many packets.
    Packets(u32),
}

/// TCP that neither waits nor loses: unlimited memory, no timeout.
pub fn endless(preset: &str, window: Window, more: &[(&str, &str)]) -> Scheme {
    let (window, ack_ratio) = match window {
        Window::Burst => ("1000000000".to_owned(), "64"),
        Window::Packets(packets) => (packets.to_string(), "1"),
    };
    let fixed = [
        ("initial_window", window.as_str()),
        ("max_window", window.as_str()),
        ("ack_ratio", ack_ratio),
        ("ack_delay", "100000s"),
        ("rto", "fixed"),
        ("rto_min", "100000s"),
        ("buffer", "unlimited"),
        ("ecn_threshold", "unlimited"),
    ];
    super::scheme(preset, "none", &[&fixed, more].concat())
}

/// Runs `flows` to their end through ports of the test's own.
pub fn run<P: Port<Packet> + 'static>(
    network: &Network,
    flows: &[Flow],
    scheme: &Scheme,
    new_port: impl Fn() -> P,
) -> Outcome {
    let job = Job {
        network,
        routing: Routing::Ecmp,
        flows,
        seed: 1,
        sample_interval: Time::ZERO,
        until: None,
    };
    let tcp: Tcp = scheme.part().expect("TCP");
    // ACKs take no time on the way back: a sender alone keeps the link busy with one packet.
    let transport = Observed {
        inner: tcp,
        seen: |_, _: &_| {},
        answer: |mut ack: Packet| {
            ack.wire = 0;
            ack
        },
    };
    super::run_with(&job, scheme, transport, new_port, &Progress::default())
}

/// The number of packets of a flow of this size.
pub fn packets(size: Bytes) -> u32 {
    size.get().div_ceil(PACKET_PAYLOAD) as u32
}

/// The response times that a run has to give, in packet times.
pub trait ClosedForm {
    /// The mean over all flows.
    fn mean(&self) -> f64;

    /// That of a flow of this many packets.
    fn of_size(&self, packets: u32) -> f64;
}

/// How far off a closed form of fluid service may be, in packet times.
pub const ONE_PACKET: f64 = 1.0;

/// Asserts that `run` gives the response times of `theory`, up to `slack` packet times, for flows
/// of `sizes` at `load`, `count` for each seed. The first quarter of the flows is left out, because
/// the queue starts empty.
pub fn meets(
    sizes: &SizeDistribution,
    load: f64,
    count: u64,
    theory: &impl ClosedForm,
    slack: f64,
    run: impl Fn(&Network, &[Flow]) -> Outcome,
) {
    let network = network();
    let median = (sizes.quantile(0.5) / PACKET_PAYLOAD as f64) as u32;
    let mut means = Vec::new();
    let [mut all, mut small, mut large] = [const { Vec::new() }; 3];
    for seed in 1..=SEEDS {
        let flows = flows(&network, sizes, load, count, seed);
        let responses = responses(&flows, &run(&network, &flows));
        let responses = &responses[responses.len() / 4..];
        means.push(average(responses.iter().map(|(_, took)| *took)));
        // This takes out what the sizes that happened to be drawn explain.
        let excess = |counts: fn(u32, u32) -> bool| {
            let counted = responses.iter().filter(|(size, _)| counts(*size, median));
            average(counted.map(|(size, took)| took - theory.of_size(*size)))
        };
        all.push(excess(|_, _| true));
        small.push(excess(|size, median| size <= median));
        large.push(excess(|size, median| size > median));
    }
    hold("mean response", &means, theory.mean(), slack);
    hold("excess over the closed form of each flow's size", &all, 0.0, slack);
    hold("the same, of the smaller half of the flows", &small, 0.0, slack);
    hold("the same, of the larger half of the flows", &large, 0.0, slack);
}

/// Host 0 is behind the bottleneck, and the other hosts are senders. No link has a delay.
fn network() -> Network {
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

/// The packets of each flow, and how long the flow took, in packet times.
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

/// Asserts that the mean over the seeds is `expected`, up to the 99.9% interval and `slack`.
fn hold(what: &str, by_seed: &[f64], expected: f64, slack: f64) {
    let mean = average(by_seed.iter().copied());
    let squares: f64 = by_seed.iter().map(|value| (value - mean).powi(2)).sum();
    let count = by_seed.len() as f64;
    let half_width = T_999 * (squares / (count - 1.0) / count).sqrt();
    println!("  {what}: {mean:.2} +- {half_width:.2}, closed form {expected:.2} packet times");
    assert!(
        (mean - expected).abs() <= half_width + slack,
        "{what}: {mean} +- {half_width} packet times for {expected}"
    );
}
