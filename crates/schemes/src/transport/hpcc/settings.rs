//! The parameters of HPCC's hosts, and their values.

use flowsched_units::{Bytes, Kind, PacketMeaning, Parameter, SettingError, Settings, Time};

use super::{Hpcc, HpccHeader};
use crate::flow_level::{FlowLevel, Fluid, Shares};
use crate::part::{Part, Role};
use crate::transport::TransportPart;
use crate::transport::explicit::{self, ExplicitSettings};

/// The parameter T: the longest round-trip time without queues.
pub const BASE_RTT: Parameter = Parameter {
    name: "base_rtt",
    kind: Kind::Time,
    default: Some("86us"),
    about: "T: a little more than the longest round-trip time without queues in the network. The \
            first window is what a card sends in it.",
    source: "HPCC 2019, Algorithm 1; 86us fits the default leaf-spine",
};

/// The parameter eta: the share of a link that windows aim at.
pub const TARGET_UTILISATION: Parameter = Parameter {
    name: "target_utilisation",
    kind: Kind::Number { from: 0.01, to: 1.0 },
    default: Some("0.95"),
    about: "Eta: the target of windows, as bytes in flight on the most loaded link over its \
            bandwidth times T.",
    source: "HPCC 2019; the authors' simulator",
};

/// The parameter maxStage: round trips of additive increase in a row.
pub const MAX_STAGE: Parameter = Parameter {
    name: "max_stage",
    kind: Kind::Count { from: 0, to: 1000 },
    default: Some("5"),
    about: "maxStage: round-trip times of additive increase before the window takes all that is \
            free.",
    source: "HPCC 2019; the authors' simulator starts from 0",
};

/// The parameter W_AI: the additive increase.
pub const ADDITIVE_INCREASE: Parameter = Parameter {
    name: "additive_increase",
    kind: Kind::Size(PacketMeaning::Wire),
    default: Some("80B"),
    about: "W_AI: bytes added to the window once per round-trip time. N flows can share a link \
            without a queue if it is at most (1 - eta) / N of the first window.",
    source: "HPCC 2019; the authors' simulator has 65 B at 100 Gbps and 13us",
};

const PARAMETERS: &[Parameter] = &[BASE_RTT, TARGET_UTILISATION, MAX_STAGE, ADDITIVE_INCREASE];

/// The settings of HPCC's hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HpccSettings {
    /// The settings that all senders with explicit rates share.
    pub explicit: ExplicitSettings,
    /// T: the longest round-trip time without queues.
    pub base_rtt: Time,
    /// Eta: the share of a link that windows aim at.
    pub eta: f64,
    /// maxStage: round trips of additive increase in a row.
    pub max_stage: u64,
    /// W_AI: the additive increase.
    pub additive_increase: Bytes,
}

impl HpccSettings {
    /// Reads the keys.
    ///
    /// # Errors
    /// If T or W_AI is zero: a window would have no length, or could shrink to nothing.
    pub fn from_settings(settings: &Settings) -> Result<HpccSettings, SettingError> {
        let base_rtt = settings.time(&BASE_RTT);
        if base_rtt == Time::ZERO {
            let found = base_rtt.to_string();
            return Err(SettingError::new(BASE_RTT.name, found, "a time above zero"));
        }
        let additive_increase = settings.size(&ADDITIVE_INCREASE);
        if additive_increase == Bytes::ZERO {
            let found = additive_increase.to_string();
            return Err(SettingError::new(ADDITIVE_INCREASE.name, found, "at least 1B"));
        }
        Ok(HpccSettings {
            explicit: ExplicitSettings::from_settings(settings),
            base_rtt,
            eta: settings.number(&TARGET_UTILISATION),
            max_stage: settings.count(&MAX_STAGE),
            additive_increase,
        })
    }
}

/// HPCC's hosts.
#[derive(Clone, Copy, Debug)]
pub struct HpccHosts;

impl TransportPart for HpccHosts {
    const PART: Part = Part {
        role: Role::Transport,
        name: "hpcc",
        about: "HPCC: a window that keeps the most loaded link of the path just below full.",
        source: "Li et al., SIGCOMM 2019",
        parameters: &[explicit::PARAMETERS, PARAMETERS],
    };
    type Transport = Hpcc;

    fn build(settings: &Settings) -> Result<Hpcc, SettingError> {
        Ok(Hpcc { settings: HpccSettings::from_settings(settings)? })
    }

    /// Fair shares of whole links, at once. Two things have no counterpart: the twentieth of each
    /// link that windows leave free, and the round trips until windows are fair.
    fn fluid(_: &Hpcc, _settings: &Settings, shares: Shares) -> Fluid<FlowLevel> {
        let announced = shares.sharing?.announced::<HpccHeader>();
        Ok(FlowLevel { round_trips_before: 0, ..announced })
    }
}
