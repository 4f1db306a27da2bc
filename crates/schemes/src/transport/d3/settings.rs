//! What may be set of D3's and RCP's hosts.

use flowsched_units::{Kind, Parameter, Settings};

use crate::catalogue::{Part, Role};
use crate::transport::explicit::{self, ExplicitSettings};

/// The catalogue's entry of D3.
pub const D3: Part = Part {
    role: Role::Transport,
    name: "d3",
    about: "D3: asks the switches every round-trip time for the rate that meets the deadline.",
    source: "Wilson et al., SIGCOMM 2011; PDQ 2012, 5.1",
    parameters: &[explicit::PARAMETERS, PARAMETERS],
};

/// The catalogue's entry of RCP.
pub const RCP: Part = Part {
    role: Role::Transport,
    name: "rcp",
    about: "RCP: asks the switches every round-trip time for a fair share.",
    source: "Dukkipati and McKeown, CCR 2006; PDQ 2012, 5.1",
    parameters: &[explicit::PARAMETERS],
};

const PARAMETERS: &[Parameter] = &[Parameter {
    name: "quenching",
    kind: Kind::Flag,
    default: Some("true"),
    about: "Whether a sender gives up a flow whose deadline has passed, or that would need more \
            than its card's rate to meet it.",
    source: "Wilson et al., SIGCOMM 2011; PDQ 2012, 5.1",
}];

/// What may be set of D3's hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct D3Settings {
    /// What all senders with explicit rates share.
    pub explicit: ExplicitSettings,
    /// Whether deadlines count; without them D3 is RCP.
    pub knows_deadlines: bool,
    /// Whether flows that cannot meet their deadlines are given up.
    pub quenching: bool,
}

impl D3Settings {
    /// Reads D3's keys.
    pub fn d3(settings: &Settings) -> D3Settings {
        let explicit = ExplicitSettings::from_settings(settings);
        D3Settings { explicit, knows_deadlines: true, quenching: settings.flag("quenching") }
    }

    /// Reads RCP's keys.
    pub fn rcp(settings: &Settings) -> D3Settings {
        let explicit = ExplicitSettings::from_settings(settings);
        D3Settings { explicit, knows_deadlines: false, quenching: false }
    }
}
