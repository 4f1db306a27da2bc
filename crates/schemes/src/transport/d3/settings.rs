//! The parameters of D3's and RCP's hosts, and their values.

use flowsched_units::{Kind, Parameter, SettingError, Settings};

use super::{D3, D3Header};
use crate::flow_level::{FlowLevel, Fluid, Shares, Sharing};
use crate::part::{Part, Role};
use crate::transport::TransportPart;
use crate::transport::explicit::{self, ExplicitSettings};

pub(crate) const QUENCHING: Parameter = Parameter {
    name: "quenching",
    kind: Kind::Flag,
    default: Some("true"),
    about: "Whether a sender gives up a flow whose deadline has passed, or that would need more \
            than its card's rate to meet it.",
    source: "Wilson et al., SIGCOMM 2011; PDQ 2012, 5.1",
};

const PARAMETERS: &[Parameter] = &[QUENCHING];

/// The settings of D3's hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct D3Settings {
    /// The settings that all senders with explicit rates share.
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
        D3Settings { explicit, knows_deadlines: true, quenching: settings.flag(&QUENCHING) }
    }

    /// Reads RCP's keys.
    pub fn rcp(settings: &Settings) -> D3Settings {
        let explicit = ExplicitSettings::from_settings(settings);
        D3Settings { explicit, knows_deadlines: false, quenching: false }
    }
}

/// D3's hosts.
#[derive(Clone, Copy, Debug)]
pub struct D3Hosts;

impl TransportPart for D3Hosts {
    const PART: Part = Part {
        role: Role::Transport,
        name: "d3",
        about: "D3: asks the switches every round-trip time for the rate that meets the deadline.",
        source: "Wilson et al., SIGCOMM 2011; PDQ 2012, 5.1",
        parameters: &[explicit::PARAMETERS, PARAMETERS],
    };
    type Transport = D3;

    fn build(settings: &Settings) -> Result<D3, SettingError> {
        Ok(D3 { settings: D3Settings::d3(settings) })
    }

    fn fluid(_: &D3, _settings: &Settings, _shares: Shares) -> Fluid<FlowLevel> {
        Ok(Sharing::Reservations.by_request::<D3Header>())
    }
}

/// RCP's hosts: D3's hosts without deadlines.
#[derive(Clone, Copy, Debug)]
pub struct RcpHosts;

impl TransportPart for RcpHosts {
    const PART: Part = Part {
        role: Role::Transport,
        name: "rcp",
        about: "RCP: asks the switches every round-trip time for a fair share.",
        source: "Dukkipati and McKeown, CCR 2006; PDQ 2012, 5.1",
        parameters: &[explicit::PARAMETERS],
    };
    type Transport = D3;

    fn build(settings: &Settings) -> Result<D3, SettingError> {
        Ok(D3 { settings: D3Settings::rcp(settings) })
    }

    fn fluid(_: &D3, _settings: &Settings, _shares: Shares) -> Fluid<FlowLevel> {
        Ok(Sharing::MaxMin.by_request::<D3Header>())
    }
}
