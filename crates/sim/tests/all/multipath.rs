//! M-PDQ on whole networks: which paths its packets take, and what happens to its flows.

use crate::common::{flow, network, run, scheme};
use flowsched_schemes::Scheme;
use flowsched_sim::Outcome;
use flowsched_topology::{HostId, Network, Routing};
use flowsched_units::{Bytes, Time};
use flowsched_workload::Flow;
use proptest::prelude::*;

fn m_pdq(subflows: &str) -> Scheme {
    scheme("m-pdq", "none", &[("subflows", subflows)])
}

/// PDQ 2012, Figure 11: BCube(2,3), or a smaller one.
fn bcube(k: &str, loss: &str) -> Network {
    network("bcube", &[("n", "2"), ("k", k), ("loss", loss)])
}

fn ends(outcome: &Outcome) -> Vec<f64> {
    let end = |flow: &flowsched_sim::FlowOutcome| flow.finished_at_sender.expect("it ends");
    outcome.flows.iter().map(|flow| end(flow).as_us_f64()).collect()
}

/// The number of packets that each of a host's cards sent, or that were sent to each card if
/// `to_it`.
fn packets(network: &Network, outcome: &Outcome, host: u32, to_it: bool) -> Vec<u64> {
    let last = &outcome.ports[outcome.ports.len() - network.ports().len()..];
    let cards = network.nics(HostId(host)).iter();
    let ports = cards.map(|card| if to_it { network.reverse(*card) } else { *card });
    ports.map(|port| last[port.index()].sent_packets).collect()
}

/// A lone flow from 0 to 3 of a BCube(2,1), which has two disjoint paths of the same length.
#[test]
fn two_free_paths_halve_the_time_of_a_flow() {
    let cube = bcube("1", "0");
    let flows = [flow(0, 0, 3, 5_000, Time::ZERO)];
    let time = |scheme: &Scheme| ends(&run(&cube, Routing::Ecmp, &flows, scheme))[0];
    let (one, two) = (time(&scheme("pdq", "none", &[])), time(&m_pdq("2")));
    println!("one path {one:.0} us, two {two:.0} us");
    assert!((1.95..2.0).contains(&(one / two)), "{one} {two}");
    // There is no third path.
    let three = time(&m_pdq("3"));
    assert!((0.97..1.03).contains(&(two / three)), "{two} {three}");
}

/// With BCube's address-based routing, k+1 subflows leave by k+1 cards and arrive by as many,
/// whatever the pair of servers, even if all but one digit are the same. No subflow meets another
/// on the way.
#[test]
fn subflows_take_the_disjoint_paths_of_a_bcube() {
    let cube = bcube("3", "0");
    for to in 1..16 {
        let flows = [flow(0, 0, to, 400, Time::ZERO)];
        let outcome = run(&cube, Routing::Ecmp, &flows, &m_pdq("4"));
        let sent = packets(&cube, &outcome, 0, false);
        let came = packets(&cube, &outcome, to, true);
        for count in sent.iter().chain(&came) {
            assert!((70..130).contains(count), "to {to}: {sent:?} {came:?}");
        }
        for other in (1..16).filter(|other| *other != to) {
            let used = packets(&cube, &outcome, other, true);
            let by_data = used.iter().filter(|count| **count > 60).count();
            assert!(by_data <= 2, "to {to} by {other}: one there, one back: {used:?}");
        }
        assert_eq!(outcome.flows[0].retransmissions, 0);
    }
}

/// Where there is one path and nothing is lost, M-PDQ with one subflow is PDQ, packet by packet.
#[test]
fn one_subflow_on_one_path_is_pdq() {
    let star = network("star", &[("hosts", "6"), ("host_link", "1Gbps")]);
    let flows: Vec<Flow> = (0..40)
        .map(|id| Flow {
            size: Bytes::new(1_000 + u64::from(id * 7_919 % 100) * 3_000),
            deadline: (id % 3 == 0).then(|| Time::from_us(u64::from(id) * 150 + 3_000)),
            ..flow(id, id % 5, 5, 1, Time::from_us(u64::from(id) * 100))
        })
        .collect();
    let pdq = run(&star, Routing::Ecmp, &flows, &scheme("pdq", "none", &[]));
    let one = run(&star, Routing::Ecmp, &flows, &m_pdq("1"));
    assert!(pdq.flows.iter().any(|flow| flow.gave_up.is_some()));
    assert!(pdq == one, "another outcome");
    // With three subflows, paths are shared but the switches have three smaller flows to choose
    // from.
    let three = run(&star, Routing::Ecmp, &flows, &m_pdq("3"));
    assert!(pdq != three);
}

