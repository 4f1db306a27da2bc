//! The PIAS paper's model: every queue is M/M/1 with the service rate that higher queues leave (ToN
//! 2017, III-C). A flow meets one packet delay in every queue that it passes.
//!
//! If the traffic of a queue is exact, `lambda (G(b) - G(a))` for the queue of the level `(a, b]`,
//! the rate left to the queue telescopes, and its packet delay is `1 / (mu - lambda G(b))`. With
//! the paper's bound, `lambda (b - a) P(S > a)`, the delay depends on all earlier thresholds.

use flowsched_units::PACKET_PAYLOAD;

use super::{Delay, LevelModel, Model};
use crate::edge::{Edge, Edges};

const PACKET: f64 = PACKET_PAYLOAD as f64;

/// The model with the exact traffic of a queue.
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

/// The cost of a level: `1 / (1 - rho(b))` for all flows beyond a.
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

    /// The product of a factor that falls with the beginning and a factor that rises with the end
    /// is Monge.
    fn is_monge(&self, edges: &Edges) -> bool {
        edges.edges.is_sorted_by(|a, b| a.flows_above >= b.flows_above && a.stretch <= b.stretch)
    }
}

/// The model with the paper's upper bound on the traffic of a queue.
#[derive(Debug)]
pub(crate) struct PiasMm1Bound;

impl PiasMm1Bound {
    /// The bound on the load of the queue of a level.
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
