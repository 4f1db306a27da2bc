//! What holds on whole networks, for every discipline.

mod common;

use common::{all_disciplines, flow, flows, network, run, run_until, scheme};
use flowsched_fluid::Outcome;
use flowsched_schemes::flow_level::{FlowLevel, Sharing};
use flowsched_topology::{HostId, Network};
use flowsched_units::{Bytes, Time};
use flowsched_workload::sizes::by_name;
use flowsched_workload::{Flow, wire_bytes};

/// Links of unlike rates, so that flows are held back at several places.
fn fabric() -> Network {
    let changes =
        [("leaves", "3"), ("spines", "2"), ("hosts_per_leaf", "4"), ("fabric_link", "15Gbps")];
    network("leaf-spine", &changes)
}

fn busy(network: &Network, count: u64, seed: u64) -> Vec<Flow> {
    let mut flows =
        flows(network, ("all-to-all", 0.8), &by_name("web-search-packets").unwrap(), count, seed);
    for flow in flows.iter_mut().filter(|flow| flow.id % 3 == 0) {
        flow.deadline = Some(flow.start + Time::from_ms(1 + u64::from(flow.id % 7)));
    }
    flows
}

#[test]
fn a_flow_alone_takes_its_ideal_time() {
    let network = fabric();
    // What the optimum knows of a packet's way is in tests/optimal.rs.
    for scheme in all_disciplines().iter().filter(|scheme| scheme.sharing != Sharing::Optimal) {
        for (dst, bytes) in [(1, 1), (1, 1460), (5, 1461), (5, 10_000_000), (11, 123_456)] {
            let one = Flow { size: Bytes::new(bytes), ..flow(0, 0, dst, 1, Time::from_us(7)) };
            let outcome = run(&network, &[one], scheme);
            let taken = outcome.flows[0].finished_at_sender.unwrap() - one.start;
            let ideal = network.ideal_fct(one.src, one.dst, one.size);
            // Ends are rounded up to a picosecond.
            assert!(
                taken.saturating_sub(ideal) <= Time::from_ps(1) && ideal <= taken,
                "{scheme:?}"
            );
        }
    }
}

#[test]
fn announcements_and_headers_take_their_time() {
    let network = network("star", &[("hosts", "2")]);
    let header = Bytes::new(56);
    let scheme = FlowLevel { round_trips_before: 1, header, ..scheme(Sharing::Pdq) };
    let one = flow(0, 0, 1, 1000, Time::ZERO);
    let taken = run(&network, &[one], &scheme).flows[0].finished_at_sender.unwrap();
    let rtt = network.base_rtt(HostId(0), HostId(1), header, header);
    let more = network.port(network.nic(HostId(0))).rate.transmission_time(Bytes::new(16_000));
    let ideal = network.ideal_fct(one.src, one.dst, one.size);
    assert_eq!(taken, rtt + more + ideal);
}

/// No byte is lost or made: ports of hosts send and receive what flows have, and no port ever
/// sends more than it can.
#[test]
fn every_byte_passes_every_link_of_its_path_once_and_in_time() {
    let network = fabric();
    let flows = busy(&network, 400, 3);
    let interval = Time::from_us(100);
    for scheme in all_disciplines() {
        let outcome = run_until(&network, &flows, &scheme, interval, None);
        assert!(outcome.flows.iter().all(|flow| flow.finished_at_sender.is_some()), "{scheme:?}");
        let ports = network.ports().len();
        let last = &outcome.ports[outcome.ports.len() - ports..];
        for host in network.hosts() {
            let wire = |flow: &Flow| wire_bytes(flow.size).get();
            let sent: u64 = flows.iter().filter(|flow| flow.src == host).map(wire).sum();
            let received: u64 = flows.iter().filter(|flow| flow.dst == host).map(wire).sum();
            assert_eq!(last[network.nic(host).index()].sent_bytes, sent, "{scheme:?}");
            assert_eq!(last[network.port_to(host).index()].sent_bytes, received, "{scheme:?}");
        }
        for (before, after) in outcome.ports.iter().zip(&outcome.ports[ports..]) {
            let most = network.ports()[after.port as usize].rate.bytes_in(after.time - before.time);
            let sent = after.sent_bytes - before.sent_bytes;
            // Both counters are rounded to bytes.
            assert!(sent <= most.get() + 2, "{scheme:?}: {sent} of {most}");
        }
    }
}

