//! Marking thresholds that go neither with the time-out nor with the links.

use flowsched_units::{Bytes, PACKET_WIRE, Settings, Value};

use super::Surroundings;

/// DCTCP needs a threshold above this share of the bandwidth-delay product to keep a link busy
/// (Alizadeh et al., SIGCOMM 2010, 3.4, equation 13).
const LEAST: f64 = 1.0 / 7.0;

/// A threshold above so many bandwidth-delay products is one of faster links. ECN\* needs one
/// (PIAS ToN 2017, III-B.3). With round trips of 100 to 130 us at 1 Gbps, the usual 20 packets are
/// about two, EPN's 40 between three and five, and the 65 packets of 10 Gbps six or more.
const MOST: f64 = 5.0;

/// A sender takes a packet for lost that waits below the marking threshold.
pub(super) fn spurious_timeouts(settings: &Settings, scene: &Surroundings<'_>) -> Option<String> {
    let (threshold, path) = (threshold(settings)?, &scene.path);
    let Some(Value::Time(rto_min)) = settings.get("rto_min") else { return None };
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

/// The marking threshold suits another rate.
pub(super) fn threshold_of_another_rate(
    settings: &Settings,
    scene: &Surroundings<'_>,
) -> Option<String> {
    let (threshold, path) = (threshold(settings)?, &scene.path);
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

/// The marking threshold, where there is one and senders heed marks.
fn threshold(settings: &Settings) -> Option<Bytes> {
    let heeds_marks = ["ecn-star", "dctcp", "l2dct", "d2tcp"];
    let transport = settings.text("transport");
    match settings.get("ecn_threshold") {
        Some(Value::Size(size)) if heeds_marks.contains(&transport.as_str()) => Some(*size),
        _ => None,
    }
}
