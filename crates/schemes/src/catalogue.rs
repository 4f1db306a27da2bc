//! The catalogue of parts with their parameters, which `flowsched list schemes` prints and experiment
//! files name.
//!
//! To add a transport, add a line to `transports!` below. Its header names the controllers and
//! taggers that it works with. To add a tagger, a port, a controller or a congestion control for
//! existing hosts, add a line to the families of [`tagger`](crate::tagger), [`port`](crate::port),
//! [`controller`](crate::controller) and [`congestion`](crate::transport::tcp::congestion).

use std::any::Any;

use flowsched_units::{SettingError, Settings};

use crate::controller::{ControllerFamily, Language};
use crate::flow_level::{FlowLevel, Fluid};
use crate::on_linux::{HostTags, KernelControl};
use crate::part::{self, Part, Role};
use crate::port::{AnyPort, PortFamily, PortSettings};
use crate::transport::omniscient::Omniscient;
use crate::transport::{Hosts, Transport, TransportFamily};
use crate::world::World;

/// The header of the packets of a transport of the catalogue.
type HeaderOf<F> = <<F as TransportFamily>::Transport as Transport>::Header;

/// The controllers that understand the header of a transport of the catalogue.
type ControllersOf<F> = <HeaderOf<F> as Language>::Controllers;

/// Defines the type that stands for any transport of the catalogue, with the other three parts.
macro_rules! transports {
    ($($Name:ident: $Family:ty),* $(,)?) => {
        /// Any transport, with a controller, a tagger and ports that it works with.
        #[derive(Clone, Debug)]
        #[allow(clippy::large_enum_variant, reason = "a scheme has one")]
        pub(crate) enum AnyTransport {
            $($Name(Hosts<<$Family as TransportFamily>::Transport>)),*
        }

        impl AnyTransport {
            const PARTS: &[&[Part]] = &[$(<$Family as TransportFamily>::PARTS),*];
            const CONTROLLERS: &[&[Part]] =
                &[$(<ControllersOf<$Family> as ControllerFamily<HeaderOf<$Family>>>::CONTROLLERS),*];
            const TAGGERS: &[&[&[Part]]] =
                &[$(<ControllersOf<$Family> as ControllerFamily<HeaderOf<$Family>>>::TAGGERS),*];

            /// The parts that complete and checked settings name.
            pub(crate) fn from_settings(settings: &Settings) -> Result<AnyTransport, SettingError> {
                $(if <$Family as TransportFamily>::PARTS.iter().any(|part| part.is_named_by(settings)) {
                    let controllers = ControllerFamily::from_settings(settings)?;
                    let transport = <$Family as TransportFamily>::from_settings(settings)?;
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
                        <$Family as TransportFamily>::fluid(&hosts.transport, settings, shares)
                    })*
                }
            }

            /// The same transport in the Linux kernel, if it has one; and what hosts with the kernel's TCP write on
            /// packets, if they can.
            pub(crate) fn on_linux(&self) -> (Option<KernelControl>, Option<HostTags>) {
                match self {
                    $(AnyTransport::$Name(Hosts { transport, controllers }) => {
                        let control = <$Family as TransportFamily>::on_linux(transport);
                        (control, controllers.on_linux())
                    })*
                }
            }

            pub(crate) fn port_settings(&self) -> PortSettings {
                match self {
                    $(AnyTransport::$Name(hosts) => hosts.controllers.port_settings()),*
                }
            }

            /// Transport, tagger and controller, for the caller to downcast.
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
            $(<$Family as TransportFamily>::heeds_marks(settings))||*
        }
    };
}

transports!(
    Tcp: crate::transport::tcp::congestion::AnyAlgorithm,
    Pdq: crate::transport::pdq::Pdq,
    MultipathPdq: crate::transport::pdq::multipath::MultipathPdq,
    D3: crate::transport::d3::D3Hosts,
    Rcp: crate::transport::d3::RcpHosts,
    Homa: crate::transport::homa::HomaHosts,
    Hpcc: crate::transport::hpcc::HpccHosts,
    Phost: crate::transport::phost::PhostHosts,
);

/// All parts, by role.
pub fn parts() -> impl Iterator<Item = &'static Part> {
    const SCHEDULES: &[Part] = &[Omniscient::PART];
    let taggers = AnyTransport::TAGGERS.iter().copied().flatten();
    let transports = AnyTransport::PARTS.iter().chain([&SCHEDULES]);
    let controllers = AnyTransport::CONTROLLERS.iter();
    let listed = taggers.chain(transports).chain([&AnyPort::PARTS]).chain(controllers);
    let mut parts: Vec<&'static Part> = Vec::new();
    for part in listed.copied().flatten() {
        // Several transports may work with one tagger or controller.
        if !parts.iter().any(|known| known.name == part.name && known.about == part.about) {
            parts.push(part);
        }
    }
    parts.into_iter()
}

/// The part of that role and name.
pub fn part(role: Role, name: &str) -> Option<&'static Part> {
    parts().find(|part| part.role == role && part.name == name)
}

/// The fluid form that the settings describe if they name a schedule of flows, which sends no
/// packets.
#[doc(hidden)]
pub fn schedule(settings: &Settings) -> Option<FlowLevel> {
    Omniscient::PART.is_named_by(settings).then(Omniscient::flow_level)
}

/// The other parts that work with a schedule of flows.
pub(crate) const BESIDE_SCHEDULES: &[Part] = &Omniscient::BESIDE;

/// Whether the part is a schedule of flows, which sends no packets.
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
