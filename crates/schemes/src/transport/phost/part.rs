//! pHost as a part: its entry in the catalogue, and what it comes down to where flows
//! are fluids.

use flowsched_units::{SettingError, Settings};

use super::settings::{PARAMETERS, PhostSettings};
use super::{Phost, PhostHeader, PhostPriorities};
use crate::controller::{Controlled, ControllerPart, Language, NoController, Site};
use crate::flow_level::{FlowLevel, Fluid, Shares, Sharing};
use crate::part::{Part, Role};
use crate::port::InOrder;
use crate::transport::{Transport, TransportPart};

/// pHost's hosts.
#[derive(Clone, Copy, Debug)]
pub struct PhostHosts;

impl TransportPart for PhostHosts {
    const PART: Part = Part {
        role: Role::Transport,
        name: "phost",
        about: "pHost: receivers send tokens to the flow that lacks the fewest packets, sources spend \
                them on it.",
        source: "Gao et al., CoNEXT 2015",
        parameters: &[PARAMETERS],
    };
    type Transport = Phost;

    fn build(settings: &Settings) -> Result<Phost, SettingError> {
        Ok(Phost { settings: PhostSettings::from_settings(settings)? })
    }

    /// Receivers and sources both prefer the flow that lacks the fewest packets: SRPT. That long
    /// flows wait a round trip for their first token, and tokens that expire, have no counterpart.
    fn fluid(_: &Phost, _settings: &Settings, _shares: Shares) -> Fluid<FlowLevel> {
        Ok(Sharing::SHORTEST_REMAINING_FIRST.alone())
    }
}

impl Language for PhostHeader {
    type Controllers = Controlled<PhostHeader, NoController>;
}

/// pHost's switches tell the hosts nothing.
impl ControllerPart<PhostHeader> for NoController {
    const PART: Part = <NoController as ControllerPart<()>>::PART;
    type Header = PhostHeader;
    type Hosts<T: Transport<Header = PhostHeader>> = T;
    type Tagger = PhostPriorities;
    type Ports = InOrder;
    type Controller = NoController;

    fn build(_settings: &Settings) -> Result<NoController, SettingError> {
        Ok(NoController)
    }

    fn hosts<T: Transport<Header = PhostHeader>>(&self, transport: T) -> T {
        transport
    }

    fn controller(&self, _site: Site) -> NoController {
        NoController
    }

    fn fluid(&self) -> Fluid<()> {
        Ok(())
    }
}
