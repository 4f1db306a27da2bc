//! The common part of transports whose switches tell each sender its rate: reliable delivery,
//! pacing and the receiver. How switches compute the rate does not belong here.

mod delivery;
mod pacing;
mod reassembly;
mod receiver;
mod sending;

pub use delivery::{Answered, Delivery, Load};
pub use pacing::Pacing;
pub use reassembly::Reassembly;
pub use receiver::Receiver;
pub(crate) use receiver::answer;
pub use sending::{Answering, Explicit, ExplicitSender};

use flowsched_units::{Kind, Parameter, Settings, Time};

pub(crate) const RTO_MIN: Parameter = Parameter {
    name: "rto_min",
    kind: Kind::Time,
    default: Some("1ms"),
    about: "The shortest retransmission timeout, and that of a flow's first packet.",
    source: "none: \"resends a packet after a timeout\" (PDQ 2012, 3.1); a few round-trip times",
};

/// The keys of every transport whose rate is explicit.
pub const PARAMETERS: &[Parameter] = &[RTO_MIN];

/// The settings of every transport whose rate is explicit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplicitSettings {
    /// The shortest retransmission timeout.
    pub rto_min: Time,
}

impl ExplicitSettings {
    /// Reads the keys.
    pub fn from_settings(settings: &Settings) -> ExplicitSettings {
        ExplicitSettings { rto_min: settings.time(&RTO_MIN) }
    }
}
