//! What a probe sees, and that a probe does not change a run.

use std::ops::ControlFlow;

use crate::common::{network, scheme_of};
use flowsched_schemes::Scheme;
use flowsched_schemes::world::{Every, FlowState, Probe, Probing, Seen, Threads, Watch};
use flowsched_sim::{Job, Outcome, PortSample, Progress};
use flowsched_topology::{Network, Routing};
use flowsched_units::{Settings, Time, Value};
use flowsched_workload::sizes::by_name;
use flowsched_workload::{Flow, PARAMETERS, generate};

fn fabric() -> Network {
    network("leaf-spine", &[("leaves", "3"), ("spines", "2"), ("hosts_per_leaf", "4")])
}

fn flows(network: &Network) -> Vec<Flow> {
    let mut settings = Settings::defaults(PARAMETERS);
    settings.set("load", Value::Number(0.8));
    settings.set("flows", Value::Count(40));
    let sizes = by_name("web-search-packets").unwrap();
    generate(&settings, network, &sizes, 7).unwrap().flows
}

/// Runs the flows. Returns the outcome, and what a probe of all ports and flows saw.
fn probed(scheme: &Scheme, every: Option<Every>) -> (Outcome, Vec<Seen>) {
    let network = fabric();
    let flows = flows(&network);
    let job = Job {
        network: &network,
        routing: Routing::Ecmp,
        flows: &flows,
        seed: 7,
        sample_interval: Time::from_us(50),
        until: None,
    };
    let ports = (0..network.ports().len() as u32).collect();
    let all_flows = (0..flows.len() as u32).collect();
    let probe = every.map(|every| Probe { ports, flows: all_flows, every });
    let (mut rows, mut samples) = (Vec::new(), Vec::new());
    let progress = Progress::default();
    let mut keep = |seen| {
        rows.push(seen);
        ControlFlow::Continue(())
    };
    let mut sample = |of_ports: &[PortSample]| {
        samples.extend_from_slice(of_ports);
        ControlFlow::Continue(())
    };
    let probing = probe.as_ref().map(|probe| Probing { probe, seen: &mut keep });
    let mut watch =
        Watch { threads: Threads::one(), progress: &progress, samples: &mut sample, probing };
    let outcome = flowsched_sim::run_watched(&job, scheme, &mut watch);
    (Outcome { ports: samples, ..outcome }, rows)
}

fn ports(seen: &[Seen]) -> impl Iterator<Item = &PortSample> {
    seen.iter().filter_map(|seen| match seen {
        Seen::Port { sample, .. } => Some(sample),
        Seen::Flow(_) => None,
    })
}

fn states(seen: &[Seen]) -> impl Iterator<Item = &FlowState> {
    seen.iter().filter_map(|seen| match seen {
        Seen::Flow(flow) => Some(flow),
        Seen::Port { .. } => None,
    })
}

#[test]
fn a_run_with_a_probe_is_the_run_without() {
    let small = ("buffer", "60pkt");
    let without_buffer = ["epn", "pdq", "m-pdq", "d3", "rcp", "hpcc", "homa", "phost", "las"];
    let others = without_buffer.map(|preset| scheme_of(preset, &[]));
    let with_buffer = ["pias", "dctcp"].map(|preset| scheme_of(preset, &[small]));
    for scheme in with_buffer.into_iter().chain(others) {
        let (without, nothing) = probed(&scheme, None);
        assert!(nothing.is_empty());
        for every in [Every::Interval(Time::from_us(7)), Every::Change] {
            let (with, seen) = probed(&scheme, Some(every));
            assert_eq!(with, without, "{every:?} {}", scheme.name);
            assert!(
                ports(&seen).count() > 1_000 && states(&seen).count() > 40,
                "{every:?} {}",
                scheme.name
            );
        }
    }
}

