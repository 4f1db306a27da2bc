//! How likely a link loses a packet, and the parameters that say so.

use flowsched_units::{Kind, Parameter};

/// The probability that a packet is lost.
pub const PROBABILITY: Parameter = Parameter {
    name: "loss",
    kind: Kind::Number { from: 0.0, to: 1.0 },
    default: Some("0"),
    about: "Probability that a packet is lost on a link, in either direction, less than 1.",
    source: "none; PDQ 2012, 5.6 goes up to 0.03",
};

/// The links that lose packets.
pub const LOSS_ON: Parameter = Parameter {
    name: "loss_on",
    kind: Kind::Text,
    default: Some("all"),
    about: "Which links lose packets: \"all\", \"hosts\" or \"core\", or their ends' names, \
            \"host 0 - leaf 0; leaf 1 - spine 3\".",
    source: "none; PDQ 2012, 5.6 has the bottleneck link",
};

/// The parameters `loss` and `loss_on`, which every topology has beside its own.
pub const LOSS: &[Parameter] = &[PROBABILITY, LOSS_ON];

/// How likely a packet is lost on a link, in steps of 2^-32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss(u32);

impl Loss {
    /// Nothing is lost.
    pub const NONE: Loss = Loss(0);

    /// The loss of this probability, from 0 to less than 1.
    pub fn from_probability(probability: f64) -> Loss {
        Loss((probability * 2f64.powi(32)).round() as u32)
    }

    /// Whether a packet is lost that has drawn `draw`, a random 32-bit number.
    #[inline]
    pub const fn strikes(self, draw: u32) -> bool {
        draw < self.0
    }
}
