//! Checks for marking thresholds that suit neither the time-out nor the links.

use flowsched_schemes::Role;
use flowsched_schemes::catalogue;
use flowsched_schemes::port::parameters::{BUFFER, ECN_THRESHOLD, SWITCH_MEMORY};
use flowsched_schemes::port::{EcnScope, MemorySharing, PortFamily};
use flowsched_schemes::transport::tcp::parameters::RTO_MIN;
use flowsched_units::{Bytes, PACKET_WIRE, Settings, Value};

use super::buffers::buffer;
use super::surroundings::Surroundings;

/// DCTCP needs a threshold above this share of the bandwidth-delay product to keep a link busy
/// (Alizadeh et al., SIGCOMM 2010, 3.4, equation 13).
const LEAST: f64 = 1.0 / 7.0;

/// A threshold above this many bandwidth-delay products suits faster links. ECN\* needs one product
/// (PIAS ToN 2017, III-B.3). With round trips of 100 to 130 us at 1 Gbps, the usual 20 packets are
/// about two products, EPN's 40 between three and five, and the 65 packets of 10 Gbps six or more.
const MOST: f64 = 5.0;

/// Warns if a packet can wait longer than `rto_min` in a queue that is below the marking threshold.
pub(super) fn spurious_timeouts(settings: &Settings, scene: &Surroundings<'_>) -> Option<String> {
    let (threshold, path) = (threshold_that_marks(settings)?, &scene.path);
    let Some(Value::Time(rto_min)) = settings.get(&RTO_MIN) else { return None };
    let wait = path.rate.transmission_time(threshold);
    (*rto_min < wait).then(|| {
        format!(
            "packets may wait {wait} at {rate} before the marking threshold of {threshold} is \
             reached, longer than rto_min = {rto_min}: senders time out without a loss. Raise \
             rto_min or lower ecn_threshold.",
            rate = path.rate
        )
    })
}

/// Warns if no packet is ever marked, because no queue exceeds the threshold.
pub(super) fn no_marks(settings: &Settings, _: &Surroundings<'_>) -> Option<String> {
    let threshold = threshold(settings)?;
    let transport = settings.text(Role::Transport.parameter());
    if threshold == Bytes::MAX {
        return Some(format!(
            "no packet is marked with ecn_threshold = \"unlimited\", and {transport} slows down by \
             marks alone until it loses packets. Set ecn_threshold, or use a transport without \
             marks."
        ));
    }
    let most = most_that_waits(settings)?;
    (most <= threshold).then(|| {
        format!(
            "no packet is marked: at most {most} wait where the marking threshold is {threshold}, so \
             packets are lost before {transport} hears of the queue. Lower ecn_threshold or raise \
             the buffer."
        )
    })
}

/// The largest backlog that is compared with the marking threshold. `None` if there is no port or no
/// buffer size, or if a port with one buffer for all queues drops the least urgent packets.
fn most_that_waits(settings: &Settings) -> Option<Bytes> {
    let port = catalogue::port(settings)?.settings();
    let queues = match port.ecn_scope {
        EcnScope::Port => port.queues as u64,
        EcnScope::Queue => 1,
    };
    match port.sharing {
        MemorySharing::Port(_) => buffer(settings),
        MemorySharing::Queue(_) => {
            let Some(Value::Size(own)) = settings.get(&BUFFER) else { return None };
            Some(Bytes::new(own.get().saturating_mul(queues)))
        }
        MemorySharing::Switch { alpha, .. } => {
            // Each busy queue grows to alpha times the memory that all busy queues leave free.
            let busy = alpha * queues as f64;
            let memory = settings.size(&SWITCH_MEMORY).get() as f64;
            Some(Bytes::new((memory * busy / (1.0 + busy)) as u64))
        }
    }
}

/// Warns if the marking threshold suits another rate.
pub(super) fn threshold_of_another_rate(
    settings: &Settings,
    scene: &Surroundings<'_>,
) -> Option<String> {
    let (threshold, path) = (threshold_that_marks(settings)?, &scene.path);
    let product = path.bandwidth_delay_product();
    let ratio = threshold.get() as f64 / product.get() as f64;
    let harm = match ratio {
        _ if ratio < LEAST => "too low to keep links busy",
        _ if ratio > MOST => "so high that queues stay long",
        _ => return None,
    };
    let packets = |size: Bytes| size.get() as f64 / PACKET_WIRE as f64;
    Some(format!(
        "the marking threshold of {:.0} packets is {ratio:.2} times the bandwidth-delay product of \
         {:.1} packets ({} and a round trip of {}), {harm}. Set ecn_threshold near the product.",
        packets(threshold),
        packets(product),
        path.rate,
        path.rtt,
    ))
}

/// The marking threshold, if packets may be marked and senders heed marks.
fn threshold_that_marks(settings: &Settings) -> Option<Bytes> {
    threshold(settings).filter(|threshold| {
        *threshold != Bytes::MAX && most_that_waits(settings).is_none_or(|most| *threshold < most)
    })
}

/// The marking threshold, if there is one and senders heed marks.
fn threshold(settings: &Settings) -> Option<Bytes> {
    match settings.get(&ECN_THRESHOLD) {
        Some(Value::Size(size)) if catalogue::heeds_marks(settings) => Some(*size),
        _ => None,
    }
}