/// Three subflows on one path are no faster than one, nor much slower: they take turns.
#[test]
fn subflows_on_one_path_gain_nothing() {
    let star = network("star", &[("hosts", "3"), ("host_link", "1Gbps")]);
    let flows = [flow(0, 0, 2, 1_000, Time::ZERO)];
    let time = |scheme: &Scheme| ends(&run(&star, Routing::Ecmp, &flows, scheme))[0];
    let (one, three) = (time(&scheme("pdq", "none", &[])), time(&m_pdq("3")));
    assert!((0.99..1.05).contains(&(three / one)), "{one} {three}");
}

/// A flow does not wait for one of its paths if another, more critical flow has the path.
#[test]
fn load_leaves_a_path_that_another_flow_has() {
    let cube = bcube("2", "0");
    // The second flow goes from 0 to 3 by 1 and by 2. The first one goes from 1 to 3 directly and
    // by 5 and 7. It has a deadline and so comes first.
    let due = Some(Time::from_ms(1_000));
    let first = Flow { deadline: due, ..flow(0, 1, 3, 8_000, Time::ZERO) };
    let second = flow(1, 0, 3, 1_000, Time::from_ms(2));
    let outcome = run(&cube, Routing::Ecmp, &[first, second], &m_pdq("2"));
    assert!(packets(&cube, &outcome, 5, true).iter().any(|count| *count > 3_000));
    let ends = ends(&outcome);
    // One path takes 12.1 ms; the other is free only after 48 ms.
    assert!(ends[0] > 45_000.0 && ends[1] < 2_000.0 + 12_128.0 * 1.05, "{ends:?}");
}

/// Flows as they are drawn: source, distance to the destination, bytes, start in nanoseconds.
fn flows_of(network: &Network, mut drawn: Vec<(u32, u32, u64, u64)>) -> Vec<Flow> {
    drawn.sort_by_key(|(.., start)| *start);
    let hosts = network.host_count();
    (0..)
        .zip(drawn)
        .map(|(id, (src, distance, size, start))| {
            let (src, dst) = (src % hosts, (src + 1 + distance % (hosts - 1)) % hosts);
            let flow = flow(id, src % hosts, dst % hosts, 1, Time::from_ns(start));
            Flow { size: Bytes::new(size), ..flow }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// On every network and whatever is lost, every byte arrives, packets that arrive beyond that
    /// were sent again, and the same seed gives the same outcome.
    #[test]
    fn every_byte_arrives_over_all_paths(
        drawn in prop::collection::vec((0u32..100, 0u32..100, 1u64..200_000, 0u64..3_000_000), 1..25),
        kind in 0usize..4,
        loss in prop_oneof![Just("0"), Just("0.01"), Just("0.05")],
        subflows in prop_oneof![Just("1"), Just("3"), Just("6")],
    ) {
        let network = match kind {
            0 => bcube("2", loss),
            1 => network("bcube", &[("n", "3"), ("k", "1"), ("loss", loss)]),
            2 => network(
                "jellyfish",
                &[("switches", "8"), ("ports", "5"), ("degree", "3"), ("loss", loss)],
            ),
            _ => network("fat-tree", &[("k", "4"), ("loss", loss)]),
        };
        let flows = flows_of(&network, drawn);
        let scheme = m_pdq(subflows);
        let outcome = run(&network, Routing::Ecmp, &flows, &scheme);
        let (mut packets, mut came) = (0, 0);
        for (flow, outcome) in flows.iter().zip(&outcome.flows) {
            let arrived = outcome.finished_at_receiver.expect("every byte arrives");
            prop_assert!(arrived < outcome.finished_at_sender.expect("and the sender knows"));
            packets += flow.size.get().div_ceil(1460);
            came += u64::from(outcome.passage.arrived);
        }
        let again = outcome.retransmissions;
        prop_assert!((packets..=packets + again).contains(&came), "{came} of {packets}+{again}");
        if loss == "0" {
            prop_assert_eq!(outcome.drops, 0);
        }
        prop_assert_eq!(&outcome, &run(&network, Routing::Ecmp, &flows, &scheme));
    }
}