/// FNV-1a of what tables are made of.
fn digest(outcome: &Outcome) -> u64 {
    let ends = outcome.flows.iter().flat_map(|flow| {
        [flow.finished_at_sender, flow.finished_at_receiver].map(|end| end.unwrap_or(Time::MAX))
    });
    let sent = outcome.ports.iter().map(|port| Time::from_ps(port.sent_bytes));
    ends.chain(sent)
        .flat_map(|number| number.as_ps().to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

#[test]
fn runs_side_by_side_are_equal() {
    let network = fabric();
    let flows = busy(&network, 300, 5);
    for scheme in all_disciplines() {
        let once = || run_until(&network, &flows, &scheme, Time::from_us(500), None);
        let alone = once();
        let beside = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(once)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(beside.iter().all(|outcome| *outcome == alone), "{scheme:?}");
    }
}

/// A change here is a change of every published result: say why in the change log.
#[test]
fn outcomes_are_those_of_all_machines_and_builds() {
    let network = fabric();
    let flows = busy(&network, 300, 5);
    let found: Vec<String> = all_disciplines()
        .iter()
        .map(|scheme| run_until(&network, &flows, scheme, Time::from_us(500), None))
        .map(|outcome| format!("{:016x}", digest(&outcome)))
        .collect();
    let expected = [
        "9f77b4fa6635e72e",
        "56bbca054073a0c3",
        "276324394d9e8baa",
        "71388db38a365134",
        "f5f4f9032096e5c3",
        "1c80544c368a9fe3",
        "0eb61fc0ad07ae94",
        "f2110d9c75195e3e",
        "77c6d573ca026f95",
    ];
    assert_eq!(found, expected);
}

/// Whoever cannot meet a deadline makes room for those who can.
#[test]
fn a_lost_flow_is_given_up_at_once() {
    let network = network("star", &[("hosts", "3")]);
    let due = |flow: Flow, ms| Flow { deadline: Some(Time::from_ms(ms)), ..flow };
    // 10,000 packets take 12 ms. The second cannot be done in 6 ms after the first one.
    let flows = [
        due(flow(0, 0, 2, 10_000, Time::ZERO), 13),
        due(flow(1, 1, 2, 10_000, Time::ZERO), 18),
        due(flow(2, 1, 2, 9_000, Time::ZERO), 24),
    ];
    let scheme = FlowLevel { gives_up: true, ..scheme(Sharing::Pdq) };
    let outcome = run(&network, &flows, &scheme);
    let ends = outcome.flows.iter().map(|flow| flow.finished_at_sender);
    let met: Vec<bool> =
        ends.zip(&flows).map(|(end, flow)| end.is_some() && end <= flow.deadline).collect();
    assert_eq!(met, [true, false, true]);
    assert_eq!(outcome.flows[1].finished_at_sender, None);
}

#[test]
fn a_run_that_is_cut_off_says_what_had_finished() {
    let network = fabric();
    let flows = busy(&network, 200, 1);
    let scheme = scheme(Sharing::MaxMin);
    let whole = run(&network, &flows, &scheme);
    let until = flows[100].start;
    let part = run_until(&network, &flows, &scheme, Time::ZERO, Some(until));
    for (part, whole) in part.flows.iter().zip(&whole.flows) {
        let by_then = |time: Option<Time>| time.filter(|time| *time <= until);
        assert_eq!(part.finished_at_sender, by_then(whole.finished_at_sender));
        assert_eq!(part.finished_at_receiver, by_then(whole.finished_at_receiver));
    }
}
