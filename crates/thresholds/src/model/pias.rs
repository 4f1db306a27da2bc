//! The PIAS paper's model: every queue is M/M/1 with the service rate that higher ones leave
//! (ToN 2017, III-C). A flow meets one packet delay in every queue that it comes through.
//!
//! With the traffic of a queue taken exactly, `lambda (G(b) - G(a))` for the queue of the level
//! `(a, b]`, the rate left to it telescopes, and its packet delay is `1 / (mu - lambda G(b))`.
//! With the paper's bound, `lambda (b - a) P(S > a)`, it depends on all earlier thresholds.

use flowsched_units::PACKET_PAYLOAD;

use super::{Delay, LevelModel, Model};
use crate::edge::{Edge, Edges};

const PACKET: f64 = PACKET_PAYLOAD as f64;

/// With the exact traffic of a queue.
#[derive(Debug)]
pub(crate) struct PiasMm1;

impl Model for PiasMm1 {
    fn delays(&self, edges: &Edges) -> Option<Vec<Delay>> {
        let mut constant = 0.0;
        let delay = |level: &[Edge]| {
            if level[0].size < level[1].size {
                constant += PACKET * level[1].stretch;
            }
            Delay { constant, ..Delay::default() }
        };
        Some(edges.edges.windows(2).map(delay).collect())
    }
}

/// `1 / (1 - rho(b))` for all flows beyond a.
impl LevelModel for PiasMm1 {
    const FACTORS: usize = 1;

    fn level_cost(&self, _link: &Edges, from: &Edge, to: &Edge) -> f64 {
        PACKET * from.flows_above * to.stretch
    }

    fn begin(&self, _link: &Edges, _origin: &Edge, edge: &Edge, factors: &mut [f64]) {
        factors[0] = PACKET * edge.flows_above;
    }

    fn end(&self, _origin: &Edge, edge: &Edge, factors: &mut [f64]) {
        factors[0] = edge.stretch;
    }

    /// A product of something that falls with the beginning and something that rises with the
    /// end is Monge.
    fn is_monge(&self, edges: &Edges) -> bool {
        edges.edges.is_sorted_by(|a, b| a.flows_above >= b.flows_above && a.stretch <= b.stretch)
    }
}

/// With the paper's upper bound on the traffic of a queue.
#[derive(Debug)]
pub(crate) struct PiasMm1Bound;

impl PiasMm1Bound {
    /// The bound of the load of the queue of a level.
    pub(crate) fn load(edges: &Edges, from: &Edge, to: &Edge) -> f64 {
        edges.arrival_rate * (to.size - from.size) * from.share_above
    }

    /// The packet delay in a queue, with `load` as the sum over it and all higher ones.
    pub(crate) fn packet_delay(load: f64) -> f64 {
        PACKET / (1.0 - load)
    }
}

impl Model for PiasMm1Bound {
    fn delays(&self, edges: &Edges) -> Option<Vec<Delay>> {
        let (mut constant, mut load) = (0.0, 0.0);
        let delay = |level: &[Edge]| {
            if level[0].size < level[1].size {
                load += PiasMm1Bound::load(edges, &level[0], &level[1]);
                constant += PiasMm1Bound::packet_delay(load);
            }
            (load < 1.0).then_some(Delay { constant, ..Delay::default() })
        };
        edges.edges.windows(2).map(delay).collect()
    }
}