#[test]
fn what_changes_is_what_samples_see() {
    for scheme in [scheme_of("pias", &[("buffer", "60pkt")]), scheme_of("dctcp", &[])] {
        let (outcome, seen) = probed(&scheme, Some(Every::Change));
        let mut rows: Vec<Vec<&PortSample>> = vec![Vec::new(); fabric().ports().len()];
        ports(&seen).for_each(|row| rows[row.port as usize].push(row));
        for of_port in &rows {
            let is_new =
                |pair: &[&PortSample]| pair[0].time < pair[1].time && pair[0].has_changed(pair[1]);
            assert!(of_port.windows(2).all(is_new), "one row for each time and change");
        }
        let end = outcome.end;
        for sample in outcome.ports.iter().filter(|sample| sample.time < end) {
            let before =
                rows[sample.port as usize].iter().rev().find(|row| row.time <= sample.time);
            let row = before.unwrap();
            let of_row = (row.queue_bytes, row.queue_packets, row.drops, row.marks);
            let of_sample = (sample.queue_bytes, sample.queue_packets, sample.drops, sample.marks);
            assert_eq!(
                of_row, of_sample,
                "{} port {} at {}",
                scheme.name, sample.port, sample.time
            );
        }
    }
}

#[test]
fn a_flow_says_what_its_transport_has() {
    let seen = |preset: &str| probed(&scheme_of(preset, &[]), Some(Every::Change)).1;
    let of_dctcp = seen("dctcp");
    assert!(states(&of_dctcp).all(|flow| flow.sender.window.is_some() && flow.rate.is_none()));
    assert!(
        states(&of_dctcp).all(|flow| flow.sender.alpha.is_some_and(|a| (0.0..=1.0).contains(&a)))
    );
    assert!(
        states(&of_dctcp).any(|flow| flow.sender.in_flight.is_some_and(|bytes| bytes.get() > 0))
    );
    let of_pias = seen("pias");
    let priorities: std::collections::BTreeSet<u8> =
        states(&of_pias).filter_map(|flow| flow.priority).collect();
    assert!(priorities.len() > 3, "{priorities:?}");
    let of_pdq = seen("pdq");
    assert!(states(&of_pdq).any(|flow| flow.rate.is_some_and(|rate| rate > 0.0)));
    let of_subflows = seen("m-pdq");
    assert!(states(&of_subflows).any(|flow| flow.rate.is_some_and(|rate| rate > 0.0)));
    for seen in [of_dctcp, of_pias, of_pdq, of_subflows] {
        let mut last = std::collections::BTreeMap::new();
        for state in states(&seen) {
            let before = last.insert(state.flow, state);
            let is_new = before.is_none_or(|before: &FlowState| {
                before.time <= state.time && before.has_changed(state)
            });
            assert!(is_new, "a row for nothing: {state:?}");
        }
    }
}

#[test]
fn an_interval_gives_what_samples_give() {
    let interval = Time::from_us(50);
    let (outcome, seen) = probed(&scheme_of("pias", &[]), Some(Every::Interval(interval)));
    let is_regular = |sample: &&PortSample| sample.time.as_ps().is_multiple_of(interval.as_ps());
    let sampled: Vec<_> = outcome.ports.iter().filter(is_regular).collect();
    let of_probe: Vec<_> = ports(&seen).filter(|row| row.time > Time::ZERO).collect();
    assert!(of_probe.len() > 1_000);
    assert_eq!(of_probe[..], sampled[..of_probe.len()]);
    // A TCP flow sets no rate, so the rate at which it sent is measured.
    let rates: Vec<f64> = states(&seen).filter_map(|flow| flow.rate).collect();
    assert!(rates.iter().any(|rate| *rate > 1e9) && rates.iter().all(|rate| *rate >= 0.0));
}

#[test]
fn rows_are_in_the_order_of_time() {
    for every in [Every::Interval(Time::from_us(7)), Every::Change] {
        let (_, seen) = probed(&scheme_of("pias", &[]), Some(every));
        let times: Vec<Time> = seen.iter().map(time_of).collect();
        assert!(times.is_sorted() && times[0] == Time::ZERO, "{every:?}");
    }
}

fn time_of(seen: &Seen) -> Time {
    match seen {
        Seen::Port { sample, .. } => sample.time,
        Seen::Flow(flow) => flow.time,
    }
}
