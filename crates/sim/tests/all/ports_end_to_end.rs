//! Ports as they behave in a network: switch-wide shared memory, and marking by the queue or the
//! port, when packets come or when they leave.

use crate::common::{flow, ledger, scheme};
use flowsched_schemes::Scheme;
use flowsched_sim::{Job, Outcome};
use flowsched_topology::{HostId, Link, Network, NetworkBuilder, Routing};
use flowsched_units::{Rate, Time};
use flowsched_workload::Flow;

const PACKET: u64 = 1500;

/// Receivers 0 and 1 have links of 1 Gbps. Senders 2 to 9 are so fast that their bursts are at the
/// switch at once.
fn network() -> Network {
    let mut builder = NetworkBuilder::new();
    let switch = builder.tier("switch", 1)[0];
    builder.hosts(2, switch, Link { rate: Rate::from_gbps(1), delay: Time::from_us(1) });
    builder.hosts(8, switch, Link { rate: Rate::from_gbps(8_000), delay: Time::from_us(1) });
    builder.finish().unwrap()
}

fn run(flows: &[Flow], scheme: &Scheme, until: Option<Time>) -> (Outcome, ledger::Ledger) {
    let network = network();
    let job = Job {
        network: &network,
        routing: Routing::Ecmp,
        flows,
        seed: 1,
        sample_interval: Time::ZERO,
        until,
    };
    let (outcome, ledger) = ledger::run(&job, scheme);
    ledger::balance(&network, &outcome, &ledger);
    (outcome, ledger)
}

fn bottleneck(ledger: &ledger::Ledger, receiver: u32) -> ledger::Account {
    ledger.account(network().port_to(HostId(receiver)).index())
}

fn sharing(memory: &str, alpha: &str) -> Scheme {
    scheme(
        "tcp",
        "none",
        &[
            ("buffer_sharing", "switch"),
            ("switch_memory", memory),
            ("dynamic_alpha", alpha),
            ("initial_window", "200"),
            ("max_window", "200"),
        ],
    )
}

/// Choudhury and Hahne, ToN 1998: with S queues overloaded, each settles at alpha B / (1 + S
/// alpha), and alpha B / (1 + alpha) is left for one alone.
#[test]
fn queues_settle_where_dynamic_thresholds_say() {
    // A burst of 200 packets comes for each of one or two receivers. The memory holds 120 packets.
    let one = [flow(0, 2, 0, 200, Time::ZERO)];
    let two = [flow(0, 2, 0, 200, Time::ZERO), flow(1, 3, 1, 200, Time::ZERO)];
    for (alpha, factor) in [("1", 1.0), ("0.5", 0.5), ("2", 2.0)] {
        let scheme = sharing("120pkt", alpha);
        for (flows, overloaded) in [(&one[..], 1.0), (&two[..], 2.0)] {
            let (outcome, ledger) = run(flows, &scheme, Some(Time::from_us(100)));
            let expected = factor * 120.0 / (1.0 + overloaded * factor);
            for receiver in 0..flows.len() as u32 {
                let most = bottleneck(&ledger, receiver).most as f64 / PACKET as f64;
                assert!(
                    (most - expected).abs() <= 2.0,
                    "alpha {alpha}, {overloaded} overloaded: {most} packets for {expected}"
                );
            }
            assert!(outcome.drops > 0);
        }
    }
}

/// Memory that one port holds is missing in the other, until the packets are served.
#[test]
fn a_late_queue_gets_what_the_early_one_leaves() {
    let scheme = sharing("120pkt", "1");
    // The first burst holds 60 of 120 packets when the second one comes 10 us later: 30 fit.
    let flows = [flow(0, 2, 0, 200, Time::ZERO), flow(1, 3, 1, 200, Time::from_us(10))];
    let (_, ledger) = run(&flows, &scheme, Some(Time::from_us(13)));
    let [early, late] = [0, 1].map(|receiver| bottleneck(&ledger, receiver).most / PACKET);
    assert!((59..=61).contains(&early), "{early}");
    assert!((29..=32).contains(&late), "{late}");
    // 10 ms later the first burst is through, and the second finds the memory empty.
    let flows = [flow(0, 2, 0, 60, Time::ZERO), flow(1, 3, 1, 200, Time::from_ms(10))];
    let (_, ledger) = run(&flows, &scheme, Some(Time::from_ms(11)));
    let late = bottleneck(&ledger, 1).most / PACKET;
    assert!((59..=61).contains(&late), "{late}");
}

