//! The names of models and objectives.

use std::fmt;

use serde::{Serialize, Serializer};

/// The objectives that have a name of their own.
pub const OBJECTIVES: &[&str] = &["mean-fct", "mean-slowdown", "small-fct"];

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

    /// Whether it predicts flow completion times. If not, it predicts the sum of the packet delays
    /// that a flow meets, one a queue.
    pub const fn predicts_fct(self) -> bool {
        matches!(self, ModelName::MultilevelFcfs | ModelName::MultilevelPs)
    }

    /// All names, for an error.
    pub(crate) fn allowed() -> String {
        MODELS.iter().map(|model| model.as_str()).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ModelName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
