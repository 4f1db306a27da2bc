//! The optimum is what theory says on one link, and no scheme in either engine beats it there.

mod common;

use common::{BOTTLENECK, flow, network, one_link, run};
use flowsched_fluid::{Outcome, Worth};
use flowsched_schemes::combination::Combination;
use flowsched_schemes::flow_level::FlowLevel;
use flowsched_schemes::port::parameters::QUEUES;
use flowsched_schemes::tagger::THRESHOLDS;
use flowsched_schemes::{PRESETS, Scheme};
use flowsched_sim::{Job, Progress};
use flowsched_theory::schedule;
use flowsched_topology::{HostId, Link, Network, NetworkBuilder, Routing};
use flowsched_units::{Bytes, Rate, Settings, Time, Value};
use flowsched_workload::Flow;
use proptest::prelude::*;

/// The time that the link takes for the payload of 1000 full packets.
const UNIT: Time = Time::from_us(11_680);

fn settings_of(preset: &str) -> Settings {
    let mut settings = Combination::new(preset, [None; 4]).unwrap().defaults("none");
    if let Some(Value::Text(_)) = settings.get(&THRESHOLDS) {
        let thresholds = 1..settings.count(&QUEUES);
        let thresholds = thresholds.map(|queue| Bytes::new(queue * 20_000)).collect();
        settings.set("thresholds", Value::Sizes(thresholds));
    }
    settings
}

fn optimal(network: &Network, flows: &[Flow]) -> Outcome {
    run(network, flows, &FlowLevel::from_settings(&settings_of("optimal")).unwrap())
}

/// The flows of a schedule as flows of the engine, one from each sender.
fn as_flows(flows: &[schedule::Flow]) -> Vec<Flow> {
    let times = |units: f64| Time::from_ps((units * UNIT.as_ps() as f64).round() as u64);
    let of = |(id, one): (usize, &schedule::Flow)| Flow {
        deadline: one.deadline.is_finite().then(|| times(one.deadline)),
        ..flow(id as u32, 1 + id as u32, 0, (one.size * 1000.0) as u64, times(one.start))
    };
    flows.iter().enumerate().map(of).collect()
}

/// When flows end on one link, in units.
fn ends(flows: &[schedule::Flow]) -> Vec<Option<f64>> {
    let outcome = optimal(&one_link(flows.len() as u32), &as_flows(flows));
    let units = |end: Time| end.as_ps() as f64 / UNIT.as_ps() as f64;
    outcome.flows.iter().map(|flow| flow.finished_at_sender.map(units)).collect()
}

#[test]
fn pdq_figure_1_to_the_digit() {
    let flow = schedule::Flow::with_deadline;
    let flows = [flow(1.0, 1.0), flow(2.0, 4.0), flow(3.0, 6.0)];
    assert_eq!(ends(&flows), [Some(1.0), Some(3.0), Some(6.0)]);
    let without = flows.map(|flow| schedule::Flow::of_size(flow.size));
    assert_eq!(ends(&without), [Some(1.0), Some(3.0), Some(6.0)]);
}

#[test]
fn a_lone_flow_takes_its_payload_and_propagation() {
    let network = network("single-rooted-tree", &[]);
    let one = flow(0, 11, 0, 100, Time::from_us(3));
    let outcome = optimal(&network, &[one]);
    let ways: Time = network
        .first_path(one.src, one.dst)
        .map(|port| network.port(port).delay * 2)
        .fold(Time::ZERO, |sum, delay| sum + delay);
    let taken = outcome.flows[0].finished_at_sender.unwrap() - one.start;
    assert_eq!(taken, ways + BOTTLENECK.transmission_time(one.size));
}

