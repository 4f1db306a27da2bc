//! What the optimiser adds up: one link of one scene, with what a byte of service there counts.

use crate::ThresholdsError;
use crate::edge::Edges;
use crate::objective::Objective;
use crate::scene::Scene;

/// Sizes among which the optimum is found for certain.
pub const CANDIDATES: usize = 10_000;

/// One link of one scene, with what a byte of service there counts.
pub(crate) struct Term {
    /// The scene's weight, times the seconds that a byte takes.
    pub(crate) scale: f64,
    pub(crate) edges: Edges,
}

/// The terms of `scenes`, each counted so many times, with edges at `sizes`.
pub(crate) fn terms(
    scenes: &[(Scene, f64)],
    objective: &Objective,
    sizes: &[f64],
) -> Result<Vec<Term>, ThresholdsError> {
    let mut terms = Vec::new();
    for (scene, factor) in scenes {
        let weight = objective.weight(scene)?;
        for link in &scene.path.links {
            let scale = factor * scene.seconds_per_byte(link);
            terms.push(Term { scale, edges: Edges::new(scene, link, &weight, sizes) });
        }
    }
    Ok(terms)
}
