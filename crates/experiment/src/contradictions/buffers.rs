//! Buffers that are too small for what is sent into them.

use flowsched_schemes::port::PortSettings;
use flowsched_topology::Network;
use flowsched_units::{Bytes, PACKET_PAYLOAD, PACKET_WIRE, Settings, Time, Value};
use flowsched_workload::sizes::SizeDistribution;

use super::path::LongestPath;
use crate::experiment::Scene;
use crate::workload::Traffic;

/// The first windows of the flows that start together are more than the receiver's port holds.
pub(super) fn initial_windows(
    settings: &Settings,
    scene: &Scene,
    network: &Network,
    _: &LongestPath,
) -> Option<String> {
    let buffer = buffer(settings)?;
    let Some(Value::Count(window)) = settings.get("initial_window") else { return None };
    let longest = window.saturating_mul(PACKET_PAYLOAD) as f64;
    let burst = |(senders, sizes): (u64, &SizeDistribution)| {
        let packets = sizes.partial_mean(longest) / PACKET_PAYLOAD as f64;
        (senders, senders as f64 * packets)
    };
    let bursts = bursts(&scene.workload.traffic, &scene.workload.settings, network);
    let (senders, packets) =
        bursts.into_iter().map(burst).max_by(|one, other| one.1.total_cmp(&other.1))?;
    // While the burst comes in, the port sends what one of the senders sends.
    let waiting = packets * (1.0 - 1.0 / senders as f64) * PACKET_WIRE as f64;
    (waiting > buffer.get() as f64).then(|| {
        format!(
            "{senders} flows that start together send {packets:.0} packets in their initial windows \
             (initial_window = {window}), more than a buffer of {buffer} holds: packets are lost \
             before any sender learns of the queue. Raise buffer or lower initial_window."
        )
    })
}

/// One flow cannot keep its path busy after a loss.
pub(super) fn bandwidth_delay_product(
    settings: &Settings,
    _: &Scene,
    _: &Network,
    path: &LongestPath,
) -> Option<String> {
    let buffer = buffer(settings)?;
    let product = path.bandwidth_delay_product();
    (buffer < product).then(|| {
        format!(
            "a buffer of {buffer} is below the bandwidth-delay product of {product} ({} and a round \
             trip of {}): a flow that loses a packet leaves its links idle. Raise buffer.",
            path.rate, path.rtt
        )
    })
}

/// What a busy port may hold; none for ports that are built to drop the least urgent packets.
fn buffer(settings: &Settings) -> Option<Bytes> {
    let size = |key| match settings.get(key) {
        Some(Value::Size(size)) => Some(*size),
        _ => None,
    };
    let is = |key, word: &str| matches!(settings.get(key), Some(Value::Text(text)) if text == word);
    if is("port", "pfabric") {
        return None;
    }
    if is("buffer_sharing", "queue") && is("overflow", "demote") {
        // Packets that find their queue full wait in the lower ones.
        let queues = PortSettings::from_settings(settings).queues as u64;
        return size("buffer").map(|buffer| Bytes::new(buffer.get().saturating_mul(queues)));
    }
    if !is("buffer_sharing", "switch") {
        return size("buffer");
    }
    let alpha = settings.number("dynamic_alpha");
    // A single busy queue grows to alpha times what it leaves free.
    let share = size("switch_memory")?.get() as f64 * alpha / (1.0 + alpha);
    Some(Bytes::new(share as u64))
}

/// How many flows start together towards one host, and their sizes, in every part of the traffic
/// that is so.
fn bursts<'a>(
    traffic: &'a Traffic,
    whole: &'a Settings,
    network: &Network,
) -> Vec<(u64, &'a SizeDistribution)> {
    let hosts = u64::from(network.host_count());
    let of = |settings: &Settings, flows: u64| {
        let is_at_once = matches!(settings.get("at"), Some(Value::Time(_)))
            && settings.time("every") == Time::ZERO
            && settings.time("stagger") == Time::ZERO;
        match settings.text("pattern").as_str() {
            "incast" => settings.count("degree").min(flows),
            "many-to-one" if is_at_once => flows.min(hosts.saturating_sub(1)),
            _ => 1,
        }
    };
    match traffic {
        Traffic::Drawn(sizes) => vec![(of(whole, whole.count("flows")), sizes)],
        Traffic::Trace(_) => Vec::new(),
        Traffic::Parts(parts) => {
            let flows = |own: Option<u64>| own.unwrap_or(whole.count("flows"));
            parts
                .parts
                .iter()
                .map(|part| (of(&part.settings, flows(part.flows)), &part.sizes))
                .collect()
        }
    }
}
