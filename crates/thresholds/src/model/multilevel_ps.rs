//! Levels with processor sharing inside (Kleinrock, volume 2, 4.7; Aalto and Ayesta 2006).
//!
//! A flow comes to the level `(a, b]` after `D(a) = (W(a) + a) / (1 - rho(a))`, in a batch with all
//! flows that passed a in the same busy period of the levels above. A flow that has just come meets
//! `2 lambda P(S > a) D(a)` others of its batch on average. The level is then a processor-sharing
//! queue with batch arrivals, which has no closed form. This is an approximation: each other flow
//! of the batch adds to the time for a service of y what it would if the rests of all flows had one
//! length, `int_0^y P(rest > u) du / (1 - load)`. This conserves work exactly whatever the sizes
//! are:
//!
//! `T(x) = D(a) + (x - a + 2 lambda D(a) (G(x) - G(a))) / (1 - rho(b))`.

use super::{Delay, LevelModel, Model};
use crate::edge::{Edge, Edges};

/// The model.
#[derive(Debug)]
pub(crate) struct MultilevelPs;

impl Model for MultilevelPs {
    fn delays(&self, edges: &Edges) -> Option<Vec<Delay>> {
        let delay = |level: &[Edge]| {
            let (from, to) = (&level[0], &level[1]);
            let per_byte = to.stretch - 1.0;
            let per_served_byte = 2.0 * edges.arrival_rate * from.entered * to.stretch;
            let wait = from.entered - from.size + from.stretch * to.blocking;
            let constant = wait - per_byte * from.size - per_served_byte * from.served;
            Delay { constant, per_byte, per_served_byte }
        };
        Some(edges.edges.windows(2).map(delay).collect())
    }
}

/// Sums over the flows between two edges: their weight, and what they have left beyond the first
/// edge times their weight, in bytes and as `G` counts them.
struct Between {
    flows: f64,
    bytes: f64,
    served: f64,
}

impl Between {
    fn new(from: &Edge, to: &Edge) -> Between {
        let flows = to.flows - from.flows;
        Between {
            flows,
            bytes: to.bytes - from.bytes - from.size * flows,
            served: to.truncated - from.truncated - from.served * flows,
        }
    }
}

/// The cost of a level, with F, H and J as the sums above between a and b, and s for
/// `1 / (1 - rho)`: `(D(a) - a) F + (s(b) - 1) H + 2 lambda D(a) s(b) J`, and the wait for packets
/// that are being sent. This wait is `s(a) F` times their rest, which falls in b as
/// `waiting - blocked s(b)`.
impl LevelModel for MultilevelPs {
    const FACTORS: usize = 7;

    fn level_cost(&self, link: &Edges, from: &Edge, to: &Edge) -> f64 {
        let Between { flows, bytes, served } = Between::new(from, to);
        (from.entered - from.size + from.stretch * to.blocking) * flows
            + (to.stretch - 1.0) * bytes
            + 2.0 * link.arrival_rate * from.entered * to.stretch * served
    }

    fn begin(&self, link: &Edges, origin: &Edge, edge: &Edge, factors: &mut [f64]) {
        let Between { flows, bytes, served } = Between::new(origin, edge);
        let (further, more_served) = (edge.size - origin.size, edge.served - origin.served);
        let others = 2.0 * link.arrival_rate * edge.entered;
        let waiting = edge.entered - edge.size + edge.stretch * link.half_packet;
        let blocked = edge.stretch * link.half_packet * (1.0 - link.load);
        factors[..7].copy_from_slice(&[
            waiting,
            -waiting * flows,
            further * flows - bytes,
            -further,
            others,
            others * (more_served * flows - served) + blocked * flows,
            -others * more_served - blocked,
        ]);
    }

    fn end(&self, origin: &Edge, edge: &Edge, factors: &mut [f64]) {
        let Between { flows, served, .. } = Between::new(origin, edge);
        let stretch = edge.stretch;
        factors[..7].copy_from_slice(&[
            flows,
            1.0,
            stretch - 1.0,
            (stretch - 1.0) * flows,
            stretch * served,
            stretch,
            stretch * flows,
        ]);
    }
}
