//! Checks that no byte or packet is lost without being counted, and that none comes from nowhere.

use std::collections::BTreeMap;

use flowsched_experiment::results::{FlowRow, PortRow};
use flowsched_units::PACKET_PAYLOAD;

use crate::study::{Back, RunView};
use crate::violation::Violations;

/// The most bytes by which rounding may change a port's count, for each flow.
const ROUNDING: f64 = 2.0;

/// Checks the counters of the run at its end.
pub fn judge(run: &RunView, found: &mut Violations) {
    if run.samples.is_empty() {
        return;
    }
    totals(run, found);
    payload(run, found);
    if run.promises.has_packets {
        packets_on_links(run, found);
        switches(run, found);
    } else if let Some(back) = run.promises.exact.filter(|_| run.is_over()) {
        fluid(run, back, found);
    }
}

fn sum_of(run: &RunView, counter: fn(&PortRow) -> u64) -> u64 {
    run.last().iter().map(counter).sum()
}

/// Checks that the totals of the summary are the sums of the tables.
fn totals(run: &RunView, found: &mut Violations) {
    let of_flows = |counter: fn(&FlowRow) -> u64| run.flows.iter().map(counter).sum::<u64>();
    let summary = &run.summary;
    let pairs = [
        ("drops", summary.drops, sum_of(run, |sample| sample.drops)),
        ("ecn_marks", summary.ecn_marks, sum_of(run, |sample| sample.ecn_marks)),
        ("timeouts", summary.timeouts, of_flows(|flow| flow.timeouts)),
        ("retransmissions", summary.retransmissions, of_flows(|flow| flow.retransmissions)),
    ];
    for (name, summed, counted) in pairs {
        found.require(summed == Some(counted), "totals", || {
            format!("{}: {name} {summed:?} in the summary, {counted} in the tables", run.name())
        });
    }
}

/// Checks that a host's links have carried at least the payload of its flows that have arrived.
fn payload(run: &RunView, found: &mut Violations) {
    let mut sent: BTreeMap<u32, u64> = BTreeMap::new();
    let mut received = sent.clone();
    for flow in run.flows.iter().filter(|flow| flow.receiver_fct.is_some()) {
        *sent.entry(flow.src).or_default() += flow.size.get();
        *received.entry(flow.dst).or_default() += flow.size.get();
    }
    let last = run.last();
    let mut check = |host: &u32, bytes: &u64, ports: Vec<usize>, way: &str| {
        let carried: u64 = ports.iter().map(|port| last[*port].tx_bytes).sum();
        let flows = run.flows.len() as f64;
        found.require(carried as f64 + ROUNDING * flows >= *bytes as f64, "payload", || {
            format!("{}: {way} host {host}: {bytes} B arrived, {carried} B sent", run.name())
        });
    };
    sent.iter()
        .for_each(|(host, bytes)| check(host, bytes, run.ports_from(*host).collect(), "from"));
    received
        .iter()
        .for_each(|(host, bytes)| check(host, bytes, run.ports_to(*host).collect(), "to"));
}

/// Checks that each packet that a port sent reached the far end of its link, was lost, or is on its
/// way. `drops` counts the packets that links lose, at the ports that sent them.
fn packets_on_links(run: &RunView, found: &mut Violations) {
    let sent = sum_of(run, |sample| sample.tx_packets);
    let queued = sum_of(run, |sample| sample.queue_packets);
    let drops = sum_of(run, |sample| sample.drops);
    let hops = run.summary.packet_hops;
    let lost: u64 = run.flows.iter().map(|flow| flow.packets.lost).sum();
    let arrived: u64 = run.flows.iter().map(|flow| flow.packets.arrived).sum();
    let has_all = !(run.promises.is_lossless && run.is_over()) || (hops, queued) == (sent, 0);
    let is_bounded = hops <= sent && lost <= drops && arrived <= hops;
    found.require(has_all && is_bounded, "packets on links", || {
        format!(
            "{}: {sent} packets sent, {hops} arrived at the end of a link, {queued} queued, \
             {drops} dropped; of flows {lost} lost, {arrived} arrived",
            run.name()
        )
    });
}