/// Whatever comes, all queues of a switch together hold no more than its memory, and every flow
/// ends.
#[test]
fn shared_memory_is_never_exceeded_and_every_flow_ends() {
    let scheme = sharing("50pkt", "8");
    let flows: Vec<Flow> =
        (0..40).map(|id| flow(id, 2 + id % 8, id % 2, 100, Time::from_us(id.into()))).collect();
    let (outcome, ledger) = run(&flows, &scheme, None);
    let most: u64 = [0, 1].map(|receiver| bottleneck(&ledger, receiver).most).iter().sum();
    assert!(most >= 40 * PACKET, "the scene fills it: {most}");
    for receiver in [0, 1] {
        assert!(bottleneck(&ledger, receiver).most <= 50 * PACKET);
    }
    assert!(outcome.drops > 0);
    assert!(outcome.flows.iter().all(|flow| flow.finished_at_sender.is_some()));
}

fn marking(preset: &str, changes: &[(&str, &str)]) -> Scheme {
    let fixed = [
        ("ecn_threshold", "20pkt"),
        ("initial_window", "50"),
        ("buffer", "unlimited"),
        ("rto_min", "1s"),
    ];
    scheme(preset, "none", &[&fixed, changes].concat())
}

/// 50 packets come at once, 10 from each of five senders, so that none is marked before. The first
/// is sent, and 49 wait. At enqueue, packets that make the queue longer than 20 are marked: the
/// last 29. At dequeue, packets that leave more than 20 behind are marked: the first 28 of those
/// that wait. Senders then hear of the queue one queue length earlier.
#[test]
fn marks_at_dequeue_are_on_the_packets_that_leave_a_long_queue() {
    // At enqueue, PIAS ToN 2017, III-B.2: "The arriving packet is marked with Congestion
    // Experienced (CE) if the instant buffer occupancy is larger than the marking threshold".
    let flows: Vec<Flow> = (0..5).map(|id| flow(id, 2 + id, 0, 10, Time::ZERO)).collect();
    // After a microsecond to the switch, 26 packets of 12 us have begun. The last of them has not
    // ended.
    let halfway = Some(Time::from_us(1 + 25 * 12 + 5));
    for (ecn_at, marked_first, marked) in [("enqueue", 26 - 21, 29), ("dequeue", 26 - 1, 28)] {
        let scheme = marking("dctcp", &[("ecn_at", ecn_at)]);
        let (_, ledger) = run(&flows, &scheme, halfway);
        let account = bottleneck(&ledger, 0);
        assert_eq!((account.came_marked, account.left_marked), (0, marked_first), "{ecn_at}");
        let (outcome, ledger) = run(&flows, &scheme, None);
        assert_eq!(bottleneck(&ledger, 0).left_marked, marked, "{ecn_at}");
        assert_eq!(outcome.ecn_marks, marked);
    }
}

/// Two flows of 20 packets, the second half of each in priority 1. 39 packets wait in the port, 20
/// or fewer in each of its queues.
#[test]
fn a_queues_threshold_does_not_see_the_other_queues() {
    // PIAS ToN 2017, IV-A.2: by queue, each "performs ECN marking independently to other queues".
    let flows = [0, 1].map(|id| flow(id, 2 + id, 0, 20, Time::ZERO));
    for (scope, marks) in [("port", 39 - 20), ("queue", 0)] {
        let changes = [
            ("queues", "2"),
            ("thresholds", "10pkt"),
            ("ecn_scope", scope),
            ("bookkeeping", "cumulative"),
        ];
        let (outcome, ledger) = run(&flows, &marking("pias", &changes), None);
        assert_eq!(outcome.ecn_marks, marks, "{scope}");
        assert_eq!(bottleneck(&ledger, 0).left_marked, marks, "{scope}");
    }
}

/// Three flows of 20 packets put 30 into each queue. The port sends the first of these at once. By
/// queue, 9 packets of the higher queue and 10 of the lower are marked. By port, all packets that
/// find 20 waiting are marked.
#[test]
fn a_queues_threshold_sees_its_own_queue() {
    // PIAS ToN 2017, IV-A.2: "each queue has its own marking threshold"; by port, packets are
    // marked "when the sum of all queue sizes belong to the port exceeds the marking threshold".
    let flows = [0, 1, 2].map(|id| flow(id, 2 + id, 0, 20, Time::ZERO));
    for (scope, marks) in [("port", 59 - 20), ("queue", 9 + 10)] {
        let changes = [
            ("queues", "2"),
            ("thresholds", "10pkt"),
            ("ecn_scope", scope),
            ("bookkeeping", "cumulative"),
        ];
        let (outcome, _) = run(&flows, &marking("pias", &changes), None);
        assert_eq!(outcome.ecn_marks, marks, "{scope}");
    }
}
