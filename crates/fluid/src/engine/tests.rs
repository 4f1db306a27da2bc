//! Compares the engine with a second one that recomputes everything at every event.

use flowsched_schemes::flow_level::{Acknowledgements, Admission, FlowLevel, Sharing};
use flowsched_topology::{Ecmp, HostId, Link, Network, NetworkBuilder, PortId};
use flowsched_units::{Bytes, PACKET_HEADER, Rate, Time};
use flowsched_workload::Flow;
use proptest::prelude::*;

use crate::latency::wire_bits;
use crate::oracle::from_scratch::{Demand, max_min, waterfill};
use crate::{Job, Progress};

/// Two switches with three hosts each. Links have different rates, so that some flows are limited
/// elsewhere than others.
fn network() -> Network {
    let link = |gbps| Link { rate: Rate::from_gbps(gbps), delay: Time::ZERO };
    let mut builder = NetworkBuilder::new();
    let switches = builder.tier("switch", 2);
    builder.connect(switches[0], switches[1], link(5));
    for switch in &switches {
        for gbps in [2, 3, 4] {
            builder.host(*switch, link(gbps));
        }
    }
    builder.finish().unwrap()
}

fn any_flows() -> impl Strategy<Value = Vec<Flow>> {
    let flow = (0u32..6, 1u32..6, 1_000u64..3_000_000, 0u64..4_000);
    prop::collection::vec(flow, 1..14).prop_map(|mut flows| {
        flows.sort_by_key(|(_, _, _, start)| *start);
        let flow = |(id, (src, other, size, start)): (usize, (u32, u32, u64, u64))| {
            Flow::new(
                id as u32,
                HostId(src),
                HostId((src + other) % 6),
                Bytes::new(size),
                Time::from_us(start),
            )
        };
        flows.into_iter().enumerate().map(flow).collect()
    })
}

fn scheme(sharing: Sharing) -> FlowLevel {
    let header = Bytes::new(PACKET_HEADER);
    // One acknowledgement of 300 B for three packets, large enough to matter.
    let size =
        if sharing == Sharing::LEAST_TIME_LEFT_FIRST { Bytes::ZERO } else { Bytes::new(300) };
    let acknowledgements = Acknowledgements { size, packets: 3, same_way_back: false };
    FlowLevel {
        is_omniscient: sharing == Sharing::LEAST_TIME_LEFT_FIRST,
        sharing,
        link_share: 1.0,
        round_trips_before: 0,
        admission: Admission::AtOnce,
        header,
        acknowledgements,
        gives_up: false,
        subflows: None,
    }
}

/// When each flow's last byte arrives, in seconds.
fn ends(network: &Network, flows: &[Flow], sharing: &Sharing) -> Vec<f64> {
    let scheme = &scheme(sharing.clone());
    let job = Job { network, flows, scheme, seed: 1, sample_interval: Time::ZERO, until: None };
    let outcome = crate::run(&job, &Progress::default());
    let ends = outcome.flows.iter().map(|flow| flow.finished_at_receiver.unwrap());
    ends.map(Time::as_secs_f64).collect()
}

/// A flow that has started and not ended.
#[derive(Clone, Debug)]
struct Active {
    index: usize,
    path: Vec<u32>,
    /// The links that its acknowledgements pass, and their bits for every bit that it sends.
    way_back: Vec<u32>,
    ratio: f64,
    left: f64,
    /// The unit in which its remaining bits decide its place in the order.
    unit: f64,
}

/// The rates that the discipline gives flows, the most critical first.
fn share(capacities: &[f64], active: &[Active], sharing: &Sharing) -> Vec<f64> {
    if *sharing == Sharing::MaxMin {
        let demand = |flow: &Active| Demand { path: flow.path.clone(), class: 0 };
        max_min(capacities, &active.iter().map(demand).collect::<Vec<_>>())
    } else {
        let demand = |flow: &Active| (flow.path.clone(), f64::INFINITY);
        waterfill(capacities, &active.iter().map(demand).collect::<Vec<_>>())
    }
}

