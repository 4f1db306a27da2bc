//! The parameters of M-PDQ's hosts, and their values.

use flowsched_units::{Kind, Parameter, SettingError, Settings};

use super::MultipathPdq;
use crate::flow_level::{FlowLevel, Fluid, Shares};
use crate::part::{Part, Role};
use crate::transport::pdq::{PdqSettings, part, settings};
use crate::transport::{TransportPart, explicit};

pub(super) const MOST_SUBFLOWS: u64 = 64;

pub(crate) const SUBFLOWS: Parameter = Parameter {
    name: "subflows",
    kind: Kind::Count { from: 1, to: MOST_SUBFLOWS },
    default: Some("3"),
    about: "Number of subflows of a flow, each of at least one packet. On BCube and Jellyfish each \
            takes a parallel path of its own; elsewhere switches choose by a hash.",
    source: "PDQ 2012, 6: \"we split a flow into 3 M-PDQ subflows\"",
};

const PARAMETERS: &[Parameter] = &[SUBFLOWS];

/// The settings of M-PDQ's hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultipathSettings {
    /// The settings of every subflow. A subflow does not give up on its own.
    pub subflow: PdqSettings,
    /// Whether a flow that cannot meet its deadline is given up.
    pub early_termination: bool,
    /// The number of subflows that a flow is split into.
    pub subflows: u32,
}

impl MultipathSettings {
    /// Reads the keys.
    pub fn from_settings(settings: &Settings) -> MultipathSettings {
        let pdq = PdqSettings::from_settings(settings);
        MultipathSettings {
            subflow: PdqSettings { early_termination: false, ..pdq },
            early_termination: pdq.early_termination,
            subflows: settings.count(&SUBFLOWS) as u32,
        }
    }
}

impl TransportPart for MultipathPdq {
    const PART: Part = Part {
        role: Role::Transport,
        name: "m-pdq",
        about: "M-PDQ: PDQ's sender over several paths at once, with a subflow on each; sending \
                subflows take over what paused ones have left.",
        source: "PDQ 2012, 6",
        parameters: &[explicit::PARAMETERS, settings::PARAMETERS, PARAMETERS],
    };
    type Transport = MultipathPdq;

    fn build(settings: &Settings) -> Result<MultipathPdq, SettingError> {
        Ok(MultipathPdq { settings: MultipathSettings::from_settings(settings) })
    }

    /// PDQ's fluid form, with subflows. With an equal split and the shifts of load, all subflows that
    /// may send draw from one store of bytes. A subflow that runs out takes load from the one with
    /// the most, which may be paused, so all end together.
    fn fluid(pdq: &MultipathPdq, settings: &Settings, _shares: Shares) -> Fluid<FlowLevel> {
        let MultipathSettings { subflow, early_termination, subflows } = pdq.settings;
        let hosts = PdqSettings { early_termination, ..subflow };
        let subflows = Some(subflows);
        Ok(FlowLevel { subflows, ..part::fluid_of(hosts, settings)? })
    }
}
