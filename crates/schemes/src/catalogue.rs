//! The parts there are, with their parameters: what `flowsched list schemes` prints and what
//! an experiment file may say.
//!
//! A new transport is a line in `transports!` below. New taggers, ports, controllers and congestion
//! controls of TCP are a line in the families of [`tagger`](crate::tagger), [`port`](crate::port),
//! [`controller`](crate::controller) and [`congestion`](crate::transport::tcp::congestion).

use std::any::Any;

use flowsched_units::{SettingError, Settings};

use crate::controller::telemetry::TelemetryControl;
use crate::controller::{
    ControllerFamily, ControllerPart, NoController, d3, epn, pdq as pdq_switch,
};
use crate::flow_level::{FlowLevel, Fluid};
use crate::on_linux::{HostTags, KernelControl, OnLinux};
use crate::part::{self, Part, Role};
use crate::port::{AnyPort, PortFamily, PortSettings};
use crate::tagger::priority_mapper::PriorityMapper;
use crate::tagger::{AnyTagger, TaggerPart};
use crate::transport::d3::{D3Hosts, RcpHosts};
use crate::transport::homa::HomaHosts;
use crate::transport::homa::priorities::HomaPriorities;
use crate::transport::hpcc::HpccHosts;
use crate::transport::omniscient::Omniscient;
use crate::transport::pdq::multipath::MultipathPdq;
use crate::transport::pdq::{Pdq, PdqHeader};
use crate::transport::phost::{PhostHosts, PhostPriorities};
use crate::transport::tcp::congestion::AnyAlgorithm;
use crate::transport::{Hosts, TransportFamily};
use crate::world::World;

/// Writes the type that is any transport of the catalogue, with the other three parts.
macro_rules! transports {
    ($($Name:ident),* $(,)?) => {
        /// Any transport, with a controller, a tagger and ports that it works with.
        #[derive(Clone, Debug)]
        #[allow(clippy::large_enum_variant, reason = "a scheme has one")]
        pub(crate) enum AnyTransport {
            $($Name(Hosts<<$Name as TransportFamily>::Transport>)),*
        }

        impl AnyTransport {
            const PARTS: &[&[Part]] = &[$(<$Name as TransportFamily>::PARTS),*];

            /// The parts that complete and checked settings name.
            pub(crate) fn from_settings(settings: &Settings) -> Result<AnyTransport, SettingError> {
                $(if <$Name as TransportFamily>::PARTS.iter().any(|part| part.is_named_by(settings)) {
                    let controllers = ControllerFamily::from_settings(settings)?;
                    let transport = <$Name as TransportFamily>::from_settings(settings)?;
                    return Ok(AnyTransport::$Name(Hosts { transport, controllers }));
                })*
                let (role, beside) = (Role::Transport, Role::Controller);
                Err(part::does_not_fit(role, &[beside], settings, &AnyTransport::PARTS.concat()))
            }

            pub(crate) fn run_in<W: World>(&self, world: W) -> W::Output {
                match self {
                    $(AnyTransport::$Name(hosts) => {
                        hosts.controllers.run_in(world, hosts.transport.clone())
                    })*
                }
            }

            pub(crate) fn fluid(&self, settings: &Settings) -> Fluid<FlowLevel> {
                match self {
                    $(AnyTransport::$Name(hosts) => {
                        let shares = hosts.controllers.shares();
                        <$Name as TransportFamily>::fluid(&hosts.transport, settings, shares)
                    })*
                }
            }

            /// The congestion control and the tags that hosts have whose TCP is the kernel's.
            pub(crate) fn on_linux(&self) -> OnLinux<(KernelControl, HostTags)> {
                match self {
                    $(AnyTransport::$Name(Hosts { transport, controllers }) => {
                        let control = <$Name as TransportFamily>::on_linux(transport)?;
                        Ok((control, controllers.on_linux()?))
                    })*
                }
            }

            pub(crate) fn port_settings(&self) -> PortSettings {
                match self {
                    $(AnyTransport::$Name(hosts) => hosts.controllers.port_settings()),*
                }
            }

            /// Transport, tagger and controller, to be looked into.
            pub(crate) fn parts(&self) -> [&dyn Any; 3] {
                match self {
                    $(AnyTransport::$Name(Hosts { transport, controllers }) => {
                        [transport, controllers.tagger(), controllers.control()]
                    })*
                }
            }
        }

        /// Whether senders of the transport that the settings name slow down on marks.
        #[doc(hidden)]
        pub fn heeds_marks(settings: &Settings) -> bool {
            $(<$Name as TransportFamily>::heeds_marks(settings))||*
        }
    };
}

transports!(AnyAlgorithm, Pdq, MultipathPdq, D3Hosts, RcpHosts, HomaHosts, HpccHosts, PhostHosts);

/// The controllers of the catalogue.
const CONTROLLERS: &[Part] = &[
    <NoController as ControllerPart<()>>::PART,
    <epn::EpnSettings as ControllerPart<()>>::PART,
    <pdq_switch::flow_controller::FlowControl as ControllerPart<PdqHeader>>::PART,
    d3::D3Control::PART,
    TelemetryControl::PART,
];

/// All parts, by role.
pub fn parts() -> impl Iterator<Item = &'static Part> {
    const OF_HEADERS: &[Part] =
        &[PriorityMapper::PART, HomaPriorities::PART, PhostPriorities::PART];
    const SCHEDULES: &[Part] = &[Omniscient::PART];
    let taggers = [AnyTagger::PARTS, OF_HEADERS].into_iter();
    let transports = AnyTransport::PARTS.iter().copied().chain([SCHEDULES]);
    taggers.chain(transports).chain([AnyPort::PARTS, CONTROLLERS]).flatten()
}

/// The part of that role and name.
pub fn part(role: Role, name: &str) -> Option<&'static Part> {
    parts().find(|part| part.role == role && part.name == name)
}

/// What the settings come down to if they name a schedule of flows, which has no packets to run.
#[doc(hidden)]
pub fn schedule(settings: &Settings) -> Option<FlowLevel> {
    Omniscient::PART.is_named_by(settings).then(Omniscient::flow_level)
}

/// The parts that a schedule of flows may stand beside.
pub(crate) const BESIDE_SCHEDULES: &[Part] = &Omniscient::BESIDE;

/// Whether the part is a schedule of flows, which has no packets to run.
#[doc(hidden)]
pub fn is_schedule(part: &Part) -> bool {
    part.role == Role::Transport && part.name == Omniscient::PART.name
}

/// The port that the settings name, if its values fit each other.
#[doc(hidden)]
pub fn port(settings: &Settings) -> Option<AnyPort> {
    AnyPort::from_settings(settings).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use flowsched_units::Settings;

    use super::*;

    #[test]
    fn every_default_is_of_its_kind_and_every_name_is_unique() {
        let mut names = BTreeSet::new();
        for part in parts() {
            Settings::defaults(part.parameters());
            assert!(names.insert((part.role.key(), part.name)), "{} twice", part.name);
            for parameter in part.parameters() {
                assert!(!parameter.source.is_empty(), "{} has no source", parameter.name);
            }
        }
    }
}
