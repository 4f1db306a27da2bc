//! Checks for buffers that are too small for the traffic.

use flowsched_schemes::catalogue;
use flowsched_schemes::port::PortFamily;
use flowsched_schemes::port::parameters::{
    BUFFER, BUFFER_SHARING, DYNAMIC_ALPHA, HOST_PORT, OVERFLOW, SWITCH_MEMORY,
};
use flowsched_schemes::transport::tcp::parameters::INITIAL_WINDOW;
use flowsched_units::{Bytes, Settings, Time, Value};

use super::bursts::{Burst, worst_burst};
use super::surroundings::Surroundings;
use super::together::Together;

/// Warns if the initial windows of flows that start together exceed the buffer of a host's port.
pub(super) fn initial_windows(settings: &Settings, scene: &Surroundings<'_>) -> Option<String> {
    let buffer = buffer(settings)?;
    let Some(Value::Count(window)) = settings.get(&INITIAL_WINDOW) else { return None };
    let at_senders = !settings.is(&HOST_PORT, "fifo");
    let Together { known, arrivals } = &scene.together;
    let of_known = worst_burst(scene.network, known, *window, at_senders);
    let of_arrivals = arrivals.iter().map(|(flows, sizes)| Burst::of_mean(*flows, sizes, *window));
    let worst = of_arrivals.chain(of_known).max_by_key(|burst| burst.waiting)?;
    let Burst { flows, span, packets, waiting } = worst;
    let one_or_more = match (flows, span) {
        (1, _) => "a flow sends".to_owned(),
        (_, Time::ZERO) => format!("{flows} flows that start together send"),
        _ => format!("{flows} flows that start within {span} send"),
    };
    (waiting > buffer).then(|| {
        format!(
            "{one_or_more} {packets} packets in initial windows (initial_window = {window}) through \
             one port, more than a buffer of {buffer} holds: packets are lost before any sender \
             learns of the queue. Raise buffer or lower initial_window."
        )
    })
}

/// Warns if the buffer is so small that one flow cannot keep its path busy after a loss.
pub(super) fn bandwidth_delay_product(
    settings: &Settings,
    scene: &Surroundings<'_>,
) -> Option<String> {
    let (buffer, path) = (buffer(settings)?, &scene.path);
    let product = path.bandwidth_delay_product();
    (buffer < product).then(|| {
        format!(
            "a buffer of {buffer} is below the bandwidth-delay product of {product} ({} and a round \
             trip of {}): a flow that loses a packet leaves its links idle. Raise buffer.",
            path.rate, path.rtt
        )
    })
}

/// The most bytes that a busy port may hold. `None` for ports that are built to drop the least
/// urgent packets.
pub(super) fn buffer(settings: &Settings) -> Option<Bytes> {
    let size = |parameter| match settings.get(parameter) {
        Some(Value::Size(size)) => Some(*size),
        _ => None,
    };
    let port = catalogue::port(settings)?;
    if port.drops_least_urgent() {
        return None;
    }
    if settings.is(&BUFFER_SHARING, "queue") && settings.is(&OVERFLOW, "demote") {
        // Packets that find their queue full wait in a lower queue.
        let queues = port.settings().queues as u64;
        return size(&BUFFER).map(|buffer| Bytes::new(buffer.get().saturating_mul(queues)));
    }
    if !settings.is(&BUFFER_SHARING, "switch") {
        return size(&BUFFER);
    }
    let alpha = settings.number(&DYNAMIC_ALPHA);
    // A single busy queue grows to alpha times the memory that it leaves free.
    let share = size(&SWITCH_MEMORY)?.get() as f64 * alpha / (1.0 + alpha);
    Some(Bytes::new(share as u64))
}
