//! The parameters of PDQ's hosts, and their values.

use flowsched_units::{Bytes, Kind, PacketMeaning, Parameter, Rate, Settings};

use super::{AgeingOf, Knowledge};
use crate::transport::explicit::ExplicitSettings;

pub(crate) const EARLY_TERMINATION: Parameter = Parameter {
    name: "early_termination",
    kind: Kind::Flag,
    default: Some("true"),
    about: "Whether a sender gives up a flow that cannot meet its deadline.",
    source: "PDQ 2012, 3.1",
};

pub(crate) const FLOW_SIZE: Parameter = Parameter {
    name: "flow_size",
    kind: Kind::Choice(&["known", "estimated", "random"]),
    default: Some("known"),
    about: "What a sender announces as a flow's size: its remaining size, an estimate from the \
            bytes sent so far, or a random size that stays the same.",
    source: "PDQ 2012, 5.6",
};

pub(crate) const ESTIMATE_STEP: Parameter = Parameter {
    name: "estimate_step",
    kind: Kind::Size(PacketMeaning::Payload),
    default: Some("50KB"),
    about: "The step of an estimated size: the estimate rises by this much whenever the flow has \
            sent this much.",
    source: "PDQ 2012, 5.6: \"only for every 50 KByte it sends\"",
};

pub(crate) const AGEING: Parameter = Parameter {
    name: "ageing",
    kind: Kind::Number { from: 0.0, to: 1000.0 },
    default: Some("0"),
    about: "Alpha: a flow divides the expected transmission time that it announces by 2^(alpha t), \
            where t is its waiting time in units of 100 ms.",
    source: "PDQ 2012, 7 and Figure 12: alpha",
};

pub(crate) const AGEING_OF: Parameter = Parameter {
    name: "ageing_of",
    kind: Kind::Choice(&["transmission-time", "criticality"]),
    default: Some("transmission-time"),
    about: "What ageing reduces: the expected transmission time, which Early Start reads too; or \
            the flow's place in the order of criticality alone.",
    source: "PDQ 2012: the caption of Figure 12 says the former (\"by reducing T_H\"), the text of \
             section 7 the latter (\"increase the criticality of a flow\")",
};

pub(crate) const RECEIVER_RATE: Parameter = Parameter {
    name: "receiver_rate",
    kind: Kind::Rate,
    default: Some("1Tbps"),
    about: "The highest rate that a receiver takes data at.",
    source: "PDQ 2012, 3.2; none: receivers are never slow",
};

pub(super) const PARAMETERS: &[Parameter] =
    &[EARLY_TERMINATION, FLOW_SIZE, ESTIMATE_STEP, AGEING, AGEING_OF, RECEIVER_RATE];

/// The settings of PDQ's hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PdqSettings {
    /// The settings that all senders with explicit rates share.
    pub explicit: ExplicitSettings,
    /// Whether a flow that cannot meet its deadline is given up.
    pub early_termination: bool,
    /// What senders know of their flows' sizes.
    pub knowledge: Knowledge,
    /// Alpha: how fast waiting flows become critical.
    pub ageing: f64,
    /// What ageing reduces.
    pub ageing_of: AgeingOf,
    /// The highest rate that a receiver takes data at.
    pub receiver_rate: Rate,
}

impl PdqSettings {
    /// Reads the keys.
    pub fn from_settings(settings: &Settings) -> PdqSettings {
        let step = settings.size(&ESTIMATE_STEP).max(Bytes::new(1));
        PdqSettings {
            explicit: ExplicitSettings::from_settings(settings),
            early_termination: settings.flag(&EARLY_TERMINATION),
            knowledge: match settings.text(&FLOW_SIZE).as_str() {
                "estimated" => Knowledge::Estimated { step },
                "random" => Knowledge::Random,
                _ => Knowledge::Known,
            },
            ageing: settings.number(&AGEING),
            ageing_of: match settings.text(&AGEING_OF).as_str() {
                "criticality" => AgeingOf::Criticality,
                _ => AgeingOf::TransmissionTime,
            },
            receiver_rate: settings.rate(&RECEIVER_RATE),
        }
    }
}