fn any_flows(latest: u32) -> impl Strategy<Value = Vec<schedule::Flow>> {
    prop::collection::vec((0..=latest, 1u32..9, 1u32..40), 1..9).prop_map(|mut flows| {
        flows.sort_by_key(|(start, _, _)| *start);
        let flow = |(start, size, deadline): (u32, u32, u32)| schedule::Flow {
            start: f64::from(start),
            size: f64::from(size),
            deadline: f64::from(deadline),
        };
        flows.into_iter().map(flow).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn without_deadlines_it_is_the_shortest_remaining_first(flows in any_flows(8)) {
        let no_deadline = |flow| schedule::Flow { deadline: f64::INFINITY, ..flow };
        let flows: Vec<_> = flows.into_iter().map(no_deadline).collect();
        let expected = schedule::shortest_remaining_first(&flows);
        for (found, expected) in ends(&flows).into_iter().zip(expected) {
            let found = found.unwrap();
            prop_assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
        }
    }

    /// As many flows are late as Moore and Hodgson's algorithm says, and those that are kept are in
    /// time.
    #[test]
    fn with_deadlines_it_has_the_fewest_late_flows(flows in any_flows(0)) {
        let ends = ends(&flows);
        let kept: Vec<_> = flows.iter().zip(&ends).filter(|(_, end)| end.is_some()).collect();
        prop_assert!(kept.iter().all(|(flow, end)| end.unwrap() <= flow.deadline), "{ends:?}");
        prop_assert_eq!(kept.len(), schedule::most_in_time(&flows));
    }
}

/// Host 0 is behind the bottleneck. Senders are at different distances from it.
fn unlike_distances() -> Network {
    let mut builder = NetworkBuilder::new();
    let switches = builder.tier("switch", 3);
    let link = |gbps, us| Link { rate: Rate::from_gbps(gbps), delay: Time::from_us(us) };
    builder.connect(switches[0], switches[1], link(2, 40));
    builder.connect(switches[1], switches[2], link(1, 90));
    builder.host(switches[0], link(1, 2));
    for (switch, us) in [(0, 1), (0, 20), (1, 1), (2, 1), (2, 30)] {
        builder.host(switches[switch], link(10, us));
    }
    builder.finish().unwrap()
}

/// A flow of some size, start and time to its deadline from one of the senders.
fn any_scene(latest_us: u64) -> impl Strategy<Value = Vec<Flow>> {
    let flow = (1u32..6, 1u64..150_000, 0..=latest_us, 200u64..6_000);
    prop::collection::vec(flow, 1..7).prop_map(|mut flows| {
        flows.sort_by_key(|(_, _, start, _)| *start);
        let flow = |(id, (src, size, start, due_in)): (usize, (u32, u64, u64, u64))| Flow {
            deadline: Some(Time::from_us(start + due_in)),
            ..Flow::new(id as u32, HostId(src), HostId(0), Bytes::new(size), Time::from_us(start))
        };
        flows.into_iter().enumerate().map(flow).collect()
    })
}

/// When flows finished at their senders, under every scheme in every engine that runs it.
fn all_schemes(network: &Network, flows: &[Flow]) -> Vec<(String, Vec<Option<Time>>)> {
    let mut all = Vec::new();
    for preset in PRESETS.iter().filter(|preset| preset.sends_packets()) {
        let settings = settings_of(preset.name);
        let scheme = &Scheme::from_settings(&settings).unwrap();
        let (routing, sample_interval) = (Routing::Ecmp, Time::ZERO);
        let job = Job { network, routing, flows, seed: 1, sample_interval, until: None };
        let packets = flowsched_sim::run(&job, scheme, &Progress::default());
        let ends = packets.flows.iter().map(|flow| flow.finished_at_sender).collect();
        all.push((format!("{} by packets", preset.name), ends));
        if let Ok(level) = FlowLevel::from_settings(&settings) {
            let ends = run(network, flows, &level).flows;
            let ends = ends.iter().map(|flow| flow.finished_at_sender).collect();
            all.push((format!("{} by flows", preset.name), ends));
        }
    }
    all
}

fn ends_of(outcome: &Outcome) -> Vec<Option<Time>> {
    outcome.flows.iter().map(|flow| flow.finished_at_sender).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_scheme_has_a_lower_mean_fct(flows in any_scene(1_000)) {
        let network = unlike_distances();
        let flows: Vec<Flow> =
            flows.into_iter().map(|flow| Flow { deadline: None, ..flow }).collect();
        let total = |ends: &[Option<Time>]| {
            let fct = |(flow, end): (&Flow, &Option<Time>)| end.unwrap() - flow.start;
            flows.iter().zip(ends).map(fct).fold(Time::ZERO, |sum, fct| sum + fct)
        };
        let best = optimal(&network, &flows);
        prop_assert_eq!(best.worth, Some(Worth::LeastMeanFct));
        let best = total(&ends_of(&best));
        for (name, ends) in all_schemes(&network, &flows) {
            let found = total(&ends);
            prop_assert!(best <= found, "{}: {} < {}", name, found, best);
        }
    }

    #[test]
    fn no_scheme_meets_more_deadlines(flows in any_scene(0)) {
        let network = unlike_distances();
        let met = |ends: &[Option<Time>]| {
            let is_met = |(flow, end): &(&Flow, &Option<Time>)| end.is_some() && **end <= flow.deadline;
            flows.iter().zip(ends).filter(is_met).count()
        };
        let best = optimal(&network, &flows);
        prop_assert_eq!(best.worth, Some(Worth::MostDeadlinesMet));
        let best = met(&ends_of(&best));
        for (name, ends) in all_schemes(&network, &flows) {
            let found = met(&ends);
            prop_assert!(found <= best, "{}: {} > {}", name, found, best);
        }
    }
}
