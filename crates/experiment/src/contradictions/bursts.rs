//! Computes the queues at hosts' ports that initial windows alone cause.
//!
//! No transport can keep these queues shorter, because the windows are sent before any sender hears
//! from the network. The model treats packets as a fluid, and assumes that the rest of the network
//! takes no time.

use flowsched_topology::{HostId, Network};
use flowsched_units::{Bytes, PACKET_PAYLOAD, PACKET_WIRE, Rate, Time};
use flowsched_workload::sizes::SizeDistribution;
use flowsched_workload::{Flow, wire_bytes};

/// The initial windows that reach a port during one busy period, until its queue is longest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Burst {
    /// The number of flows that the windows belong to.
    pub flows: u64,
    /// From the first start of these flows to the last.
    pub span: Time,
    /// The packets of the windows.
    pub packets: u64,
    /// The longest queue.
    pub waiting: Bytes,
}

impl Burst {
    /// The burst of flows that start at the same time towards one host over links of equal rates.
    /// Their initial windows have the mean length for these sizes.
    pub(super) fn of_mean(flows: u64, sizes: &SizeDistribution, window: u64) -> Burst {
        let longest = window.saturating_mul(PACKET_PAYLOAD) as f64;
        let packets = flows as f64 * sizes.partial_mean(longest) / PACKET_PAYLOAD as f64;
        // While the burst arrives, the port sends as much as one of the senders.
        let waiting = packets * (1.0 - 1.0 / flows as f64) * PACKET_WIRE as f64;
        let (packets, waiting) = (packets.round() as u64, Bytes::new(waiting as u64));
        Burst { flows, span: Time::ZERO, packets, waiting }
    }
}

/// An initial window on its way from its sender.
#[derive(Clone, Copy, Debug)]
struct Window {
    dst: HostId,
    /// When the flow starts.
    start: Time,
    /// When the sender puts the first byte of the window on the link, and when the last.
    sent: (Time, Time),
    rate: Rate,
    size: Bytes,
}

/// Returns the burst with the longest queue. The `flows` are sorted by start, and each of them
/// sends at most `window` packets. Queues at the senders count only with `at_senders`.
pub(super) fn worst_burst(
    network: &Network,
    flows: &[Flow],
    window: u64,
    at_senders: bool,
) -> Option<Burst> {
    let (mut windows, of_senders) = send(network, flows, window);
    windows.sort_by_key(|window| window.dst);
    let by_receiver = windows.chunk_by(|one, next| one.dst == next.dst);
    let of_receivers = by_receiver.map(|windows| receive(network, windows));
    let of_senders = of_senders.filter(|_| at_senders);
    of_receivers.chain(of_senders).max_by_key(|burst| burst.waiting)
}

/// Returns the windows as they leave their senders, and the burst with the longest queue at a
/// sender.
fn send(network: &Network, flows: &[Flow], window: u64) -> (Vec<Window>, Option<Burst>) {
    let longest = Bytes::new(window.saturating_mul(PACKET_PAYLOAD));
    let mut busy = vec![Busy::default(); network.host_count() as usize];
    let mut until = vec![Time::ZERO; busy.len()];
    let mut worst: Option<Burst> = None;
    let mut windows = Vec::with_capacity(flows.len());
    for Flow { src, dst, size, start, .. } in flows.iter().copied() {
        let rate = network.capacity_to(src);
        let (busy, until) = (&mut busy[src.index()], &mut until[src.index()]);
        if *until <= start {
            *busy = Busy::default();
        }
        let size = wire_bytes(size.min(longest));
        let from = start.max(*until);
        *until = from.saturating_add(rate.transmission_time(size));
        windows.push(Window { dst, start, sent: (from, *until), rate, size });
        busy.add(start, size);
        let burst = busy.burst(rate.bytes_in(*until - start));
        if worst.is_none_or(|worst| worst.waiting < burst.waiting) {
            worst = Some(burst);
        }
    }
    (windows, worst)
}

/// Returns the burst with the longest queue at the receiver of all these windows.
fn receive(network: &Network, windows: &[Window]) -> Burst {
    let begins = windows.iter().map(|window| (window.sent.0, false, window));
    let ends = windows.iter().map(|window| (window.sent.1, true, window));
    let mut changes: Vec<(Time, bool, &Window)> = begins.chain(ends).collect();
    changes.sort_by_key(|(time, is_end, _)| (*time, *is_end));
    let out = windows.first().map_or(0, |window| network.capacity_to(window.dst).as_bps());
    let (mut now, mut arriving, mut queue) = (Time::ZERO, 0, 0);
    let (mut busy, mut worst) = (Busy::default(), Burst::default());
    for (time, is_end, window) in changes {
        queue = (queue + picobits(arriving, time - now) - picobits(out, time - now)).max(0);
        now = time;
        let waiting = Bytes::new((queue / PICOBITS_OF_BYTE) as u64);
        if worst.waiting < waiting {
            worst = busy.burst(waiting);
        }
        if is_end {
            arriving -= window.rate.as_bps();
            continue;
        }
        if arriving == 0 && queue == 0 {
            busy = Busy::default();
        }
        busy.add(window.start, window.size);
        arriving += window.rate.as_bps();
    }
    worst
}

const PICOBITS_OF_BYTE: i128 = 8_000_000_000_000;

fn picobits(bits_per_second: u64, time: Time) -> i128 {
    i128::from(bits_per_second) * i128::from(time.as_ps())
}

/// The windows that reached a port since it was idle.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    flows: u64,
    starts: Option<(Time, Time)>,
    packets: u64,
}

impl Busy {
    fn add(&mut self, start: Time, size: Bytes) {
        let (first, last) = self.starts.unwrap_or((start, start));
        self.starts = Some((first.min(start), last.max(start)));
        self.flows += 1;
        self.packets += size.get().div_ceil(PACKET_WIRE);
    }

    fn burst(&self, waiting: Bytes) -> Burst {
        let span = self.starts.map_or(Time::ZERO, |(first, last)| last - first);
        Burst { flows: self.flows, span, packets: self.packets, waiting }
    }
}
