//! Levels with first come, first served inside (Kleinrock, volume 2, 4.7): a flow of size x in
//! the level `(a, b]` takes `W(b) / (1 - rho(a)) + x / (1 - rho(a))`, where `W(b)` is the mean
//! work if flows ended at b.
//!
//! With whole packets, a flow also waits for a packet of a lower level that is being sent. Its own
//! last packet is not interrupted, which saves it `rho(a) / (1 - rho(a))` packets.

use super::{Delay, LevelModel, Model};
use crate::edge::{Edge, Edges};

/// The model.
#[derive(Debug)]
pub(crate) struct MultilevelFcfs;

impl Model for MultilevelFcfs {
    fn delays(&self, edges: &Edges) -> Option<Vec<Delay>> {
        let delay = |level: &[Edge]| Delay {
            constant: level[0].stretch * (level[1].work + level[1].blocking)
                - (level[0].stretch - 1.0) * edges.packet(),
            per_byte: level[0].stretch - 1.0,
            per_served_byte: 0.0,
        };
        Some(edges.edges.windows(2).map(delay).collect())
    }
}

/// The cost of a level, with F and H as the weight and the weighted bytes of the flows up to a
/// size: `(F(b) - F(a)) W(b) / (1 - rho(a)) + (H(b) - H(a)) (1 / (1 - rho(a)) - 1)`. With whole
/// packets, H is less by a packet for each flow.
impl LevelModel for MultilevelFcfs {
    const FACTORS: usize = 4;

    fn level_cost(&self, link: &Edges, from: &Edge, to: &Edge) -> f64 {
        let (flows, bytes) = (to.flows - from.flows, to.bytes - from.bytes);
        from.stretch * (to.work + to.blocking) * flows
            + (from.stretch - 1.0) * (bytes - link.packet() * flows)
    }

    fn begin(&self, link: &Edges, origin: &Edge, edge: &Edge, factors: &mut [f64]) {
        let (flows, bytes) = (edge.flows - origin.flows, edge.bytes - origin.bytes);
        let saved = (edge.stretch - 1.0) * link.packet();
        factors[0] = edge.stretch;
        factors[1] = -edge.stretch * flows;
        factors[2] = saved * flows - (edge.stretch - 1.0) * bytes;
        factors[3] = -saved;
    }

    fn end(&self, origin: &Edge, edge: &Edge, factors: &mut [f64]) {
        let work = edge.work + edge.blocking;
        factors[0] = work * (edge.flows - origin.flows) + edge.bytes - origin.bytes;
        factors[1] = work;
        factors[2] = 1.0;
        factors[3] = edge.flows - origin.flows;
    }
}
