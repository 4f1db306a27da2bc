//! M-PDQ's flows, which are split into subflows over parallel paths (PDQ 2012, 6), compared with theory and with
//! the packet engine.

mod common;

use common::{LINKS, fat_tree, flow, network, permutation, scheme};
use flowsched_fluid::Outcome;
use flowsched_schemes::Scheme;
use flowsched_schemes::combination::Combination;
use flowsched_schemes::flow_level::{Acknowledgements, FlowLevel, Sharing};
use flowsched_topology::{Network, Routing};
use flowsched_units::{Bytes, Settings, Time, Value};
use flowsched_workload::Flow;
use proptest::prelude::*;

fn settings(preset: &str, changes: &[(&'static str, Value)]) -> Settings {
    let mut settings = Combination::new(preset, [None; 4]).unwrap().defaults("none");
    changes.iter().for_each(|(key, value)| settings.set(*key, value.clone()));
    settings
}

fn m_pdq(subflows: u64) -> FlowLevel {
    let settings = settings("m-pdq", &[("subflows", Value::Count(subflows))]);
    FlowLevel::from_settings(&settings).unwrap()
}

fn pdq() -> FlowLevel {
    FlowLevel::from_settings(&settings("pdq", &[])).unwrap()
}

fn run(network: &Network, flows: &[Flow], scheme: &FlowLevel, seed: u64) -> Outcome {
    let (sample_interval, until) = (Time::ZERO, None);
    let job = flowsched_fluid::Job { network, flows, scheme, seed, sample_interval, until };
    flowsched_fluid::run(&job, &flowsched_fluid::Progress::default())
}

fn run_packets(network: &Network, flows: &[Flow], scheme: &Settings, seed: u64) -> Outcome {
    let scheme = &Scheme::from_settings(scheme).unwrap();
    let (routing, sample_interval, until) = (Routing::Ecmp, Time::ZERO, None);
    let job = flowsched_sim::Job { network, routing, flows, seed, sample_interval, until };
    flowsched_sim::run(&job, scheme, &flowsched_sim::Progress::default())
}

/// A BCube whose digits have two values. Hosts whose digits all differ have k + 1 disjoint paths of one length.
fn bcube(k: u32) -> Network {
    network("bcube", &[LINKS.as_slice(), &[("n", "2"), ("k", &k.to_string())]].concat())
}

fn jellyfish() -> Network {
    let switches = [("switches", "8"), ("ports", "5"), ("degree", "3")];
    network("jellyfish", &[LINKS.as_slice(), &switches].concat())
}

/// A flow with k subflows takes k free paths. Its bytes take a k-th of the time that they take on one path, and its
/// other delays stay the same.
#[test]
fn a_flow_of_k_free_paths_takes_a_kth_of_its_time() {
    let header = Bytes::new(40);
    let nothing = Acknowledgements { size: Bytes::ZERO, packets: 1, same_way_back: true };
    let alone = FlowLevel { acknowledgements: nothing, ..scheme(Sharing::MOST_CRITICAL_FIRST) };
    for paths in 1..=4 {
        let cube = bcube(paths - 1);
        let one = [flow(0, 0, (1 << paths) - 1, 50_000, Time::ZERO)];
        let time = |subflows| {
            let scheme = FlowLevel { subflows: Some(subflows), header, ..alone.clone() };
            run(&cube, &one, &scheme, 1).flows[0].finished_at_sender.unwrap().as_us_f64()
        };
        let bytes = 50_000.0 * 1500.0 * 8.0 / 1000.0;
        let rest = time(1) - bytes;
        assert!(rest < 0.01 * bytes, "the last packet's way takes {rest} us");
        let expected = bytes / f64::from(paths) + rest;
        assert!((time(paths) - expected).abs() < 1e-3, "{paths}: {} for {expected}", time(paths));
        // Where there are two paths, a third one is one of these.
        assert!((time(2 * paths) - expected).abs() < 1e-3, "{paths} paths, twice as many subflows");
        // M-PDQ, whose acknowledgements come back over the same links, against PDQ.
        let of = |scheme| run(&cube, &one, &scheme, 1).flows[0].finished_at_sender.unwrap();
        let ratio = of(pdq()).as_us_f64() / of(m_pdq(paths.into())).as_us_f64();
        assert!((0.995..=1.0).contains(&(ratio / f64::from(paths))), "{paths} paths: {ratio}");
    }
}

/// A flow has no more subflows than packets.
#[test]
fn a_flow_of_one_packet_is_not_split() {
    let cube = bcube(3);
    for packets in 1..4 {
        let one = [flow(0, 0, 15, packets, Time::ZERO)];
        let of = |subflows| run(&cube, &one, &m_pdq(subflows), 1).flows;
        assert_eq!(of(packets), of(8));
        assert!(packets == 1 || of(packets - 1) != of(packets));
    }
}

/// Flows from the hosts in turn, with deadlines that some miss.
fn busy(network: &Network, count: u32) -> Vec<Flow> {
    let hosts = network.host_count();
    let flow = |id: u32| {
        let src = id * 7 % hosts;
        let start = Time::from_us(u64::from(id) * 40);
        let due = start + Time::from_us(500 + u64::from(id % 7) * 1_000);
        Flow {
            size: Bytes::new(1_000 + u64::from(id * 7_919 % 100) * 9_000),
            deadline: id.is_multiple_of(3).then_some(due),
            ..flow(id, src, (src + 1 + id % (hosts - 1)) % hosts, 1, start)
        }
    };
    (0..count).map(flow).collect()
}

/// M-PDQ with one subflow is PDQ, except on BCube and Jellyfish, whose parallel paths are not those of ECMP.
#[test]
fn one_subflow_is_pdq() {
    for network in [fat_tree(), network("leaf-spine", &[]), network("star", &[("hosts", "6")])] {
        let flows = busy(&network, 200);
        let one = run(&network, &flows, &m_pdq(1), 3);
        assert!(one.flows.iter().any(|flow| flow.gave_up.is_some()));
        assert!(one == run(&network, &flows, &pdq(), 3));
        assert!(one != run(&network, &flows, &m_pdq(2), 3));
    }
}

/// Which ports send data or acknowledgements.
fn used(network: &Network, outcome: &Outcome) -> Vec<bool> {
    let last = &outcome.ports[outcome.ports.len() - network.ports().len()..];
    last.iter().map(|port| port.sent_bytes > 0).collect()
}

/// A lone flow's subflows and their acknowledgements take the paths of the packets.
#[test]
fn subflows_take_the_paths_of_packets() {
    for network in [bcube(3), fat_tree(), jellyfish()] {
        for id in 1..8 {
            let mut one = flow(0, 0, id, 600, Time::ZERO);
            one.id = 0;
            for count in 2..6 {
                let settings = settings("m-pdq", &[("subflows", Value::Count(count))]);
                let fluid = used(&network, &run(&network, &[one], &m_pdq(count), id.into()));
                let packets = run_packets(&network, &[one], &settings, id.into());
                let packets = used(&network, &packets);
                // One subflow may have a shared link to itself, so that the rest of the other's path stays unused.
                let is_used = |(port, used): (usize, &bool)| !used || packets[port];
                assert!(fluid.iter().enumerate().all(is_used), "to {id}, {count} subflows");
                if network.hosts_forward() {
                    assert!(fluid == packets, "to {id}, {count} subflows");
                }
            }
        }
    }
}

/// The relative excess of the mean FCT of M-PDQ's flows over that in the packet engine, over five seeds.
fn beyond_packets(network: &Network, flows: u64, sizes: &str, subflows: u64) -> f64 {
    let settings = settings("m-pdq", &[("subflows", Value::Count(subflows))]);
    let (mut by_packets, mut by_flows) = (0.0, 0.0);
    for seed in 1..=5 {
        let flows = permutation(network, flows, sizes, seed);
        let total = |outcome: Outcome| -> f64 {
            let ends = outcome.flows.iter().map(|flow| flow.finished_at_sender.unwrap());
            ends.map(Time::as_us_f64).sum()
        };
        by_packets += total(run_packets(network, &flows, &settings, seed));
        by_flows += total(run(network, &flows, &m_pdq(subflows), seed));
    }
    println!(
        "{flows} flows, {sizes}, {subflows} subflows: {:.2} ms by packets, {:.2} by flows, {:+.1}%",
        by_packets / 5e3 / flows as f64,
        by_flows / 5e3 / flows as f64,
        100.0 * (by_flows / by_packets - 1.0)
    );
    by_flows / by_packets - 1.0
}

const SMALL: &str = "uniform 2KB 198KB";
const LARGE: &str = "uniform 20KB 1980KB";

/// Scenes of PDQ 2012, Figure 11, and smaller and larger ones.
#[test]
fn on_bcube_it_takes_as_long_as_packets() {
    let scenes = [(2, SMALL, 3), (2, LARGE, 3), (8, LARGE, 3), (16, LARGE, 1), (16, LARGE, 2)];
    let more = [(16, LARGE, 3), (16, LARGE, 4), (160, LARGE, 3)];
    for (flows, sizes, subflows) in scenes.into_iter().chain(more) {
        let difference = beyond_packets(&bcube(3), flows, sizes, subflows);
        assert!(difference.abs() < 0.07, "{flows} flows, {sizes}, {subflows}: {difference}");
    }
}

/// Where subflows compete for the card, their queues there take time too.
#[test]
fn with_one_card_it_takes_nearly_as_long_as_packets() {
    for flows in [2, 8, 16] {
        for subflows in [2, 3] {
            let difference = beyond_packets(&fat_tree(), flows, LARGE, subflows);
            assert!(difference.abs() < 0.08, "{flows} flows, {subflows}: {difference}");
        }
    }
}

/// Flows among 16 hosts, which start within a millisecond.
fn any_flows() -> impl Strategy<Value = Vec<Flow>> {
    let deadline = prop::option::of(100u64..20_000);
    let drawn = (0u32..16, 1u32..16, 1u64..100_000, 0u64..1_000, deadline);
    prop::collection::vec(drawn, 1..150).prop_map(|mut flows| {
        flows.sort_by_key(|(_, _, _, start, _)| *start);
        let to_flow =
            |(id, (src, other, size, start, deadline)): (usize, (u32, u32, u64, u64, _))| {
                let start = Time::from_us(start);
                Flow {
                    size: Bytes::new(size),
                    deadline: Option::map(deadline, |time: u64| start + Time::from_us(time)),
                    ..flow(id as u32, src, (src + other) % 16, 1, start)
                }
            };
        flows.into_iter().enumerate().map(to_flow).collect()
    })
}

/// Bytes that hosts have sent.
fn sent_by_hosts(network: &Network, outcome: &Outcome) -> u64 {
    let last = &outcome.ports[outcome.ports.len() - network.ports().len()..];
    network.hosts().map(|host| last[network.nic(host).index()].sent_bytes).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// All flows end, none sooner than all cards of its host could send it. On a fat-tree without early
    /// termination, hosts send every byte once, and one acknowledgement for each packet. The same flows end at the
    /// same times.
    #[test]
    fn all_flows_come_to_an_end(
        flows in any_flows(),
        is_cube in any::<bool>(),
        subflows in 1u64..6,
        gives_up in any::<bool>(),
        ageing in prop::sample::select(&[0.0, 2.0]),
        known in any::<bool>(),
    ) {
        let network = if is_cube { bcube(3) } else { fat_tree() };
        let word = |word: &str| Value::Text(word.into());
        let keys = [
            ("subflows", Value::Count(subflows)),
            ("early_termination", Value::Flag(gives_up)),
            ("ageing", Value::Number(ageing)),
            ("ageing_of", word("criticality")),
            ("flow_size", word(if known { "known" } else { "estimated" })),
        ];
        let scheme = FlowLevel::from_settings(&settings("m-pdq", &keys)).unwrap();
        let outcome = run(&network, &flows, &scheme, 1);
        let in_a_thread = std::thread::scope(|scope| {
            scope.spawn(|| run(&network, &flows, &scheme, 1)).join().unwrap()
        });
        prop_assert!(outcome == in_a_thread);
        let cards = if is_cube { 4.0 } else { 1.0 };
        for (flow, ended) in flows.iter().zip(&outcome.flows) {
            let Some(end) = ended.finished_at_sender else {
                prop_assert!(ended.gave_up.is_some() && gives_up && flow.deadline.is_some());
                continue;
            };
            let least = 8.0 * flow.size.get() as f64 / cards / 1e3;
            prop_assert!((end - flow.start).as_us_f64() > least, "{flow:?}: {end}");
        }
        if !is_cube && !gives_up {
            let packets = |flow: &Flow| flow.size.get().div_ceil(1460);
            let bytes = |flow: &Flow| flow.size.get() + 2 * 56 * packets(flow);
            let expected: u64 = flows.iter().map(bytes).sum();
            let sent = sent_by_hosts(&network, &outcome);
            prop_assert!(sent.abs_diff(expected) <= 16 + flows.len() as u64, "{sent} of {expected}");
        }
    }
}
