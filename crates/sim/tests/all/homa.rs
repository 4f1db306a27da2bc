//! What Montazeri et al., SIGCOMM 2018, say of Homa, end to end, and that its bytes are accounted for.

use crate::common::ledger::{self, Ledger};
use crate::common::{flow, network, scheme};
use flowsched_schemes::Scheme;
use flowsched_schemes::controller::{NoController, Site};
use flowsched_schemes::port::PriorityPort;
use flowsched_schemes::transport::homa::Homa;
use flowsched_schemes::transport::homa::priorities::HomaPriorities;
use flowsched_schemes::world::Parts;
use flowsched_sim::{Job, Outcome, Progress, run_parts};
use flowsched_topology::{HostId, Network, Routing};
use flowsched_units::{Bytes, PACKET_PAYLOAD, Rate, Time};
use flowsched_workload::Flow;
use proptest::prelude::*;

/// The bytes of a packet besides its payload: IP, TCP and 18 B more.
const HEADER: u64 = 58;
const RATE: Rate = Rate::from_gbps(10);
/// The delay between a host and the switch.
const DELAY: Time = Time::from_ns(600);

/// Hosts around a switch. The round trip of a full packet and a grant takes 5.0 us.
fn star(hosts: &str) -> Network {
    network("star", &[("hosts", hosts), ("link_delay", "0.1us"), ("host_delay", "0.5us")])
}

fn wire(payload: u64) -> Time {
    RATE.transmission_time(Bytes::new(payload + HEADER))
}

fn run(network: &Network, flows: &[Flow], changes: &[(&str, &str)]) -> Outcome {
    crate::common::run(network, Routing::Ecmp, flows, &scheme("homa", "none", changes))
}

fn delivered(outcome: &Outcome, flow: usize) -> Time {
    outcome.flows[flow].finished_at_receiver.expect("it came")
}

#[test]
fn a_message_alone_takes_what_its_bytes_take() {
    let network = star("3");
    for size in [1u64, 100, 1_460, 1_461, 10_220, 10_221, 100_000, 10_000_000] {
        let flow = Flow { size: Bytes::new(size), ..flow(0, 1, 2, 1, Time::ZERO) };
        let outcome = run(&network, &[flow], &[]);
        // Store and forward: the first link carries all packets. Then the second link carries the last
        // packet, or still the full one before it, which takes longer than the last one needs to follow
        // it.
        let full = (size - 1) / PACKET_PAYLOAD;
        let last = wire(size - full * PACKET_PAYLOAD);
        let first_link = wire(PACKET_PAYLOAD) * full + last;
        let behind = if full > 0 { wire(PACKET_PAYLOAD) } else { last };
        let expected = first_link + behind.max(last) + DELAY * 2;
        let found = delivered(&outcome, 0);
        assert_eq!(found, expected, "{size} B");
        let end = outcome.flows[0].finished_at_sender.unwrap();
        assert_eq!(end - found, (wire(0) + DELAY) * 2, "{size} B: a packet without data goes back");
        assert_eq!((outcome.retransmissions, outcome.timeouts), (0, 0));
    }
}

/// Receivers prefer the message with the fewest bytes left. Messages that come together therefore take
/// little longer on average than one after the other by size, which is the least possible. They take
/// longer because some packets keep the low priority of an early grant and wait. Fair shares would take
/// 1.75 times as long.
#[test]
fn messages_to_one_receiver_come_shortest_first() {
    let network = star("11");
    let sizes = [900, 300, 700, 100, 500, 1_000, 200, 800, 400, 600];
    let flows: Vec<Flow> =
        (0..).zip(sizes).map(|(id, size)| flow(id, id + 1, 0, size, Time::ZERO)).collect();
    let outcome = run(&network, &flows, &[]);
    assert_eq!(outcome.drops, 0);
    let found: f64 = (0..10).map(|flow| delivered(&outcome, flow).as_us_f64()).sum();
    // The messages end after 100 packets, 100 + 200, and so on.
    let packets: u32 = (1..=10).map(|count| 50 * count * (count + 1)).sum();
    let least = wire(PACKET_PAYLOAD).as_us_f64() * f64::from(packets);
    let ratio = found / least;
    assert!((1.0..1.25).contains(&ratio), "{ratio}");
}

/// Senders prefer the message with the fewest bytes left, so a short one overtakes in the card.
#[test]
fn a_short_message_overtakes_a_long_one_at_their_sender() {
    let network = star("3");
    let flows = [flow(0, 0, 1, 5_000, Time::ZERO), flow(1, 0, 2, 5, Time::from_us(500))];
    let outcome = run(&network, &flows, &[]);
    let took = delivered(&outcome, 1) - flows[1].start;
    let alone = wire(PACKET_PAYLOAD) * 6 + DELAY * 2;
    assert!(took <= alone + wire(PACKET_PAYLOAD), "{took} for {alone} alone");
}

