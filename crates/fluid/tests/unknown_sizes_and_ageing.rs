//! Compares PDQ's flows in the fluid engine with the packet engine where they do not know their
//! sizes (PDQ 2012, Figure 10), and where they age (Figure 12).

mod common;

use common::network;
use flowsched_schemes::Scheme;
use flowsched_schemes::combination::Combination;
use flowsched_schemes::flow_level::FlowLevel;
use flowsched_topology::{HostId, Network, Routing};
use flowsched_units::{Bytes, Settings, Time, Value};
use flowsched_workload::{Flow, PARAMETERS, generate, sizes::by_name};

/// PDQ with other settings.
fn pdq(changes: &[(&'static str, Value)]) -> Settings {
    let mut settings = Combination::new("pdq", [None; 4]).unwrap().defaults("none");
    changes.iter().for_each(|(key, value)| settings.set(*key, value.clone()));
    settings
}

/// The FCTs in seconds, in the packet engine and in the fluid engine.
fn both(network: &Network, flows: &[Flow], seed: u64, settings: &Settings) -> [Vec<f64>; 2] {
    let (routing, sample_interval, until) = (Routing::Ecmp, Time::ZERO, None);
    let scheme = &Scheme::from_settings(settings).unwrap();
    let job = flowsched_sim::Job { network, routing, flows, seed, sample_interval, until };
    let packets = flowsched_sim::run(&job, scheme, &flowsched_sim::Progress::default());
    let scheme = &FlowLevel::from_settings(settings).unwrap();
    let job = flowsched_fluid::Job { network, flows, scheme, seed, sample_interval, until };
    let fluid = flowsched_fluid::run(&job, &flowsched_fluid::Progress::default());
    [packets, fluid].map(|outcome| {
        let ends = outcome.flows.iter().zip(flows);
        let fct = |end: Option<Time>, flow: &Flow| (end.unwrap() - flow.start).as_secs_f64();
        ends.map(|(end, flow)| fct(end.finished_at_sender, flow)).collect()
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

fn drawn(network: &Network, words: &[(&'static str, Value)], sizes: &str, seed: u64) -> Vec<Flow> {
    let mut settings = Settings::defaults(PARAMETERS);
    for (key, value) in words {
        settings.set(*key, value.clone());
    }
    generate(&settings, network, &by_name(sizes).unwrap(), seed).unwrap().flows
}

fn text(word: &str) -> Value {
    Value::Text(word.into())
}

/// The mean FCTs of ten flows to one of 12 servers that start at once, over 20 draws.
fn query_aggregation(sizes: &str, knowledge: &str) -> [f64; 2] {
    let network = network("single-rooted-tree", &[]);
    let words = [
        ("pattern", text("many-to-one")),
        ("senders", text("in-turn")),
        ("receiver", text("0")),
        ("at", Value::Time(Time::ZERO)),
        ("flows", Value::Count(10)),
    ];
    let settings = pdq(&[("flow_size", text(knowledge))]);
    let mut means = [Vec::new(), Vec::new()];
    for seed in 1..=20 {
        let flows = drawn(&network, &words, sizes, seed);
        let found = both(&network, &flows, seed, &settings);
        means.iter_mut().zip(&found).for_each(|(means, one)| means.push(mean(one)));
    }
    means.map(|means| mean(&means))
}

#[test]
fn flows_that_do_not_know_their_sizes() {
    let (even, tailed) = ("uniform 2KB 198KB", "pareto 1.1 19600B 10MB");
    for (sizes, knowledge, most) in [
        (even, "known", 0.1),
        (even, "random", 0.1),
        (tailed, "known", 0.1),
        (tailed, "random", 0.1),
        // In the packet engine, flows of one step take less than K round trips, and two of them
        // send at a time.
        (even, "estimated", 0.25),
        (tailed, "estimated", 0.15),
    ] {
        let [packets, fluid] = query_aggregation(sizes, knowledge);
        let difference = fluid / packets - 1.0;
        let [packets, fluid] = [packets, fluid].map(|seconds| seconds * 1e3);
        println!("{sizes}, {knowledge}: {packets:.3} / {fluid:.3} ms, {:+.1}%", 100.0 * difference);
        assert!(difference.abs() < most, "{sizes}, {knowledge}: {packets} ms, {fluid} ms");
    }
}

#[test]
fn flows_that_age() {
    let network = network("fat-tree", &[("k", "4"), ("link", "1Gbps"), ("link_delay", "25.1us")]);
    let words = [
        ("pattern", text("permutation")),
        ("senders", text("in-turn")),
        ("load", Value::Number(0.8)),
        ("flows", Value::Count(160)),
    ];
    for ageing in [0.0, 2.0, 10.0] {
        let settings =
            pdq(&[("ageing", Value::Number(ageing)), ("ageing_of", text("criticality"))]);
        let mut figures = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
        for seed in 1..=5 {
            let flows = drawn(&network, &words, "uniform 2KB 1998KB", seed);
            let [packets, fluid] = both(&network, &flows, seed, &settings);
            let found = [mean(&packets), mean(&fluid), most(&packets), most(&fluid)];
            figures.iter_mut().zip(found).for_each(|(list, one)| list.push(one * 1e3));
        }
        let [packets, fluid, worst_packets, worst_fluid] = figures.map(|list| mean(&list));
        println!(
            "ageing {ageing}: mean {packets:.2} / {fluid:.2}, worst {worst_packets:.1} / {worst_fluid:.1} ms"
        );
        assert!((fluid / packets - 1.0).abs() < 0.15, "{ageing}: {packets} ms, {fluid} ms");
        assert!((worst_fluid / worst_packets - 1.0).abs() < 0.25, "{ageing}");
    }
}

/// A flow that has waited for long goes before a shorter one that has just come.
#[test]
fn who_has_waited_goes_first() {
    let network = network("star", &[("hosts", "4"), ("host_link", "1Gbps")]);
    let flow = |id: u32, kilobytes: u64, ms| {
        Flow::new(id, HostId(id), HostId(3), Bytes::new(kilobytes * 1000), Time::from_ms(ms))
    };
    // The first takes 82 ms; the second waits for it for 80 ms, which make it 16 times as critical.
    let flows = [flow(0, 10_000, 0), flow(1, 10_100, 1), flow(2, 2_000, 80)];
    let last = |ageing| {
        let settings =
            pdq(&[("ageing", Value::Number(ageing)), ("ageing_of", text("criticality"))]);
        let scheme = &FlowLevel::from_settings(&settings).unwrap();
        let (network, flows) = (&network, &flows[..]);
        let job = flowsched_fluid::Job {
            network,
            flows,
            scheme,
            seed: 1,
            sample_interval: Time::ZERO,
            until: None,
        };
        let outcome = flowsched_fluid::run(&job, &flowsched_fluid::Progress::default());
        let ends: Vec<Time> =
            outcome.flows.iter().map(|flow| flow.finished_at_sender.unwrap()).collect();
        (0..3).max_by_key(|flow| ends[*flow]).unwrap()
    };
    assert_eq!([last(0.0), last(5.0)], [1, 2]);
}

/// A deadline that is past when a flow has announced itself does not turn time back.
#[test]
fn a_flow_is_given_up_no_sooner_than_it_competes() {
    let network = network("star", &[("hosts", "4"), ("host_link", "1Gbps")]);
    let late = |id: u32| Flow {
        deadline: Some(Time::from_ns(1)),
        ..Flow::new(id, HostId(id), HostId(3), Bytes::new(100_000), Time::ZERO)
    };
    let flows = [late(0), late(1)];
    let scheme = &FlowLevel::from_settings(&pdq(&[("flow_size", text("estimated"))])).unwrap();
    let (network, flows) = (&network, &flows[..]);
    let (seed, sample_interval, until) = (1, Time::ZERO, None);
    let job = flowsched_fluid::Job { network, flows, scheme, seed, sample_interval, until };
    let outcome = flowsched_fluid::run(&job, &flowsched_fluid::Progress::default());
    let announced = network.base_rtt(HostId(0), HostId(3), scheme.header, scheme.header);
    assert!(outcome.flows.iter().all(|flow| flow.gave_up >= Some(announced)), "{outcome:?}");
}
