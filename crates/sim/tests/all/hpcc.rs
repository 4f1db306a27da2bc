//! HPCC on whole networks, against what its paper (SIGCOMM 2019) says of it.

use crate::common::{flow, network, scheme};
use flowsched_schemes::Scheme;
use flowsched_sim::{Job, Outcome, PortSample, Progress};
use flowsched_topology::{HostId, Network, Routing};
use flowsched_units::{Bytes, Time};
use flowsched_workload::Flow;

/// Bytes on the wire of a full packet with HPCC's header.
const PACKET: u64 = 1542;

/// More packets than any link carries in these runs.
const ENDLESS: u64 = 10_000_000;

const EVERY: Time = Time::from_us(10);

fn run(network: &Network, flows: &[Flow], scheme: &Scheme, until: Time) -> Outcome {
    let job = Job {
        network,
        routing: Routing::Ecmp,
        flows,
        seed: 1,
        sample_interval: EVERY,
        until: Some(until),
    };
    flowsched_sim::run(&job, scheme, &Progress::default())
}

/// A star with endless flows to host 0 from this many other hosts, all at once.
fn to_first(senders: u32) -> (Network, Vec<Flow>) {
    let hosts = (senders + 1).to_string();
    let flows = (0..senders).map(|id| flow(id, id + 1, 0, ENDLESS, Time::ZERO));
    (network("star", &[("hosts", &hosts)]), flows.collect())
}

fn hpcc(changes: &[(&str, &str)]) -> Scheme {
    scheme("hpcc", "none", changes)
}

/// The samples of the port to host 0 from `from` on.
fn bottleneck(network: &Network, outcome: &Outcome, from: Time) -> Vec<PortSample> {
    let port = network.port_to(HostId(0)).index() as u32;
    let is_wanted = |sample: &&PortSample| sample.port == port && sample.time >= from;
    outcome.ports.iter().filter(is_wanted).copied().collect()
}

/// The share of 10 Gbps that is used from the first of these samples to the last.
fn utilisation(samples: &[PortSample]) -> f64 {
    let [first, .., last] = samples else { panic!("too few samples") };
    let bits = (last.sent_bytes - first.sent_bytes) as f64 * 8.0;
    bits / (last.time - first.time).as_secs_f64() / 10e9
}

fn mean_queue(samples: &[PortSample]) -> f64 {
    let packets = samples.iter().map(|sample| sample.queue_bytes as f64 / PACKET as f64);
    packets.sum::<f64>() / samples.len() as f64
}

/// The number of data packets of each flow that reached its receiver.
fn arrived(outcome: &Outcome) -> Vec<f64> {
    outcome.flows.iter().map(|flow| f64::from(flow.passage.arrived)).collect()
}

/// Jain's fairness index: 1 if all shares are the same.
fn fairness(shares: &[f64]) -> f64 {
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    sum * sum / (shares.len() as f64 * squares)
}

/// Windows aim at a utilisation of eta, which leaves no queue. Two flows start together and are
/// measured a hundred round trips later.
#[test]
fn two_flows_keep_a_link_at_eta_without_a_queue() {
    let (network, flows) = to_first(2);
    for (eta, text) in [(0.95, "0.95"), (0.8, "0.8")] {
        let scheme = hpcc(&[("target_utilisation", text)]);
        let outcome = run(&network, &flows, &scheme, Time::from_ms(30));
        let steady = bottleneck(&network, &outcome, Time::from_ms(10));
        let (used, queue) = (utilisation(&steady), mean_queue(&steady));
        println!("eta {eta}: utilisation {used:.4}, mean queue {queue:.2} packets");
        assert!((used - eta).abs() < 0.02, "{used} for {eta}");
        assert!(queue < 1.0, "{queue} packets");
        assert!(fairness(&arrived(&outcome)) > 0.99);
    }
}

/// DCTCP needs a queue to mark at; HPCC does not.
#[test]
fn dctcp_keeps_a_queue_where_hpcc_has_none() {
    let (network, flows) = to_first(2);
    let queue = |scheme: &Scheme| {
        let outcome = run(&network, &flows, scheme, Time::from_ms(30));
        mean_queue(&bottleneck(&network, &outcome, Time::from_ms(10)))
    };
    let (hpcc, dctcp) = (queue(&hpcc(&[])), queue(&scheme("dctcp", "none", &[])));
    println!("mean queue: HPCC {hpcc:.2}, DCTCP {dctcp:.2} packets");
    assert!(hpcc < 1.0 && dctcp > 10.0, "{hpcc} and {dctcp} packets");
}

