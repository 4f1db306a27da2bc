//! Every discipline ends on links of any rates and delays, with every flow finished or given up.

mod common;

use common::{all_disciplines, by_acceptance, run_until};
use flowsched_topology::{HostId, Link, Network, NetworkBuilder};
use flowsched_units::{Bytes, Rate, Time};
use flowsched_workload::{Flow, LATEST};
use proptest::prelude::*;

/// A link from 1 Kbps to 8 Tbps, with a delay from 1 ns to 1 s.
fn any_link() -> impl Strategy<Value = Link> {
    let digit = || 1u64..=9;
    let rate = (3u32..13, digit()).prop_map(|(zeros, digit)| digit * 10u64.pow(zeros));
    let delay = (0u32..9, digit()).prop_map(|(zeros, digit)| digit * 10u64.pow(zeros));
    (rate, delay).prop_map(|(rate, delay)| Link {
        rate: Rate::from_bps(rate.min(8_000_000_000_000)),
        delay: Time::from_ns(delay),
    })
}

/// A tree of switches, and some links more, with hosts anywhere.
fn any_network() -> impl Strategy<Value = Network> {
    let links = |count| prop::collection::vec((0usize..100, any_link()), count);
    (links(0..5), links(0..3), links(2..8)).prop_map(|(tree, more, hosts)| {
        let mut builder = NetworkBuilder::new();
        let switches = builder.tier("switch", tree.len() as u32 + 1);
        for (index, (other, link)) in tree.iter().enumerate() {
            builder.connect(switches[index + 1], switches[other % (index + 1)], *link);
        }
        for (index, (other, link)) in more.iter().enumerate() {
            let (one, other) = (index % switches.len(), other % switches.len());
            if one != other {
                builder.connect(switches[one], switches[other], *link);
            }
        }
        for (edge, link) in hosts {
            builder.host(switches[edge % switches.len()], link);
        }
        builder.finish().unwrap()
    })
}

/// The parameters of a flow: its sender, how far ahead its receiver is, its bytes, its start and
/// the time to its deadline. Both times are in units of the longest delay.
type Drawn = (u32, u32, u64, u64, Option<u64>);

fn any_flows() -> impl Strategy<Value = Vec<Drawn>> {
    let deadline = prop::option::of(1u64..20);
    prop::collection::vec((0u32..100, 0u32..100, 1u64..2_000_000, 0u64..4, deadline), 1..30)
}

fn flows(drawn: &[Drawn], hosts: u32, first: Time, unit: Time) -> Vec<Flow> {
    let flow = |(src, ahead, bytes, start, deadline): &Drawn| {
        let (src, start) = (src % hosts, first + unit * *start);
        Flow {
            deadline: deadline.map(|units| start + unit * units),
            ..Flow::new(
                0,
                HostId(src),
                HostId((src + 1 + ahead % (hosts - 1)) % hosts),
                Bytes::new(*bytes),
                start,
            )
        }
    };
    let mut flows: Vec<Flow> = drawn.iter().map(flow).collect();
    flows.sort_by_key(|flow| flow.start);
    (0..).zip(&mut flows).for_each(|(id, flow)| flow.id = id);
    flows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn every_scene_ends(
        network in any_network(),
        drawn in any_flows(),
        discipline in any::<prop::sample::Index>(),
        gives_up in any::<bool>(),
        first in prop_oneof![Just(Time::ZERO), Just(LATEST)],
    ) {
        let unit = network.ports().iter().map(|port| port.delay).max().unwrap();
        let flows = flows(&drawn, network.host_count(), first, unit);
        let mut disciplines = all_disciplines();
        disciplines.push(by_acceptance(0.0, 0.0));
        let mut scheme = discipline.get(&disciplines).clone();
        scheme.gives_up = gives_up;
        let outcome = run_until(&network, &flows, &scheme, Time::ZERO, None);
        for flow in &outcome.flows {
            prop_assert!(flow.gave_up.is_some() || flow.finished_at_sender.is_some(), "{:?}", flow);
        }
    }
}
