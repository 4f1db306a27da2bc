//! What models need to know at a size at which a level may begin or end.

use flowsched_units::PACKET_PAYLOAD;

use crate::forecast::{Forecast, Link};
use crate::objective::Weight;

/// Running sums over all flows up to a size, on one link. Times are in bytes of service.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The size in bytes, infinite at the end where sizes have none.
    pub size: f64,
    /// `G(size) = E[min(S, size)]` in bytes.
    pub served: f64,
    /// `1 / (1 - rho)` with `rho` as the load of what flows send up to the size.
    pub stretch: f64,
    /// Mean work in the system if flows ended at the size, `lambda E[min(S, size)^2] / 2 (1 -
    /// rho)`.
    pub work: f64,
    /// Mean rest of a packet that is being sent for a flow beyond the size, over `1 - rho`.
    pub blocking: f64,
    /// When a flow that is longer is first served beyond the size.
    pub entered: f64,
    /// Probability of a longer flow.
    pub share_above: f64,
    /// Weight of the flows up to the size, `E[w(S); S <= size]`.
    pub flows: f64,
    /// Weight of the flows beyond the size.
    pub flows_above: f64,
    /// `E[w(S) S; S <= size]`.
    pub bytes: f64,
    /// `E[w(S) G(S); S <= size]`.
    pub truncated: f64,
}

/// The edges of the levels that are to be chosen from, on one link.
#[derive(Clone, Debug)]
pub(crate) struct Edges {
    /// At size 0, at every candidate, and at the end.
    pub(crate) edges: Vec<Edge>,
    /// Arrivals in the time of a byte.
    pub(crate) arrival_rate: f64,
    /// The load of the link.
    pub(crate) load: f64,
    /// Mean rest of a packet that is being sent, in bytes; 0 where service is fluid.
    pub(crate) half_packet: f64,
}

impl Edges {
    /// A packet that is sent whole, in bytes; 0 where service is fluid.
    pub(crate) fn packet(&self) -> f64 {
        2.0 * self.half_packet
    }

    /// Edges at size 0, at the rising `sizes` in bytes, and at the end.
    pub(crate) fn new(forecast: &Forecast, link: &Link, weight: &Weight, sizes: &[f64]) -> Edges {
        let law = forecast.sizes;
        let arrival_rate = link.load / law.mean();
        let half_packet =
            if forecast.path.whole_packets { PACKET_PAYLOAD as f64 / 2.0 } else { 0.0 };
        let mut sums = [0.0; 3];
        let mut from = 0.0;
        let mut edges = Vec::with_capacity(sizes.len() + 2);
        for size in [0.0].into_iter().chain(sizes.iter().copied()).chain([law.max()]) {
            let more = law.expectations(from, size, |size| {
                let weight = weight.of_size(size);
                [weight, weight * size, weight * law.partial_mean(size)]
            });
            for (sum, more) in sums.iter_mut().zip(more) {
                *sum += more;
            }
            from = size;
            let served = law.partial_mean(size);
            let stretch = 1.0 / (1.0 - arrival_rate * served);
            let work = arrival_rate * law.partial_second_moment(size) / 2.0 * stretch;
            let above = link.load - arrival_rate * served;
            edges.push(Edge {
                size,
                served,
                stretch,
                work,
                blocking: above.max(0.0) * half_packet * stretch,
                entered: (work + size) * stretch,
                share_above: 1.0 - law.cdf(size),
                flows: sums[0],
                flows_above: 0.0,
                bytes: sums[1],
                truncated: sums[2],
            });
        }
        for edge in &mut edges {
            edge.flows_above = (sums[0] - edge.flows).max(0.0);
        }
        Edges { edges, arrival_rate, load: link.load, half_packet }
    }
}