/// The sender of the message that a receiver prefers may be busy with another one. A receiver that
/// grants several messages keeps its link busy (3.5).
#[test]
fn overcommitment_keeps_the_link_of_a_receiver_busy() {
    let network = star("4");
    // Host 1 prefers its message to host 3; host 0 prefers host 1's message to that of host 2.
    let flows = [
        flow(0, 1, 0, 2_000, Time::ZERO),
        flow(1, 2, 0, 4_000, Time::ZERO),
        flow(2, 1, 3, 1_000, Time::from_us(50)),
    ];
    let last = |overcommitment| {
        let outcome = run(&network, &flows, &[("overcommitment", overcommitment)]);
        delivered(&outcome, 1).as_us_f64() / wire(PACKET_PAYLOAD).as_us_f64()
    };
    let (one, two) = (last("1"), last("2"));
    assert!((one - 7_000.0).abs() < 30.0, "{one}: the link of host 0 waits for host 1");
    assert!((two - 6_000.0).abs() < 30.0, "{two}: it is always busy");
}

/// Unscheduled packets go first, so a short message hardly waits at a link that is busy with granted
/// packets.
#[test]
fn priorities_let_a_short_message_through_a_busy_link() {
    let network = star("10");
    let mut flows: Vec<Flow> = (0..8).map(|id| flow(id, id + 1, 0, 1_000, Time::ZERO)).collect();
    flows.push(flow(8, 9, 0, 1, Time::from_us(700)));
    let took = |changes| {
        let outcome = run(&network, &flows, changes);
        (delivered(&outcome, 8) - flows[8].start).as_us_f64()
    };
    let alone = (wire(PACKET_PAYLOAD) * 2 + DELAY * 2).as_us_f64();
    let packet = wire(PACKET_PAYLOAD).as_us_f64();
    assert!(took(&[]) < alone + 1.1 * packet, "it waits for one packet at most");
    assert!(
        took(&[("queues", "1"), ("overcommitment", "7")]) > alone + 5.0 * packet,
        "without priorities for RTTbytes"
    );
}

/// Whatever is lost is asked for and sent again.
#[test]
fn losses_are_made_good() {
    let changes = [("hosts", "4"), ("loss", "0.05")];
    let network = network("star", &changes);
    let flows: Vec<Flow> = (0..30)
        .map(|id| flow(id, id % 3 + 1, 0, u64::from(id) * 7 + 1, Time::from_us(20)))
        .collect();
    let outcome = run(&network, &flows, &[]);
    assert!(outcome.flows.iter().all(|flow| flow.finished_at_sender.is_some()));
    assert!(outcome.retransmissions > 0 && outcome.timeouts > 0);
}

/// Runs a job over ports that account for every byte.
fn run_with_ledger(job: &Job<'_>, scheme: &Scheme) -> (Outcome, Ledger) {
    let ledger = Ledger::new(job.network);
    let transport: Homa = scheme.part().expect("Homa's hosts");
    let tagger: HomaPriorities = scheme.part().expect("Homa's priorities");
    let ports = |_: Site| ledger.port(PriorityPort::new(scheme.port));
    let controllers = |_: Site| NoController;
    let parts = Parts { transport, tagger, ports, controllers };
    (run_parts(job, parts, &Progress::default()), ledger.clone())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_is_accounted_for(
        drawn in prop::collection::vec((0u32..6, 1u32..6, 1u64..200_000, 0u64..500), 1..30),
        (queues, buffer, rtt) in (1u32..9, 3u32..100, 1u32..20),
        (routing, until) in (
            prop_oneof![Just(Routing::Ecmp), Just(Routing::Spray)],
            prop::option::of(1u64..3_000),
        ),
    ) {
        let network = crate::common::small_fabric();
        let mut drawn = drawn;
        drawn.sort_by_key(|(.., start)| *start);
        let flows: Vec<Flow> = (0..)
            .zip(drawn)
            .map(|(id, (src, ahead, size, start))| Flow::new(id, HostId(src), HostId((src + ahead) % 6), Bytes::new(size), Time::from_us(start)))
            .collect();
        let texts = [queues.to_string(), format!("{buffer}pkt"), format!("{rtt}pkt")];
        let changes = [("queues", &*texts[0]), ("buffer", &texts[1]), ("rtt_bytes", &texts[2])];
        let scheme = scheme("homa", "none", &changes);
        let until = until.map(Time::from_us);
        let (network, flows) = (&network, flows.as_slice());
        let job = Job { network, routing, flows, seed: 1, sample_interval: Time::ZERO, until };
        let (outcome, ledger) = run_with_ledger(&job, &scheme);
        ledger::balance(network, &outcome, &ledger);
        prop_assert_eq!(&flowsched_sim::run(&job, &scheme, &Progress::default()), &outcome);
        if until.is_some() {
            return Ok(());
        }
        for host in network.hosts() {
            let own = flows.iter().filter(|flow| flow.src == host);
            let sent = own.map(|flow| {
                let outcome = outcome.flows[flow.id as usize];
                assert!(outcome.finished_at_sender > outcome.finished_at_receiver);
                flow.size.get().div_ceil(PACKET_PAYLOAD) + u64::from(outcome.retransmissions)
            });
            let sent: u64 = sent.sum();
            prop_assert_eq!(ledger::card(network, &ledger, host).data_packets, sent);
        }
    }
}
