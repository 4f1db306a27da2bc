//! Compares the engine on one link with closed forms and with schedules worked out by hand. They
//! agree to the last digit where nothing is random.

mod common;

use common::{BOTTLENECK, flow, flows, one_link, run, scheme};
use flowsched_schemes::flow_level::Sharing;
use flowsched_theory::{Mg1, MultilevelPs, schedule};
use flowsched_topology::HostId;
use flowsched_units::{Bytes, PACKET_WIRE, Time};
use flowsched_workload::Flow;
use flowsched_workload::sizes::by_name;
use proptest::prelude::*;

/// The time that the link takes for 1000 full packets.
const UNIT: Time = Time::from_ms(12);

/// When flows end at the receiver, in units to nine digits, without the delivery of the last
/// packet, which takes the same time for all.
fn ends(flows: &[Flow], sharing: Sharing) -> Vec<String> {
    let network = one_link(flows.len() as u32);
    let outcome = run(&network, flows, &scheme(sharing));
    let last_packet = network.base_rtt(HostId(1), HostId(0), Bytes::new(PACKET_WIRE), Bytes::ZERO)
        - BOTTLENECK.transmission_time(Bytes::new(PACKET_WIRE));
    let end = |end: Option<Time>| end.unwrap() - last_packet;
    let ends = outcome.flows.iter().map(|flow| end(flow.finished_at_receiver));
    ends.map(|end| format!("{:.9}", end.as_secs_f64() / UNIT.as_secs_f64())).collect()
}

fn rounded(ends: &[f64]) -> Vec<String> {
    ends.iter().map(|end| format!("{end:.9}")).collect()
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

fn figure_1() -> [schedule::Flow; 3] {
    let flow = schedule::Flow::with_deadline;
    [flow(1.0, 1.0), flow(2.0, 4.0), flow(3.0, 6.0)]
}

#[test]
fn pdq_figure_1_to_the_digit() {
    let flows = as_flows(&figure_1());
    assert_eq!(ends(&flows, Sharing::MaxMin), rounded(&[3.0, 5.0, 6.0]));
    assert_eq!(in_time(&figure_1(), Sharing::MaxMin), 1, "both fA and fB fail");
    assert_eq!(mean(Sharing::MaxMin), "4.67");
    assert_eq!(mean(Sharing::SHORTEST_FIRST), "3.33");
    assert_eq!(in_time(&figure_1(), Sharing::EARLIEST_DEADLINE_FIRST), 3);
    for sharing in [
        Sharing::SHORTEST_FIRST,
        Sharing::SHORTEST_REMAINING_FIRST,
        Sharing::EARLIEST_DEADLINE_FIRST,
        Sharing::MOST_CRITICAL_FIRST,
    ] {
        assert_eq!(ends(&flows, sharing), rounded(&[1.0, 3.0, 6.0]));
    }
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for order in orders {
        let flows = order.map(|index| figure_1()[index]);
        assert_eq!(ends(&as_flows(&flows), Sharing::Reservations), rounded(&schedule::d3(&flows)));
        let meets_all = in_time(&flows, Sharing::Reservations) == 3;
        assert_eq!(
            meets_all,
            order == [0, 1, 2],
            "{order:?}: fA, fB, fC is the only one that does"
        );
    }
}

/// How many flows meet their deadlines.
fn in_time(flows: &[schedule::Flow], sharing: Sharing) -> usize {
    schedule::in_time(flows, &numbers(&ends(&as_flows(flows), sharing)))
}

/// The mean completion time of the flows of Figure 1.
fn mean(sharing: Sharing) -> String {
    let ends = numbers(&ends(&as_flows(&figure_1()), sharing));
    format!("{:.2}", schedule::mean_completion(&figure_1(), &ends))
}

/// Flows that start at whole units, in the order of their starts.
fn any_flows() -> impl Strategy<Value = Vec<schedule::Flow>> {
    prop::collection::vec((0u32..8, 1u32..9, 1u32..30), 1..8).prop_map(|mut flows| {
        flows.sort_by_key(|(start, _, _)| *start);
        let flow = |(start, size, deadline): (u32, u32, u32)| schedule::Flow {
            start: f64::from(start),
            size: f64::from(size),
            deadline: f64::from(start + deadline),
        };
        flows.into_iter().map(flow).collect()
    })
}

/// The texts of [`ends`] as numbers.
fn numbers(texts: &[String]) -> Vec<f64> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The engine agrees with a second implementation, which has one link.
    #[test]
    fn schedules_on_one_link_are_those_of_theory(flows in any_flows()) {
        let engine = as_flows(&flows);
        for (sharing, expected) in [
            (Sharing::MaxMin, schedule::fair_sharing(&flows)),
            (Sharing::SHORTEST_REMAINING_FIRST, schedule::shortest_remaining_first(&flows)),
            (Sharing::Reservations, schedule::d3(&flows)),
        ] {
            let found = numbers(&ends(&engine, sharing.clone()));
            // If D3 lets a flow end exactly at its deadline, the last bit decides whether the flow
            // has missed it, and thus what it reserves.
            let is_close = |(flow, end): (&schedule::Flow, &f64)| (end - flow.deadline).abs() < 1e-6;
            if sharing == Sharing::Reservations && flows.iter().zip(&found).any(is_close) {
                continue;
            }
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert!((found - expected).abs() < 1e-6, "{sharing:?}: {found} {expected}");
            }
        }
    }
}