/// Checks that each packet that came to a switch left it, was dropped, or waits there. Where links
/// lose packets, not all packets that were sent to the switch came, and some of the drops are
/// losses on links.
fn switches(run: &RunView, found: &mut Violations) {
    if !run.promises.is_quiet_inside {
        return;
    }
    let sent = sum_of(run, |sample| sample.tx_packets);
    let is_lossless = run.promises.is_lossless;
    let is_exact = is_lossless && run.summary.packet_hops == sent;
    let mut came: BTreeMap<&str, u64> = BTreeMap::new();
    let mut went: BTreeMap<&str, u64> = BTreeMap::new();
    for (port, sample) in run.ports.iter().zip(run.last()) {
        *came.entry(&port.peer).or_default() += sample.tx_packets;
        if !of_host(port) {
            *went.entry(&port.owner).or_default() += sample.tx_packets
                + sample.queue_packets
                + if is_lossless { sample.drops } else { 0 };
        }
    }
    for (switch, went) in went {
        let came = came.get(switch).copied().unwrap_or(0);
        let fits = if is_exact { went == came } else { went <= came };
        found.require(fits, "packets at a switch", || {
            format!("{}: {switch}: {came} came, {went} went, wait or were dropped", run.name())
        });
    }
}

fn of_host(port: &flowsched_experiment::results::PortRecord) -> bool {
    port.class.starts_with("host to ")
}

/// Checks that the ports of hosts have carried the payload and headers of the flows that they sent,
/// and the acknowledgements of those that they received.
fn fluid(run: &RunView, back: Back, found: &mut Violations) {
    if hosts_forward(run) || run.flows.iter().any(|flow| !flow.finished()) {
        return;
    }
    let mut expected: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for flow in &run.flows {
        let packets = flow.size.get().div_ceil(PACKET_PAYLOAD);
        let sent = expected.entry(flow.src).or_default();
        *sent = (sent.0 + flow.size.get() + packets * run.promises.header.get(), sent.1 + 1);
        let acknowledged = expected.entry(flow.dst).or_default();
        let bytes = packets.div_ceil(back.packets.max(1)) * back.size;
        *acknowledged = (acknowledged.0 + bytes, acknowledged.1 + 1);
    }
    for (host, (bytes, flows)) in expected {
        let carried: u64 = run.ports_from(host).map(|port| run.last()[port].tx_bytes).sum();
        let slack = ROUNDING * flows as f64 + bytes as f64 * 1e-9;
        found.require((carried as f64 - bytes as f64).abs() <= slack, "bytes of fluids", || {
            format!("{}: host {host}: {bytes} B of flows, {carried} B sent", run.name())
        });
    }
}

/// Whether some host has several ports. Such hosts forward the traffic of others.
fn hosts_forward(run: &RunView) -> bool {
    let mut hosts: Vec<&str> =
        run.ports.iter().filter(|port| of_host(port)).map(|port| port.owner.as_str()).collect();
    let ports = hosts.len();
    hosts.sort_unstable();
    hosts.dedup();
    hosts.len() != ports
}

#[cfg(test)]
mod tests {
    use flowsched_experiment::results::PortRecord;
    use flowsched_units::{Bytes, Rate, Time};

    use super::*;

