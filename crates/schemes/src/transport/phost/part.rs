//! pHost as a part: its entry in the catalogue, and its fluid form.

use flowsched_units::{SettingError, Settings};

use super::settings::{PARAMETERS, PhostSettings};
use super::{Phost, PhostHeader, PhostPriorities};
use crate::controller::{Controlled, Language, NoController, Uncontrolled};
use crate::flow_level::{FlowLevel, Fluid, Shares, Sharing};
use crate::part::{Part, Role};
use crate::port::InOrder;
use crate::transport::TransportPart;

/// pHost's hosts.
#[derive(Clone, Copy, Debug)]
pub struct PhostHosts;

impl TransportPart for PhostHosts {
    const PART: Part = Part {
        role: Role::Transport,
        name: "phost",
        about: "pHost: receivers send tokens to the flow with the fewest missing packets, and \
                sources send one packet per token.",
        source: "Gao et al., CoNEXT 2015",
        parameters: &[PARAMETERS],
    };
    type Transport = Phost;

    fn build(settings: &Settings) -> Result<Phost, SettingError> {
        Ok(Phost { settings: PhostSettings::from_settings(settings)? })
    }

    /// SRPT, because receivers and sources both prefer the flow that lacks the fewest packets. Two
    /// things have no counterpart: the round trip that long flows wait for their first token, and
    /// tokens that expire.
    fn fluid(_: &Phost, _settings: &Settings, _shares: Shares) -> Fluid<FlowLevel> {
        Ok(Sharing::SHORTEST_REMAINING_FIRST.alone())
    }
}

impl Language for PhostHeader {
    type Controllers = Controlled<PhostHeader, NoController>;
}

impl Uncontrolled for PhostHeader {
    type Tagger = PhostPriorities;
    type Ports = InOrder;
}
