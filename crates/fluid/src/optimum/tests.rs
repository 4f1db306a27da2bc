use flowsched_schemes::flow_level::{Acknowledgements, Admission, FlowLevel, Sharing};
use flowsched_topology::{HostId, Link, NetworkBuilder};
use flowsched_units::{Bytes, Rate};

use super::*;

fn link(gbps: u64, us: u64) -> Link {
    Link { rate: Rate::from_gbps(gbps), delay: Time::from_us(us) }
}

/// Two switches with three hosts each, the second's links slower than the one between them.
fn dumbbell(between: u64) -> Network {
    let mut builder = NetworkBuilder::new();
    let switches = builder.tier("switch", 2);
    builder.connect(switches[0], switches[1], link(between, 7));
    builder.hosts(3, switches[0], link(4, 1));
    builder.hosts(3, switches[1], link(4, 2));
    builder.finish().unwrap()
}

fn flow(id: u32, src: u32, dst: u32, deadline_us: Option<u64>) -> Flow {
    let deadline = deadline_us.map(Time::from_us);
    let (src, dst, size) = (HostId(src), HostId(dst), Bytes::new(10_000));
    Flow { deadline, ..Flow::new(id, src, dst, size, Time::ZERO) }
}

fn optimum(network: &Network, flows: &[Flow], until: Option<Time>) -> Optimum {
    let scheme = &FlowLevel {
        sharing: Sharing::LEAST_TIME_LEFT_FIRST,
        link_share: 1.0,
        is_omniscient: true,
        round_trips_before: 0,
        admission: Admission::AtOnce,
        header: Bytes::ZERO,
        acknowledgements: Acknowledgements { size: Bytes::ZERO, packets: 1, same_way_back: false },
        gives_up: true,
        subflows: None,
    };
    Optimum::new(&Job { network, flows, scheme, seed: 1, sample_interval: Time::ZERO, until })
}

#[test]
fn it_is_a_bound_where_all_flows_pass_one_link_and_none_is_slower() {
    let between = [flow(0, 0, 3, None), flow(1, 1, 4, None), flow(2, 2, 5, None)];
    let worth = |network: &Network, flows: &[Flow]| optimum(network, flows, None).worth;
    assert_eq!(worth(&dumbbell(3), &between), Worth::LeastMeanFct);
    assert_eq!(worth(&dumbbell(5), &between), Worth::Heuristic, "senders are slower");
    let to_one = [flow(0, 0, 3, None), flow(1, 4, 3, None)];
    assert_eq!(worth(&dumbbell(5), &to_one), Worth::LeastMeanFct, "the receiver's link");
    assert_eq!(worth(&dumbbell(3), &to_one), Worth::Heuristic, "two links hold flows up");
    let apart = [flow(0, 0, 1, None), flow(1, 3, 4, None)];
    assert_eq!(worth(&dumbbell(5), &apart), Worth::Heuristic, "nothing is shared");
}

#[test]
fn it_is_no_bound_for_a_part_of_the_flows_or_of_the_time() {
    let network = dumbbell(3);
    let flows = [flow(0, 0, 3, None), Flow { measured: false, ..flow(1, 1, 4, None) }];
    assert_eq!(optimum(&network, &flows, None).worth, Worth::Heuristic);
    let until = Some(Time::from_ms(1));
    assert_eq!(optimum(&network, &flows[..1], until).worth, Worth::Heuristic);
}

#[test]
fn a_link_that_some_path_avoids_is_no_bottleneck() {
    let mut builder = NetworkBuilder::new();
    let edges = builder.tier("edge", 2);
    for core in builder.tier("core", 2) {
        edges.iter().for_each(|edge| builder.connect(*edge, core, link(1, 1)));
    }
    builder.host(edges[0], link(4, 1));
    builder.host(edges[1], link(4, 1));
    let network = builder.finish().unwrap();
    assert_eq!(optimum(&network, &[flow(0, 0, 1, None)], None).worth, Worth::Heuristic);
}

/// 10,000 B at 4 Gbps take 20 us; 2 us from the senders to the switch, as much from there to the
/// receiver, and all the way back.
#[test]
fn as_few_flows_are_late_as_can_be() {
    let network = dumbbell(5);
    let long = Flow { size: Bytes::new(30_000), ..flow(0, 4, 3, Some(80)) };
    let flows = [long, flow(1, 5, 3, Some(48)), flow(2, 4, 3, Some(28))];
    let optimum = optimum(&network, &flows, None);
    assert_eq!(optimum.worth, Worth::MostDeadlinesMet);
    assert_eq!(flows.map(|flow| optimum.gives_up(&flow)), [true, false, false]);
    let earlier = [long, flow(1, 5, 3, Some(47)), flow(2, 4, 3, Some(28))];
    let optimum = super::tests::optimum(&network, &earlier, None);
    let late = earlier.iter().filter(|flow| optimum.gives_up(flow)).count();
    assert_eq!(late, 2, "two of 20 us each do not end in 47 us, of which 8 us are propagation");
}

#[test]
fn deadlines_of_flows_that_start_apart_are_no_bound() {
    let flows =
        [flow(0, 0, 3, Some(80)), Flow { start: Time::from_us(1), ..flow(1, 1, 3, Some(80)) }];
    let optimum = optimum(&dumbbell(5), &flows, None);
    assert_eq!(optimum.worth, Worth::Heuristic);
    assert!(!optimum.settles_who_is_late());
}
