//! The controllers of hosts whose packets carry no header: the catalogue of their controllers.

use std::any::Any;

use flowsched_units::{SettingError, Settings};

use super::epn::EpnSettings;
use super::none::NoController;
use super::{Controlled, ControllerFamily, ControllerPart, Language};
use crate::flow_level::Shares;
use crate::on_linux::HostTags;
use crate::part::{self, Part, Role};
use crate::port::PortSettings;
use crate::transport::Transport;
use crate::world::World;

/// Writes a family of controllers for hosts whose packets carry `$Header`.
macro_rules! controller_family {
    ($(#[$about:meta])* $Family:ident for $Header:ty: $($Name:ident: $Control:ty),*) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub enum $Family {
            $(#[allow(missing_docs, reason = "the type says it")]
            $Name(Controlled<$Header, $Control>)),*
        }

        impl ControllerFamily<$Header> for $Family {
            const CONTROLLERS: &[Part] = &[$(<$Control as ControllerPart<$Header>>::PART),*];
            const TAGGERS: &[&[Part]] =
                &[$(<Controlled<$Header, $Control> as ControllerFamily<$Header>>::TAGGERS[0]),*];

            fn from_settings(settings: &Settings) -> Result<$Family, SettingError> {
                $(if <$Control as ControllerPart<$Header>>::PART.is_named_by(settings) {
                    return Controlled::from_settings(settings).map($Family::$Name);
                })*
                let (role, beside) = (Role::Controller, Role::Transport);
                Err(part::does_not_fit(role, &[beside], settings, Self::CONTROLLERS))
            }

            fn run_in<W, T>(&self, world: W, transport: T) -> W::Output
            where
                W: World,
                T: Transport<Header = $Header>,
            {
                match self { $($Family::$Name(parts) => parts.run_in(world, transport)),* }
            }

            fn port_settings(&self) -> PortSettings {
                match self { $($Family::$Name(parts) => parts.port_settings()),* }
            }

            fn tagger(&self) -> &dyn Any {
                match self { $($Family::$Name(parts) => parts.tagger()),* }
            }

            fn control(&self) -> &dyn Any {
                match self { $($Family::$Name(parts) => parts.control()),* }
            }

            fn shares(&self) -> Shares {
                match self { $($Family::$Name(parts) => parts.shares()),* }
            }

            fn on_linux(&self) -> Option<HostTags> {
                match self { $($Family::$Name(parts) => parts.on_linux()),* }
            }
        }
    };
}

controller_family!(
    /// The controllers of hosts whose packets carry no header: none, and those that add their own.
    Uninformed for (): None: NoController, Epn: EpnSettings
);

impl Language for () {
    type Controllers = Uninformed;
}
