//! The catalogue of ports: types that stand for any port that some hosts and switches work with.

use flowsched_units::{SettingError, Settings};

use super::{
    Fifo, Pfabric, PortFamily, PortPart, PortSettings, Slytherin, StrictPriority,
    WeightedRoundRobin,
};
use crate::flow_level::{Fluid, Sharing, Tagged};
use crate::part::{self, Part, Role};
use crate::tagger::Tagging;
use crate::transport::Transport;
use crate::world::{Controllers, World};

/// Writes a family of ports.
macro_rules! port_family {
    ($(#[$about:meta])* $Family:ident: $($Name:ident),*) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub enum $Family {
            $(#[allow(missing_docs, reason = "the type says it")] $Name($Name)),*
        }

        impl $Family {
            /// All ports of the family.
            pub const PARTS: &[Part] = &[$(<$Name as PortPart>::PART),*];

            /// Whether a full port drops the least urgent packet that it has.
            pub fn drops_least_urgent(&self) -> bool {
                match self { $($Family::$Name(_) => <$Name as PortPart>::DROPS_LEAST_URGENT),* }
            }
        }

        impl PortFamily for $Family {
            fn from_settings(settings: &Settings) -> Result<$Family, SettingError> {
                $(if <$Name as PortPart>::PART.is_named_by(settings) {
                    return <$Name as PortPart>::build(settings).map($Family::$Name);
                })*
                Err(part::does_not_fit(Role::Port, &[Role::Transport, Role::Controller], settings, $Family::PARTS))
            }

            fn settings(&self) -> PortSettings {
                match self { $($Family::$Name(ports) => PortPart::settings(ports)),* }
            }

            fn run_in<W, T, G, C>(
                &self,
                world: W,
                transport: T,
                tagger: G,
                controllers: C,
            ) -> W::Output
            where
                W: World,
                T: Transport,
                G: Tagging<T::Header>,
                C: Controllers<T::Header>,
            {
                match self {
                    $($Family::$Name(ports) => {
                        PortPart::run_in(ports, world, transport, tagger, controllers)
                    })*
                }
            }

            fn fluid(&self, tagged: Tagged) -> Fluid<Sharing> {
                match self { $($Family::$Name(ports) => PortPart::fluid(ports, tagged)),* }
            }
        }
    };
}

port_family!(
    /// Any port of the catalogue.
    AnyPort: Fifo, StrictPriority, WeightedRoundRobin, Slytherin, Pfabric
);
port_family!(
    /// Ports where packets choose a queue by their priority.
    Queued: Fifo, StrictPriority, WeightedRoundRobin
);
port_family!(
    /// Ports that serve the packets of one priority in the order in which they came.
    InOrder: Fifo, StrictPriority
);
