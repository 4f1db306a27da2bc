//! Models of how flows are delayed, given thresholds.
//!
//! A model says how much flows of each level are delayed by others. If this is a sum of terms that
//! each depend on the two ends of one level, the model can also say what a level costs, and the
//! optimiser finds the best levels.

mod multilevel_fcfs;
mod multilevel_ps;
mod pias;

use std::str::FromStr;

use crate::ThresholdsError;
use crate::edge::{Edge, Edges};
use crate::names::{MODELS, ModelName};

pub(crate) use multilevel_fcfs::MultilevelFcfs;
pub(crate) use multilevel_ps::MultilevelPs;
pub(crate) use pias::{PiasMm1, PiasMm1Bound};

impl ModelName {
    /// The model itself.
    pub(crate) fn model(self) -> &'static dyn Model {
        match self {
            ModelName::PiasMm1 => &PiasMm1,
            ModelName::PiasMm1Bound => &PiasMm1Bound,
            ModelName::MultilevelFcfs => &MultilevelFcfs,
            ModelName::MultilevelPs => &MultilevelPs,
        }
    }
}

impl FromStr for ModelName {
    type Err = ThresholdsError;

    /// Reads one of [`MODELS`].
    ///
    /// # Errors
    /// [`ThresholdsError::Model`] for anything else.
    fn from_str(text: &str) -> Result<ModelName, ThresholdsError> {
        let found = MODELS.iter().find(|model| model.as_str() == text);
        found.copied().ok_or_else(|| ThresholdsError::Model { found: text.to_owned() })
    }
}

/// By how much flows of one level are delayed on one link, in bytes of service, `G` being as in
/// [`Edge::served`]: `constant + per_byte * size + per_served_byte * G(size)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Delay {
    pub(crate) constant: f64,
    pub(crate) per_byte: f64,
    pub(crate) per_served_byte: f64,
}

/// How flows are delayed.
pub(crate) trait Model {
    /// The delay in each level, from one edge to the next. `None` without a steady state.
    fn delays(&self, edges: &Edges) -> Option<Vec<Delay>>;
}

/// A model whose delays are a sum over levels, each of which depends only on its own ends.
pub(crate) trait LevelModel: Model {
    /// How many factors it has.
    const FACTORS: usize;

    /// The weighted delay that a level adds on `link`, in bytes of service.
    fn level_cost(&self, link: &Edges, from: &Edge, to: &Edge) -> f64;

    /// The part of [`LevelModel::level_cost`] that changes with the beginning is a scalar product
    /// of these factors of the beginning and those of [`LevelModel::end`]. Both count flows from
    /// `origin` on, which is not beyond either of them. Any origin will do, and a near one makes
    /// the factors change little.
    fn begin(&self, link: &Edges, origin: &Edge, edge: &Edge, factors: &mut [f64]);

    /// The factors of the end. None is negative, and none is lower where the level ends later.
    fn end(&self, origin: &Edge, edge: &Edge, factors: &mut [f64]);

    /// Whether `cost(a, b) + cost(a', b') <= cost(a, b') + cost(a', b)` for all `a <= a' < b <=
    /// b'` among `edges`. `false` where that is not known.
    fn is_monge(&self, _edges: &Edges) -> bool {
        false
    }
}