    /// A run with two hosts at one switch. A flow of two packets went from the first host to the
    /// second.
    fn good() -> RunView {
        let port = |owner: &str, peer: &str, class: &str| PortRecord {
            owner: owner.into(),
            peer: peer.into(),
            class: class.into(),
            rate: Rate::from_gbps(1),
        };
        let ports = vec![
            port("a", "s", "host to switch"),
            port("b", "s", "host to switch"),
            port("s", "a", "switch to host"),
            port("s", "b", "switch to host"),
        ];
        let (data, acks) = (3_000, 80);
        let sample =
            |(port, bytes)| PortRow { port, tx_bytes: bytes, tx_packets: 2, ..PortRow::default() };
        let mut flow = FlowRow {
            src: 0,
            dst: 1,
            size: Bytes::new(2_920),
            fct: Some(Time::from_us(2)),
            receiver_fct: Some(Time::from_us(1)),
            ..FlowRow::default()
        };
        flow.packets.arrived = 2;
        let samples = [(0, data), (1, acks), (2, acks), (3, data)].into_iter().map(sample);
        let mut run =
            RunView { flows: vec![flow], ports, samples: samples.collect(), ..RunView::default() };
        (run.summary.complete, run.summary.packet_hops) = (true, 8);
        (run.summary.timeouts, run.summary.retransmissions) = (Some(0), Some(0));
        (run.summary.drops, run.summary.ecn_marks) = (Some(0), Some(0));
        run.promises.has_packets = true;
        run.promises.is_lossless = true;
        run.promises.is_quiet_inside = true;
        run
    }

    /// The run of `good` as the fluid engine would report it, without packets.
    fn good_fluid() -> RunView {
        let mut run = good();
        run.promises.has_packets = false;
        run.promises.header = Bytes::new(40);
        run.promises.exact = Some(Back { size: 40, packets: 1 });
        run.samples.iter_mut().for_each(|sample| sample.tx_packets = 0);
        run
    }

    fn kinds(mut run: RunView, change: impl FnOnce(&mut RunView)) -> Vec<String> {
        change(&mut run);
        let mut found = Violations::default();
        judge(&run, &mut found);
        found.into_vec().into_iter().map(|violation| violation.kind).collect()
    }

    #[test]
    fn good_runs_break_no_rule() {
        assert!(kinds(good(), |_| {}).is_empty());
        assert!(kinds(good_fluid(), |_| {}).is_empty());
    }

    #[test]
    fn sums_are_those_of_the_tables() {
        assert_eq!(kinds(good(), |run| run.summary.timeouts = Some(1)), ["totals"]);
        assert_eq!(kinds(good(), |run| run.summary.ecn_marks = Some(1)), ["totals"]);
    }

    #[test]
    fn payload_is_carried_by_both_hosts_links() {
        let short = |port: usize| move |run: &mut RunView| run.samples[port].tx_bytes = 2_900;
        assert_eq!(kinds(good(), short(0)), ["payload"]);
        assert_eq!(kinds(good(), short(3)), ["payload"]);
    }

    #[test]
    fn packets_that_vanish_or_appear_are_told() {
        let vanished = |run: &mut RunView| run.summary.packet_hops = 7;
        assert_eq!(kinds(good(), vanished), ["packets on links"]);
        let in_flight = |run: &mut RunView| {
            vanished(run);
            run.promises.until = Some(Time::from_us(2));
        };
        assert!(kinds(good(), in_flight).is_empty());
        assert_eq!(kinds(good(), |run| run.flows[0].packets.lost = 1), ["packets on links"]);
        let swallowed = |run: &mut RunView| {
            (run.samples[3].tx_packets, run.summary.packet_hops) = (1, 7);
        };
        assert_eq!(kinds(good(), swallowed), ["packets at a switch"]);
        let made = |run: &mut RunView| {
            swallowed(run);
            run.promises.is_lossless = false;
        };
        assert!(kinds(good(), made).is_empty());
        let made = |run: &mut RunView| {
            (run.samples[3].tx_packets, run.summary.packet_hops) = (3, 9);
            run.promises.is_lossless = false;
        };
        assert_eq!(kinds(good(), made), ["packets at a switch"]);
    }

    #[test]
    fn fluids_carry_headers_and_acknowledgements() {
        let less = |run: &mut RunView| run.samples[0].tx_bytes = 2_960;
        assert_eq!(kinds(good_fluid(), less), ["bytes of fluids"]);
        assert_eq!(kinds(good_fluid(), |run| run.samples[1].tx_bytes = 0), ["bytes of fluids"]);
    }
}
