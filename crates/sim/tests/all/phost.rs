//! pHost on whole networks, against what its rules promise.

use crate::common::{flow, network, scheme};
use flowsched_schemes::Scheme;
use flowsched_sim::{Job, Outcome, Progress};
use flowsched_topology::{HostId, Network, Routing};
use flowsched_units::{Bytes, Time};
use flowsched_workload::Flow;

/// The transmission time of a full packet on a link of 10 Gbps.
const PACKET_TIME: Time = Time::from_ns(1_200);

fn run(network: &Network, flows: &[Flow], scheme: &Scheme) -> Outcome {
    let job = Job {
        network,
        routing: Routing::Spray,
        flows,
        seed: 1,
        sample_interval: Time::from_us(10),
        until: Some(Time::from_ms(1_000)),
    };
    flowsched_sim::run(&job, scheme, &Progress::default())
}

fn phost(changes: &[(&str, &str)]) -> Scheme {
    scheme("phost", "none", changes)
}

fn ends(outcome: &Outcome) -> Vec<Time> {
    outcome.flows.iter().map(|flow| flow.finished_at_sender.expect("it ends")).collect()
}

fn star(hosts: &str) -> Network {
    network("star", &[("hosts", hosts)])
}

/// Free tokens save a short flow the round trip that a long one waits for its first token.
#[test]
fn a_lone_flow_takes_the_ideal_time_and_a_long_one_a_round_trip_more() {
    let network = star("2");
    let excess = |packets| {
        let flow = flow(0, 0, 1, packets, Time::ZERO);
        let ideal = network.ideal_fct(flow.src, flow.dst, flow.size);
        ends(&run(&network, &[flow], &phost(&[])))[0] - ideal
    };
    let control = Bytes::new(40);
    let round_trip = network.base_rtt(HostId(0), HostId(1), control, control);
    let (short, long) = (excess(70), excess(71));
    println!("beyond the ideal: {short} and {long}, a round trip is {round_trip}");
    assert!(short < Time::from_ns(100), "{short}");
    assert!(long >= round_trip && long < round_trip + PACKET_TIME * 3, "{long}");
    let longer = excess(5_000);
    println!("of 5000 packets: {longer}");
    assert!(longer < round_trip + PACKET_TIME * 100, "{longer}");
}

/// Tokens leave at the rate of the receiver's link, so an incast of long flows has no queue. The
/// shortest flow is served first.
#[test]
fn an_incast_of_long_flows_is_served_in_order_without_a_queue() {
    let network = star("17");
    let flows: Vec<Flow> =
        (0..16).map(|id| flow(id, id + 1, 0, 300 + 20 * u64::from(id), Time::ZERO)).collect();
    let outcome = run(&network, &flows, &phost(&[]));
    let ends = ends(&outcome);
    let port = network.port_to(HostId(0)).index() as u32;
    let queues = outcome.ports.iter().filter(|sample| sample.port == port);
    let most = queues.map(|sample| sample.queue_bytes).max().unwrap();
    println!("largest queue {most} B, ends {ends:?}");
    assert!(most < 10 * 1500, "{most} B");
    assert!(ends.is_sorted(), "{ends:?}");
    let packets: u64 = (0..16).map(|id| 300 + 20 * id).sum();
    let over = *ends.last().unwrap();
    assert!(over < PACKET_TIME * packets + Time::from_us(400), "{over}");
    assert_eq!((outcome.drops, outcome.retransmissions), (0, 0));
}

/// Short flows begin with tokens, so all packets of an incast come at once.
#[test]
fn an_incast_of_short_flows_queues_its_free_packets() {
    let network = star("5");
    let flows: Vec<Flow> = (0..4).map(|id| flow(id, id + 1, 0, 50, Time::ZERO)).collect();
    let queue = |free: &str| {
        let outcome = run(&network, &flows, &phost(&[("free_tokens", free)]));
        ends(&outcome);
        let port = network.port_to(HostId(0)).index() as u32;
        let queues = outcome.ports.iter().filter(|sample| sample.port == port);
        queues.map(|sample| sample.queue_bytes / 1500).max().unwrap()
    };
    let (free, asked) = (queue("70"), queue("0"));
    println!("largest queue {free} packets, {asked} without free tokens");
    assert!(free > 100 && asked < 10, "{free} and {asked}");
}

/// Host 0 has two flows and sends the shorter one. The receiver of the other flow prefers it to the long
/// flow of host 3. The other flow therefore gets tokens that it does not answer, until it is downgraded.
#[test]
fn a_flow_whose_source_is_busy_elsewhere_is_downgraded() {
    let network = star("4");
    let flows = [
        flow(0, 0, 1, 1_000, Time::ZERO),
        flow(1, 0, 2, 1_500, Time::ZERO),
        flow(2, 3, 2, 3_000, Time::ZERO),
    ];
    let ends_with = |window: &str| {
        let outcome = run(&network, &flows, &phost(&[("token_window", window)]));
        let ends = ends(&outcome);
        println!("window {window}: {ends:?}");
        ends
    };
    let (with, without) = (ends_with("70"), ends_with("1000000"));
    // The receiver's link carries 4,500 packets in 5.4 ms. If nobody is downgraded, it is idle for the
    // 1.2 ms of the first flow.
    assert!(with[2] < Time::from_us(5_900), "{}", with[2]);
    assert!(without[2] > with[2] + Time::from_us(600), "{} and {}", without[2], with[2]);
}

/// Tokens expire. If they lasted, a source that was busy elsewhere would spend all tokens that came
/// meanwhile at once, on top of what the receiver has let others send.
#[test]
fn tokens_that_last_give_a_queue() {
    let network = star("4");
    let flows = [
        flow(0, 0, 1, 1_000, Time::ZERO),
        flow(1, 0, 2, 1_500, Time::ZERO),
        flow(2, 3, 2, 3_000, Time::ZERO),
    ];
    let queue = |life: &str| {
        let outcome = run(&network, &flows, &phost(&[("token_life", life)]));
        let port = network.port_to(HostId(2)).index() as u32;
        let queues = outcome.ports.iter().filter(|sample| sample.port == port);
        queues.map(|sample| sample.queue_bytes / 1500).max().unwrap()
    };
    let (expiring, lasting) = (queue("1.5"), queue("1000000"));
    println!("largest queue {expiring} packets, {lasting} if tokens last");
    assert!(expiring < 10 && lasting > 30, "{expiring} and {lasting}");
}

/// Requests, tokens, data and answers may all be lost.
#[test]
fn lost_packets_of_every_kind_are_made_up_for() {
    let network = network("star", &[("hosts", "6"), ("loss", "0.05")]);
    let flows: Vec<Flow> = (0..40)
        .map(|id| {
            let start = Time::from_us(50 * u64::from(id));
            flow(id, 1 + id % 5, 0, 1 + 7 * u64::from(id), start)
        })
        .collect();
    let outcome = run(&network, &flows, &phost(&[]));
    ends(&outcome);
    println!("resent {}, timeouts {}", outcome.retransmissions, outcome.timeouts);
    assert!(outcome.retransmissions > 0 && outcome.timeouts > 0 && outcome.drops > 0);
}
