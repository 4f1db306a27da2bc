//! D2TCP against DCTCP, from which it differs only for flows with deadlines.

use crate::common::{flow, network, run, scheme};
use flowsched_topology::Routing;
use flowsched_units::Time;
use flowsched_workload::Flow;

/// Two senders to one receiver, long enough to be marked for many round trips.
fn two_flows(deadlines: [Option<Time>; 2]) -> [Flow; 2] {
    [0, 1].map(|id: u32| Flow {
        deadline: deadlines[id as usize],
        ..flow(id, id, 2, 5_000, Time::ZERO)
    })
}

/// When the flows end.
fn ends(preset: &str, flows: &[Flow]) -> Vec<Time> {
    let network = network("star", &[("hosts", "3")]);
    let outcome = run(&network, Routing::Ecmp, flows, &scheme(preset, "none", &[]));
    outcome.flows.iter().map(|flow| flow.finished_at_sender.unwrap()).collect()
}

#[test]
fn without_deadlines_it_is_dctcp() {
    let flows = two_flows([None, None]);
    assert_eq!(ends("d2tcp", &flows), ends("dctcp", &flows));
}

/// 5000 packets take 6 ms alone and 12 ms beside another flow.
#[test]
fn a_near_deadline_takes_from_a_far_one() {
    let deadlines = [Time::from_ms(10), Time::from_ms(100)].map(Some);
    let flows = two_flows(deadlines);
    let [fair, found] = ["dctcp", "d2tcp"].map(|preset| ends(preset, &flows));
    println!("near {} instead of {}, far {} instead of {}", found[0], fair[0], found[1], fair[1]);
    assert!(found[0] < fair[0] * 19 / 20, "{} instead of {}", found[0], fair[0]);
    assert!(found[1] <= deadlines[1].unwrap());
}