const SEEDS: u64 = 20;
/// Student's t with 19 degrees of freedom: 99.9% lie within this many standard errors.
const T_999: f64 = 3.883;
const LOAD: f64 = 0.6;

/// Checks that the mean completion time over seeds is what theory says, within a 99.9% interval.
/// Times are in payload bytes of service.
fn check_mean(sharing: Sharing, expected: f64) {
    let sizes = by_name("web-search-packets").unwrap();
    let network = one_link(50);
    let byte = BOTTLENECK.transmission_time(Bytes::new(PACKET_WIRE)).as_secs_f64() / 1460.0;
    let mean = |seed| {
        let mut flows = flows(&network, ("many-to-one", LOAD), &sizes, 8000, seed);
        // Otherwise flows of one sender to one receiver would not differ from those of others.
        flows.iter_mut().for_each(|flow| flow.src = HostId(1 + flow.id % 50));
        let outcome = run(&network, &flows, &scheme(sharing.clone()));
        let warm = 400;
        let times = flows.iter().zip(&outcome.flows).skip(warm).map(|(flow, outcome)| {
            (outcome.finished_at_receiver.unwrap() - flow.start).as_secs_f64() / byte
        });
        times.sum::<f64>() / (flows.len() - warm) as f64
    };
    let means: Vec<f64> = (1..=SEEDS).map(mean).collect();
    let count = SEEDS as f64;
    let average = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|mean| (mean - average).powi(2)).sum::<f64>() / (count - 1.0);
    let interval = T_999 * (variance / count).sqrt();
    println!("{sharing:?}: {average:.0} +- {interval:.0}, {expected:.0} in theory");
    assert!((average - expected).abs() <= interval, "{average} +- {interval} for {expected}");
    // Otherwise the interval would allow anything.
    assert!(interval < 0.1 * expected, "{interval} of {expected}");
}

#[test]
fn fair_sharing_of_one_link_is_processor_sharing() {
    let sizes = by_name("web-search-packets").unwrap();
    check_mean(Sharing::MaxMin, Mg1::new(&sizes, LOAD).ps_mean());
}

#[test]
fn the_shortest_remaining_first_is_srpt() {
    let sizes = by_name("web-search-packets").unwrap();
    check_mean(Sharing::SHORTEST_REMAINING_FIRST, Mg1::new(&sizes, LOAD).srpt_mean());
}

#[test]
fn the_shortest_first_is_preemptive_shortest_job_first() {
    let sizes = by_name("web-search-packets").unwrap();
    check_mean(Sharing::SHORTEST_FIRST, Mg1::new(&sizes, LOAD).psjf_mean());
}

#[test]
fn priorities_by_bytes_sent_are_multilevel_processor_sharing() {
    let sizes = by_name("web-search-packets").unwrap();
    let thresholds = [20, 200, 2000].map(|packets| packets * 1460);
    let theory = MultilevelPs::new(Mg1::new(&sizes, LOAD), &thresholds.map(|bytes| bytes as f64));
    check_mean(Sharing::BytesSent(thresholds.map(Bytes::new).to_vec()), theory.mean());
}
