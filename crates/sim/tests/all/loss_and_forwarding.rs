//! Links that lose packets, and hosts that send packets on for others.

use crate::common::{flow, network, run, scheme};
use flowsched_topology::{HostId, Network, Routing};
use flowsched_units::Time;
use flowsched_workload::Flow;

/// A star whose links each lose this share of their packets.
fn lossy(loss: &str) -> Network {
    network("star", &[("hosts", "4"), ("loss", loss)])
}

fn some_flows(count: u32) -> Vec<Flow> {
    (0..count).map(|id| flow(id, id % 3, 3, 40, Time::from_us(u64::from(id) * 400))).collect()
}

#[test]
fn the_share_that_is_asked_for_is_lost_and_everything_still_arrives() {
    let flows = some_flows(150);
    let outcome = run(&lossy("0.02"), Routing::Ecmp, &flows, &scheme("tcp", "none", &[]));
    assert!(outcome.flows.iter().all(|flow| flow.finished_at_sender.is_some()));
    // There are about 26,000 packets and more. 99.9% of binomial draws are within 3.3 deviations.
    let (hops, lost) = ((outcome.packet_hops) as f64, outcome.drops as f64);
    let deviation = (hops * 0.02 * 0.98).sqrt();
    assert!((lost - 0.02 * hops).abs() < 3.3 * deviation, "{lost} of {hops}");
    assert!(outcome.retransmissions > 0);
    let safe = run(&lossy("0"), Routing::Ecmp, &flows, &scheme("tcp", "none", &[]));
    assert_eq!((safe.drops, safe.retransmissions), (0, 0));
}

#[test]
fn hosts_of_a_bcube_forward_and_use_all_their_ports() {
    // BCube(2, 1): four servers with two ports; 0 and 3 differ in both digits, so that packets
    // come by server 1 or 2 (PDQ 2012, 6 and Figure 11).
    let cube = network("bcube", &[("n", "2"), ("k", "1")]);
    let flows: Vec<Flow> = (0..16).map(|id| flow(id, 0, 3, 50, Time::ZERO)).collect();
    let outcome = run(&cube, Routing::Ecmp, &flows, &scheme("dctcp", "none", &[]));
    assert!(outcome.flows.iter().all(|flow| flow.finished_at_receiver.is_some()));
    let last = &outcome.ports[outcome.ports.len() - cube.ports().len()..];
    let sent_by = |host: u32| -> u64 {
        cube.nics(HostId(host)).iter().map(|port| last[port.index()].sent_packets).sum()
    };
    let packets = flows.len() as u64 * 50;
    assert!(sent_by(0) >= packets && sent_by(3) >= packets);
    assert_eq!(sent_by(1) + sent_by(2), sent_by(0) + sent_by(3), "each packet by one other server");
    for port in cube.nics(HostId(0)) {
        assert!(last[port.index()].sent_packets > 0, "both ports are used");
    }
}
