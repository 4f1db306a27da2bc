//! What thresholds are for: flow sizes, and the path that flows take at some load.

use flowsched_units::{Bytes, PACKET_HEADER, PACKET_PAYLOAD, PACKET_WIRE, Rate, Time};
use flowsched_workload::sizes::SizeDistribution;

use crate::ThresholdsError;

/// One queueing link of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Its capacity.
    pub rate: Rate,
    /// Share of the time that it is busy, over 0 and less than 1.
    pub load: f64,
}

/// The path of a flow: the links at which it queues, and its delay beyond them.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The links, at least one; delays at them add up, and the slowest sets the pace.
    pub links: Vec<Link>,
    /// Round-trip time of the idle path, without the flow's own transmission.
    pub base_rtt: Time,
    /// Whether packets are sent whole. If so:
    ///
    /// - A packet waits for a packet of lower priority that is being sent, half of it on average,
    ///   as in Cobham's queue without preemption.
    /// - Under `multilevel-fcfs`, a flow's own last packet is not interrupted either.
    /// - Thresholds are whole packets.
    ///
    /// If not, service is fluid.
    pub whole_packets: bool,
}

impl Path {
    /// A path of one link, with fluid service and no delay beyond it.
    pub fn of_link(rate: Rate, load: f64) -> Path {
        Path { links: vec![Link { rate, load }], base_rtt: Time::ZERO, whole_packets: false }
    }

    /// This path with every load `factor` times as high.
    pub fn with_load_times(&self, factor: f64) -> Path {
        let links = self.links.iter().map(|link| Link { load: link.load * factor, ..*link });
        Path { links: links.collect(), ..self.clone() }
    }

    /// The highest load of its links.
    pub fn load(&self) -> f64 {
        self.links.iter().map(|link| link.load).fold(0.0, f64::max)
    }

    fn slowest(&self) -> f64 {
        self.links.iter().map(|link| link.rate.as_bytes_per_sec_f64()).fold(f64::INFINITY, f64::min)
    }

    /// Seconds that a flow of `size` bytes takes on the idle path: the base round trip, all its
    /// packets with headers at the slowest link, and one packet at each of the others.
    pub fn ideal_seconds(&self, size: f64) -> f64 {
        let (header, payload) = (PACKET_HEADER as f64, PACKET_PAYLOAD as f64);
        let packets = size / payload;
        // Among many packets it makes no difference that the last one may not be full.
        let packets = if packets < MANY_PACKETS { packets.ceil() } else { packets };
        let wire = size + header * packets;
        let packet = size.min(payload) + header;
        let seconds = |link: &Link| packet / link.rate.as_bytes_per_sec_f64();
        let each: f64 = self.links.iter().map(seconds).sum();
        self.base_rtt.as_secs_f64() + (wire - packet) / self.slowest() + each
    }
}

/// From here on the ideal time is a smooth function of the size.
const MANY_PACKETS: f64 = 64.0;

/// The traffic that thresholds are for: flow sizes on a path.
#[derive(Clone, Debug)]
pub struct Forecast<'a> {
    /// The sizes of the flows.
    pub sizes: &'a SizeDistribution,
    /// The path that all flows take.
    pub path: Path,
}

impl<'a> Forecast<'a> {
    /// Flows of these sizes on one 10 Gbps link at `load`.
    pub fn new(sizes: &'a SizeDistribution, load: f64) -> Forecast<'a> {
        Forecast { sizes, path: Path::of_link(DEFAULT_LINK, load) }
    }

    /// This forecast with another highest load, all links in proportion.
    pub fn at_load(&self, load: f64) -> Forecast<'a> {
        Forecast { sizes: self.sizes, path: self.path.with_load_times(load / self.path.load()) }
    }

    /// Refuses what has no steady state.
    pub(crate) fn check(&self) -> Result<(), ThresholdsError> {
        if self.path.links.is_empty() {
            return Err(ThresholdsError::NoLink);
        }
        for link in &self.path.links {
            if !(link.load > 0.0 && link.load < 1.0) {
                return Err(ThresholdsError::Load { found: link.load });
            }
            if link.rate == Rate::default() {
                return Err(ThresholdsError::NoRate);
            }
        }
        Ok(())
    }

    /// Seconds that a byte of payload takes at `link`, its share of the header included.
    pub(crate) fn seconds_per_byte(&self, link: &Link) -> f64 {
        // Short packets make headers weigh more; the load counts full ones.
        PACKET_WIRE as f64 / PACKET_PAYLOAD as f64 / link.rate.as_bytes_per_sec_f64()
    }

    /// The largest threshold that makes a difference, in whole bytes: the largest size or,
    /// where there is none, what all but one flow in a million millions stay below.
    pub(crate) fn ceiling(&self) -> Bytes {
        let largest = self.sizes.max().min(self.sizes.quantile(1.0 - 1e-12));
        Bytes::new(largest.ceil() as u64)
    }
}

/// The link rate where none is given.
pub const DEFAULT_LINK: Rate = Rate::from_gbps(10);
