//! PDQ's flows hear of their rates late. Whatever happens meanwhile, all flows end, none sooner than possible, and
//! the same flows end at the same times.

mod common;

use common::{network, run};
use flowsched_fluid::FlowOutcome;
use flowsched_schemes::flow_level::{Acceptance, Admission, FlowLevel, Sharing};
use flowsched_topology::HostId;
use flowsched_units::{Bytes, Time};
use flowsched_workload::Flow;
use proptest::prelude::*;

/// Flows among 16 hosts, which start `within` this many microseconds.
fn any_flows(most: usize, within: u64) -> impl Strategy<Value = Vec<Flow>> {
    let deadline = prop::option::of(100u64..20_000);
    let flow = (0u32..16, 1u32..16, 1u64..100_000, 0..within, deadline);
    prop::collection::vec(flow, 1..most).prop_map(|mut flows| {
        flows.sort_by_key(|(_, _, _, start, _)| *start);
        let flow = |(id, (src, other, size, start, deadline)): (usize, (u32, u32, u64, u64, _))| {
            let start = Time::from_us(start);
            Flow {
                deadline: Option::map(deadline, |time: u64| start + Time::from_us(time)),
                ..Flow::new(
                    id as u32,
                    HostId(src),
                    HostId((src + other) % 16),
                    Bytes::new(size),
                    start,
                )
            }
        };
        flows.into_iter().enumerate().map(flow).collect()
    })
}

fn any_acceptance() -> impl Strategy<Value = Acceptance> {
    let number = |values: &'static [f64]| prop::sample::select(values);
    let all = (number(&[0.0, 0.5, 3.0]), number(&[0.0, 1.0, 2.0, 5.0]), number(&[0.0, 0.2, 2.0]));
    all.prop_map(|(dampening, early_start, probe_spacing)| {
        common::acceptance(dampening, early_start, probe_spacing)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn all_flows_come_to_an_end(
        flows in any_flows(800, 1_000),
        acceptance in any_acceptance(),
        delay in prop::sample::select(&["0us", "1us", "25us"]),
        gives_up in any::<bool>(),
    ) {
        let changes = [("k", "4"), ("link", "1Gbps"), ("link_delay", delay)];
        let network = network("fat-tree", &changes);
        let admission = Admission::ByAcceptance(acceptance);
        let pdq = FlowLevel { admission, round_trips_before: 1, ..common::scheme(Sharing::MOST_CRITICAL_FIRST) };
        let scheme = FlowLevel { gives_up, ..pdq };
        let outcome = run(&network, &flows, &scheme);
        prop_assert_eq!(&outcome, &run(&network, &flows, &scheme));
        for (flow, FlowOutcome { finished_at_sender, gave_up, .. }) in flows.iter().zip(outcome.flows) {
            let Some(end) = finished_at_sender else {
                prop_assert!(gave_up.is_some() && gives_up && flow.deadline.is_some(), "{flow:?}");
                continue;
            };
            let announced = network.base_rtt(flow.src, flow.dst, scheme.header, scheme.header);
            let ideal = network.ideal_fct(flow.src, flow.dst, flow.size);
            prop_assert!(end >= flow.start + announced + ideal, "{flow:?}: {end}");
        }
    }
}
