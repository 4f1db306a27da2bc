//! Models: what holds flows up, given thresholds.
//!
//! A model says by how much flows of each level are delayed by others. If that is a sum of terms
//! which each depend on the two ends of one level, it can also say what a level costs, and the
//! optimiser finds the best levels.

mod multilevel_fcfs;
mod multilevel_ps;
mod pias;

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::ThresholdsError;
use crate::edge::{Edge, Edges};

pub(crate) use multilevel_fcfs::MultilevelFcfs;
pub(crate) use multilevel_ps::MultilevelPs;
pub(crate) use pias::{PiasMm1, PiasMm1Bound};

/// The models by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelName {
    /// PIAS ToN 2017, III-C, with the traffic of a queue taken exactly.
    PiasMm1,
    /// PIAS ToN 2017, III-C, with the paper's upper bound on the traffic of a queue.
    PiasMm1Bound,
    /// The M/G/1 queue with levels, first come first served inside a level.
    MultilevelFcfs,
    /// The M/G/1 queue with levels, processor sharing inside a level, approximately.
    MultilevelPs,
}

/// The model where none is given: in packet simulation no other model's thresholds did better
/// with 4 or 8 queues, and with 2 those of `multilevel-ps` were worse (docs, "Which threshold
/// model to believe").
pub const DEFAULT_MODEL: ModelName = ModelName::MultilevelFcfs;

/// All models.
pub const MODELS: &[ModelName] = &[
    ModelName::PiasMm1,
    ModelName::PiasMm1Bound,
    ModelName::MultilevelFcfs,
    ModelName::MultilevelPs,
];

impl ModelName {
    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            ModelName::PiasMm1 => "pias-mm1",
            ModelName::PiasMm1Bound => "pias-mm1-bound",
            ModelName::MultilevelFcfs => "multilevel-fcfs",
            ModelName::MultilevelPs => "multilevel-ps",
        }
    }

    /// What it is, and how far it is to be believed, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            ModelName::PiasMm1 => {
                "every queue M/M/1 with the rate that higher ones leave, traffic of a queue exact; \
                 predicts the sum of the packet delays that a flow meets, one a queue, not its FCT"
            }
            ModelName::PiasMm1Bound => {
                "as pias-mm1 with the paper's upper bound on the traffic of a queue: unstable at \
                 many loads, and its optimum is certain on a coarse grid alone"
            }
            ModelName::MultilevelFcfs => {
                "M/G/1, strict priority between levels, first come first served inside one; exact \
                 for flows that come in one burst"
            }
            ModelName::MultilevelPs => {
                "M/G/1, strict priority between levels, processor sharing inside one; approximate \
                 below the first level, where it conserves work but spreads delay among sizes as \
                 if rests were all alike"
            }
        }
    }

    /// Where it comes from.
    pub const fn source(self) -> &'static str {
        match self {
            ModelName::PiasMm1 | ModelName::PiasMm1Bound => "PIAS ToN 2017, III-C",
            ModelName::MultilevelFcfs => "Kleinrock, Queueing Systems volume 2, 4.7",
            ModelName::MultilevelPs => {
                "Kleinrock, Queueing Systems volume 2, 4.7; Aalto and Ayesta, INFOCOM 2006"
            }
        }
    }

    /// Whether it predicts flow completion times; if not, the sum of the packet delays that a
    /// flow meets, one a queue.
    pub const fn predicts_fct(self) -> bool {
        matches!(self, ModelName::MultilevelFcfs | ModelName::MultilevelPs)
    }

    /// All names, for an error.
    pub(crate) fn allowed() -> String {
        MODELS.iter().map(|model| model.as_str()).collect::<Vec<_>>().join(", ")
    }

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

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
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

impl Serialize for ModelName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
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

/// What holds flows up.
pub(crate) trait Model {
    /// The delay in each level, which are between two edges each; `None` without a steady
    /// state.
    fn delays(&self, edges: &Edges) -> Option<Vec<Delay>>;
}

/// A model whose delays are a sum over levels that each know their own ends alone.
pub(crate) trait LevelModel: Model {
    /// How many factors it has.
    const FACTORS: usize;

    /// The weighted delay that a level adds on `link`, in bytes of service.
    fn level_cost(&self, link: &Edges, from: &Edge, to: &Edge) -> f64;

    /// As much of [`LevelModel::level_cost`] as changes with the beginning is a scalar product:
    /// of these factors of the beginning, and of [`LevelModel::end`]. Both count flows from
    /// `origin` on, which is not beyond either of them; any will do, and one that is near makes
    /// the factors change little.
    fn begin(&self, link: &Edges, origin: &Edge, edge: &Edge, factors: &mut [f64]);

    /// The factors of the end, none of them negative, none lower where the level ends later.
    fn end(&self, origin: &Edge, edge: &Edge, factors: &mut [f64]);

    /// Whether `cost(a, b) + cost(a', b') <= cost(a, b') + cost(a', b)` for all `a <= a' < b <=
    /// b'` among `edges`. `false` where that is not known.
    fn is_monge(&self, _edges: &Edges) -> bool {
        false
    }
}
