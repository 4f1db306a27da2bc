//! What a probe records of scenes whose queue, rate and window are known.

use std::ops::ControlFlow;

use crate::common::{flow, network, scheme};
use flowsched_schemes::world::{Every, FlowState, Probe, Probing, Seen, Threads, Watch};
use flowsched_sim::{Job, PortSample, Progress};
use flowsched_theory::dctcp::SawTooth;
use flowsched_topology::{HostId, Link, Network, NetworkBuilder, Routing};
use flowsched_units::{Bytes, Rate, Time};
use flowsched_workload::Flow;

/// What a probe of every change sees of the port to host 0 and of flow 0.
struct Record {
    ports: Vec<(PortSample, Option<f64>)>,
    flows: Vec<FlowState>,
}

fn record(network: &Network, flows: &[Flow], settings: &[(&str, &str)], until: Time) -> Record {
    let job = Job {
        network,
        routing: Routing::Ecmp,
        flows,
        seed: 1,
        sample_interval: Time::ZERO,
        until: Some(until),
    };
    let ports = vec![network.port_to(HostId(0)).0];
    let probe = Probe { ports, flows: vec![0], every: Every::Change };
    let mut record = Record { ports: Vec::new(), flows: Vec::new() };
    let mut seen = |seen| {
        match seen {
            Seen::Port { sample, rate } => record.ports.push((sample, rate)),
            Seen::Flow(flow) => record.flows.push(flow),
        }
        ControlFlow::Continue(())
    };
    let mut samples = |_: &[PortSample]| ControlFlow::Continue(());
    let progress = Progress::default();
    let probing = Some(Probing { probe: &probe, seen: &mut seen });
    let mut watch =
        Watch { threads: Threads::one(), progress: &progress, samples: &mut samples, probing };
    let scheme = scheme("dctcp", "none", settings);
    flowsched_sim::run_watched(&job, &scheme, &mut watch);
    record
}

/// The mean over time, from `from` to `to`, of a value that holds from each row to the next.
fn mean_over_time(rows: impl Iterator<Item = (Time, f64)>, from: Time, to: Time) -> f64 {
    let (mut sum, mut last) = (0.0, (from, 0.0));
    for (time, value) in rows.chain([(to, 0.0)]) {
        let time = time.clamp(from, to);
        sum += last.1 * (time - last.0).as_secs_f64();
        last = (time, value);
    }
    sum / (to - from).as_secs_f64()
}

/// Two senders send 20 packets each, at the rate of the receiver's link. In each packet time two packets
/// come and one leaves, until all 40 have come. Then one leaves in each packet time.
#[test]
fn a_known_queue() {
    let network = network("star", &[("hosts", "3")]);
    let flows = [flow(0, 1, 0, 20, Time::ZERO), flow(1, 2, 0, 20, Time::ZERO)];
    let settings = [("initial_window", "20"), ("ecn_threshold", "1000pkt")];
    let Record { ports, flows } = record(&network, &flows, &settings, Time::from_ms(100));
    let packet_time = Rate::from_gbps(10).transmission_time(Bytes::new(1500));
    let expected: Vec<u32> = (0..=20).chain((0..20).rev()).collect();
    let queues: Vec<u32> = ports.iter().map(|(port, _)| port.queue_packets).collect();
    assert_eq!(queues, expected);
    // The first row is of the start, and the second one of the first packets' arrival.
    let start = ports[1].0.time;
    for ((port, rate), row) in ports[1..].iter().zip(0..) {
        assert_eq!(port.time - start, packet_time * row);
        let expected = if row == 0 { 0.0 } else { 10e9 };
        assert!(rate.is_some_and(|rate| (rate - expected).abs() < 1e3), "{rate:?} in row {row}");
    }
    assert_eq!(ports[0].1, None);
    // The senders have sent everything at once; ACKs bring what is in flight down to nothing.
    let in_flight = flows.iter().filter_map(|flow| flow.sender.in_flight).max();
    assert_eq!(in_flight.map(|bytes| bytes.get()), Some(20 * 1460));
}

/// DCTCP's saw-tooth (Alizadeh et al., SIGCOMM 2010, 3.3) for two senders at 10 Gbps, K = 65 packets.
#[test]
fn the_saw_tooth_of_dctcp() {
    const ROUND_TRIP: Time = Time::from_us(85);
    let rate = Rate::from_gbps(10);
    // The round trip is the delay of four links and the transmission of a packet and its ACK.
    let delay = (ROUND_TRIP - Time::from_ns(1_360)) / 4;
    let mut builder = NetworkBuilder::new();
    let switch = builder.tier("switch", 1)[0];
    builder.host(switch, Link { rate, delay });
    builder.hosts(2, switch, Link { rate: Rate::from_gbps(100), delay });
    let network = builder.finish().unwrap();
    let flows = [0, 1].map(|id| flow(id, 1 + id, 0, 10_000_000, Time::from_us(id.into())));
    let settings = [("max_window", "2000"), ("buffer", "unlimited"), ("ecn_threshold", "65pkt")];
    let (warm, end) = (Time::from_ms(50), Time::from_ms(200));
    let Record { ports, flows } = record(&network, &flows, &settings, end);
    let bandwidth_delay = rate.as_bytes_per_sec_f64() / 1500.0 * ROUND_TRIP.as_secs_f64();
    let theory = SawTooth::new(bandwidth_delay, 65.0, 2);

    let queue = ports.iter().map(|(port, _)| (port.time, f64::from(port.queue_packets)));
    let queue_mean = mean_over_time(queue, warm, end);
    let alpha = flows.iter().map(|flow| (flow.time, flow.sender.alpha.expect("of DCTCP")));
    let alpha = mean_over_time(alpha, warm, end);
    let after_warm = flows.iter().filter(|flow| flow.time > warm);
    let windows = after_warm.map(|flow| flow.sender.window.expect("of TCP").get() as f64 / 1460.0);
    let (least, most) = windows
        .fold((f64::MAX, 0.0_f64), |(least, most), window| (least.min(window), most.max(window)));
    println!("queue {queue_mean:.1}, alpha {alpha:.3}, window {least} to {most}; {theory:?}");
    let is_close = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.1;
    assert!(is_close(queue_mean, theory.queue_mean), "{queue_mean} for {theory:?}");
    assert!(is_close(alpha, theory.alpha), "{alpha} for {theory:?}");
    assert!(is_close(most, theory.window + 1.0), "{most} for {theory:?}");
    assert!(ports.last().expect("rows").0.marks > 1_000);
}