/// The additive increase makes shares fair. A flow that joins eight others starts with a window of
/// eight times theirs. Its rate falls to theirs, and sooner if the increase is larger.
#[test]
fn a_newcomer_comes_to_its_fair_share() {
    let (network, mut flows) = to_first(9);
    flows[8].start = Time::from_ms(5);
    let ratio = |increase, from, to| {
        let scheme = hpcc(&[("additive_increase", increase)]);
        let at = |ms| arrived(&run(&network, &flows, &scheme, Time::from_ms(ms)));
        let (before, after) = (at(from), at(to));
        let shares: Vec<f64> = after.iter().zip(&before).map(|(now, then)| now - then).collect();
        let ratio = shares[8] / (shares[..8].iter().sum::<f64>() / 8.0);
        println!("increase {increase}, {from} to {to} ms: {ratio:.2} times the others' rate");
        ratio
    };
    let (early, late) = (ratio("80B", 6, 9), ratio("80B", 50, 60));
    assert!(early > 3.0 && late < early / 2.0, "{early}, then {late}");
    assert!((0.8..1.25).contains(&ratio("800B", 50, 60)));
    assert!(ratio("1B", 50, 60) > 3.0, "without an increase shares stay as they are");
}

/// The first windows of an incast, a bandwidth-delay product each, wait in one queue; later ones do
/// not. While the queue drains, ACKs still refer to the first window and let some packets go too
/// early, which gives a second, smaller queue.
#[test]
fn an_incast_leaves_no_queue_after_its_first_windows() {
    let (network, flows) = to_first(16);
    let outcome = run(&network, &flows, &hpcc(&[]), Time::from_ms(20));
    let largest_queue = |from, to| {
        let samples = bottleneck(&network, &outcome, from).into_iter();
        let before = samples.take_while(|sample| sample.time < to);
        before.map(|sample| sample.queue_bytes).max().expect("samples")
    };
    // What 16 cards send in 86 us takes 16 x 86 us to leave.
    let (window, drained) = (107_500, Time::from_us(16 * 86));
    let first = largest_queue(Time::ZERO, drained);
    let second = largest_queue(drained, drained + drained);
    let later = largest_queue(drained + drained, Time::from_ms(20));
    println!("largest queues: {first} B, then {second} B, then {later} B");
    assert!(first > 14 * window && first < 16 * window, "{first}");
    assert!(second < first / 4, "{second}");
    assert!(later < 10 * PACKET, "{later}");
    let steady = bottleneck(&network, &outcome, Time::from_ms(5));
    let (used, queue) = (utilisation(&steady), mean_queue(&steady));
    println!("after 5 ms: utilisation {used:.4}, mean queue {queue:.2} packets");
    assert!(queue < 2.0, "{queue} packets");
    assert!((used - 0.95).abs() < 0.03, "{used}");
    assert_eq!(outcome.drops, 0);
}

/// Two flows of one host to two others: its card is the most loaded link.
#[test]
fn flows_of_one_card_share_it_without_a_queue_if_it_writes_too() {
    let network = network("star", &[("hosts", "3")]);
    let flows = [flow(0, 0, 1, ENDLESS, Time::ZERO), flow(1, 0, 2, ENDLESS, Time::ZERO)];
    let queue = |at_cards| {
        let scheme = hpcc(&[("card_telemetry", at_cards)]);
        let outcome = run(&network, &flows, &scheme, Time::from_ms(20));
        assert!(fairness(&arrived(&outcome)) > 0.99);
        let card = network.nic(HostId(0)).index() as u32;
        let is_wanted =
            |sample: &&PortSample| sample.port == card && sample.time >= Time::from_ms(10);
        mean_queue(&outcome.ports.iter().filter(is_wanted).copied().collect::<Vec<_>>())
    };
    let (with, without) = (queue("true"), queue("false"));
    println!("mean queue at the card: {with:.2} packets, and {without:.2} if it does not write");
    assert!(with < 1.0 && without > 10.0, "{with} and {without}");
}

/// T is a little more than the longest round-trip time.
#[test]
fn the_default_base_rtt_fits_the_default_network() {
    let network = network("leaf-spine", &[]);
    let (data, ack) = (Bytes::new(PACKET), Bytes::new(82));
    let longest = network.base_rtt(HostId(0), HostId(143), data, ack);
    assert!(longest < Time::from_us(86) && longest > Time::from_us(84), "{longest}");
}