/// Reduces rates to those for which acknowledgements leave room. A link's flows hear of the part
/// that they can use when it has changed by more than a five hundredth.
fn use_up(capacities: &[f64], usable: &mut [f64], active: &[Active], rates: &mut [f64]) {
    for (link, usable) in usable.iter_mut().enumerate() {
        let with_rates = || active.iter().zip(rates.iter());
        let data = with_rates().filter(|(flow, _)| flow.path.contains(&(link as u32)));
        let back: Vec<(&Active, &f64)> =
            with_rates().filter(|(flow, _)| flow.way_back.contains(&(link as u32))).collect();
        let data: f64 = data.map(|(_, rate)| rate).sum();
        let taken: f64 = back.iter().map(|(flow, rate)| flow.ratio * *rate).sum();
        let left = capacities[link] - taken.min(capacities[link] / 2.0);
        let part = if back.is_empty() || data <= left { 1.0 } else { left / data };
        if (part - *usable).abs() > 1.0 / 500.0 || part == 1.0 {
            *usable = part;
        }
    }
    for (flow, rate) in active.iter().zip(rates) {
        *rate *= flow.path.iter().map(|link| usable[*link as usize]).fold(1.0, f64::min);
    }
}

/// When each flow has sent its last bit, in seconds.
fn from_scratch(network: &Network, flows: &[Flow], sharing: &Sharing) -> Vec<f64> {
    let capacities: Vec<f64> =
        network.ports().iter().map(|port| port.rate.as_bps() as f64).collect();
    let (mut now, mut next, mut ends) = (0.0, 0, vec![0.0; flows.len()]);
    let mut active: Vec<Active> = Vec::new();
    let mut usable = vec![1.0; capacities.len()];
    while next < flows.len() || !active.is_empty() {
        let time = |flow: &Active| flow.left / flow.unit;
        active.sort_by(|a, b| time(a).total_cmp(&time(b)).then(a.index.cmp(&b.index)));
        let mut rates = share(&capacities, &active, sharing);
        use_up(&capacities, &mut usable, &active, &mut rates);
        let start = flows.get(next).map_or(f64::INFINITY, |flow| flow.start.as_secs_f64());
        let mut step = start - now;
        for (place, (flow, rate)) in active.iter().zip(&rates).enumerate() {
            step = step.min(flow.left / rate);
            for (ahead, other) in active[..place].iter().zip(&rates) {
                let closing = rate / flow.unit - other / ahead.unit;
                if closing > 0.0 {
                    // A little later, so that the flow has passed the other.
                    step = step.min((time(flow) - time(ahead)) / closing + 1e-12);
                }
            }
        }
        now += step;
        for (flow, rate) in active.iter_mut().zip(&rates) {
            flow.left -= rate * step;
            ends[flow.index] = now;
        }
        active.retain(|flow| flow.left > 0.1);
        while flows.get(next).is_some_and(|flow| flow.start.as_secs_f64() <= now + 1e-13) {
            let flow = &flows[next];
            let ports: Vec<PortId> =
                Ecmp::new(1).path(network, flow.id, flow.src, flow.dst).collect();
            let path: Vec<u32> = ports.iter().map(|port| port.0).collect();
            let peak = path.iter().map(|link| capacities[*link as usize]);
            let is_optimal = *sharing == Sharing::LEAST_TIME_LEFT_FIRST;
            let unit = if is_optimal { peak.fold(f64::INFINITY, f64::min) } else { 1.0 };
            let left = wire_bits(flow.size, Bytes::new(PACKET_HEADER));
            // There is only one path, so acknowledgements come back on it.
            let way_back = ports.iter().map(|port| network.reverse(*port).0).collect();
            let packets = flow.size.get().div_ceil(1460);
            let back = packets.div_ceil(3) as f64 * 300.0;
            let ratio =
                if is_optimal { 0.0 } else { back / (flow.size.get() + packets * 40) as f64 };
            active.push(Active { index: next, path, way_back, ratio, left, unit });
            next += 1;
        }
    }
    ends
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn ends_are_those_from_scratch(flows in any_flows()) {
        let network = network();
        for sharing in [Sharing::MaxMin, Sharing::SHORTEST_REMAINING_FIRST, Sharing::LEAST_TIME_LEFT_FIRST] {
            let found = ends(&network, &flows, &sharing);
            let expected = from_scratch(&network, &flows, &sharing);
            for (flow, (found, expected)) in flows.iter().zip(found.iter().zip(&expected)) {
                // The delivery time of the last packet, which depends on the flow alone.
                let alone = [Flow { id: 0, start: Time::ZERO, ..*flow }];
                let last = ends(&network, &alone, &sharing)[0]
                    - from_scratch(&network, &alone, &sharing)[0];
                let difference = (found - last - expected).abs();
                prop_assert!(difference < 1e-8, "{sharing:?}: {found} - {last} for {expected}");
            }
        }
    }
}
