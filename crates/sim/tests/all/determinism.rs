//! The same job gives the same outcome: again, in threads side by side, in debug and release
//! builds, on every machine.

use crate::common::{network, scheme};
use flowsched_schemes::Scheme;
use flowsched_sim::{FlowOutcome, Job, Outcome, Progress};
use flowsched_topology::{Network, Routing};
use flowsched_units::{Settings, Time, Value};
use flowsched_workload::sizes::by_name;
use flowsched_workload::{Flow, PARAMETERS, generate};

const THRESHOLDS: (&str, &str) =
    ("thresholds", "20pkt 100pkt 400pkt 900pkt 1500pkt 2000pkt 3000pkt");

fn fabric() -> Network {
    network("leaf-spine", &[("leaves", "3"), ("spines", "2"), ("hosts_per_leaf", "4")])
}

fn flows(network: &Network) -> Vec<Flow> {
    let mut settings = Settings::defaults(PARAMETERS);
    settings.set("load", Value::Number(0.8));
    settings.set("flows", Value::Count(60));
    let sizes = by_name("web-search-packets").unwrap();
    generate(&settings, network, &sizes, 7).unwrap().flows
}

fn schemes() -> [(Scheme, Routing); 5] {
    let small = ("buffer", "60pkt");
    [
        (scheme("tcp", "none", &[small]), Routing::Ecmp),
        (scheme("ecn-star", "none", &[small, ("ack_ratio", "2")]), Routing::Ecmp),
        (scheme("dctcp", "none", &[("connections", "new")]), Routing::Spray),
        (scheme("pias", "none", &[small, THRESHOLDS]), Routing::Ecmp),
        (scheme("pias", "ns2", &[THRESHOLDS]), Routing::Spray),
    ]
}

fn run(network: &Network, flows: &[Flow], scheme: &Scheme, routing: Routing) -> Outcome {
    let sample_interval = Time::from_us(500);
    let job = Job { network, routing, flows, seed: 7, sample_interval, until: None };
    flowsched_sim::run(&job, scheme, &Progress::default())
}

#[test]
fn runs_side_by_side_are_equal() {
    let network = fabric();
    let flows = flows(&network);
    for (scheme, routing) in &schemes() {
        let once = || run(&network, &flows, scheme, *routing);
        let alone = once();
        let beside = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(once)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(beside.iter().all(|outcome| *outcome == alone), "{}", scheme.name);
    }
}

/// The contents of the result tables as text, without the number of events.
fn table(outcome: &Outcome) -> String {
    let time = |time: Option<Time>| time.map_or(u64::MAX, Time::as_ps);
    let flow = |flow: &FlowOutcome| {
        let (sender, receiver) = (time(flow.finished_at_sender), time(flow.finished_at_receiver));
        let FlowOutcome { retransmissions, timeouts, connection, .. } = flow;
        let timeouts = timeouts.all;
        format!("{sender},{receiver},{retransmissions},{timeouts},{connection}\n")
    };
    let flows: String = outcome.flows.iter().map(flow).collect();
    let ports: String = outcome
        .ports
        .iter()
        .map(|port| {
            let (time, queue, sent) = (port.time.as_ps(), port.queue_bytes, port.sent_bytes);
            format!("{time},{},{queue},{sent},{},{}\n", port.port, port.drops, port.marks)
        })
        .collect();
    format!("{flows}{ports}{},{}\n", outcome.packet_hops, outcome.end.as_ps())
}

/// FNV-1a.
fn digest(text: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325;
    text.bytes()
        .fold(start, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A change here changes every published result: say why in the change log.
#[test]
fn outcomes_are_those_of_all_machines_and_builds() {
    let network = fabric();
    let flows = flows(&network);
    let found = schemes().map(|(scheme, routing)| {
        let outcome = run(&network, &flows, &scheme, routing);
        assert!(outcome.flows.iter().all(|flow| flow.finished_at_sender.is_some()));
        format!("{:016x}", digest(&table(&outcome)))
    });
    let expected = [
        "d74bdb2389da5d36",
        "f3cb12445d586cff",
        "eff26e1f7ab83722",
        "066de48492552656",
        "e839f79345c3e5a4",
    ];
    assert_eq!(found, expected);
}
