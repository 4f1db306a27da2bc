//! Controllers: what switches tell the hosts beside marks.
//!
//! A controller belongs to one egress port. It sees every packet that comes to be sent through
//! it and every packet that comes back over the same link, may change their headers, and may
//! send messages of its own to the senders of flows.

pub mod d3;
pub mod epn;
mod none;
pub mod pdq;

pub use none::NoController;

use std::any::Any;

use flowsched_units::{Rate, SettingError, Settings, Time};

use crate::flow_level::{Fluid, Shares};
use crate::packet::{Header, Packet};
use crate::part::{self, Part, Role};
use crate::port::{Backlog, PortFamily, PortSettings};
use crate::tagger::TaggerFamily;
use crate::transport::{Language, Transport};
use crate::world::World;

/// Where a controller is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// The number of the egress port: no other controller has it.
    pub port: u32,
    /// The rate of the link behind it.
    pub rate: Rate,
    /// On a host's network card; otherwise in a switch.
    pub is_host: bool,
}

/// What one egress port does to the headers of the packets that pass it.
///
/// Whoever runs it addresses the packets that it hands to `send` to the senders of their flows.
pub trait Controller<H: Header> {
    /// Whether there is anything to do; if not, none of the functions is called.
    const IS_THERE: bool = true;
    /// Whether the ACKs of a flow must come back over the links that its data went by.
    const NEEDS_WAY_BACK: bool = false;

    /// A packet comes to be sent through the port, where `backlog` waits.
    fn on_forward(
        &mut self,
        now: Time,
        packet: &mut Packet<H>,
        backlog: Backlog,
        send: impl FnMut(Packet<H>),
    );

    /// A packet came over the same link from its far end.
    fn on_return(&mut self, now: Time, packet: &mut Packet<H>);

    /// When [`Controller::on_timer`] is due; [`Time::MAX`]: not at all.
    fn deadline(&self) -> Time {
        Time::MAX
    }

    /// The deadline may have come.
    fn on_timer(&mut self, _now: Time, _send: impl FnMut(Packet<H>)) {}
}

/// A controller of the catalogue, for hosts whose packets carry `H`.
pub trait ControllerPart<H: Header>: Clone + std::fmt::Debug + 'static {
    /// What experiment files and catalogues say of it.
    const PART: Part;
    /// What packets carry in the end: `H`, or a header that hosts add for the controller.
    type Header: Header;
    /// The hosts, whose packets carry that.
    type Hosts<T: Transport<Header = H>>: Transport<Header = Self::Header>;
    /// The taggers that it works with.
    type Tagger: TaggerFamily<Self::Header>;
    /// The ports that it works with.
    type Ports: PortFamily;
    /// What it builds for each port.
    type Controller: Controller<Self::Header>;

    /// The controller that complete and checked settings describe.
    ///
    /// # Errors
    /// If the values do not fit each other.
    fn build(settings: &Settings) -> Result<Self, SettingError>;

    /// The hosts, whose packets carry what the controller reads.
    fn hosts<T: Transport<Header = H>>(&self, transport: T) -> Self::Hosts<T>;

    /// The controller of the port at `site`.
    fn controller(&self, site: Site) -> Self::Controller;

    /// Whether it has a counterpart where flows are fluids, or the reason why not. A transport that
    /// is told its rate says what it and its controller come down to together.
    fn fluid(&self) -> Fluid<()>;
}

/// The controllers that understand `H`: one of them, with a tagger and ports that it works with.
pub trait ControllerFamily<H: Header>: Clone + std::fmt::Debug {
    /// The controller, the tagger and the ports that the settings name.
    ///
    /// # Errors
    /// If the controller is not one of the family, if it does not work with the tagger or the
    /// ports, or if their values do not fit.
    fn from_settings(settings: &Settings) -> Result<Self, SettingError>;

    /// Has the world run them with this transport.
    fn run_in<W: World, T: Transport<Header = H>>(&self, world: W, transport: T) -> W::Output;

    /// Memory, queues and marking of a switch's port.
    fn port_settings(&self) -> PortSettings;

    /// The tagger, to be looked into.
    fn tagger(&self) -> &dyn Any;

    /// The controller, to be looked into.
    fn control(&self) -> &dyn Any;

    /// What they come down to where flows are fluids.
    fn shares(&self) -> Shares;
}

/// A controller, with a tagger and ports that it works with.
#[derive(Clone, Debug)]
pub struct Controlled<H: Header, C: ControllerPart<H>> {
    control: C,
    tagger: C::Tagger,
    ports: C::Ports,
}

/// A family of one.
impl<H: Header, C: ControllerPart<H>> ControllerFamily<H> for Controlled<H, C> {
    fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        if !C::PART.is_named_by(settings) {
            let (role, beside) = (Role::Controller, Role::Transport);
            return Err(part::does_not_fit(role, beside, settings, &[C::PART]));
        }
        let ports = C::Ports::from_settings(settings)?;
        let tagger = C::Tagger::from_settings(settings, ports.settings().queues)?;
        Ok(Controlled { control: C::build(settings)?, tagger, ports })
    }

    fn run_in<W: World, T: Transport<Header = H>>(&self, world: W, transport: T) -> W::Output {
        let Controlled { control, tagger, ports } = self;
        let controllers = |site: Site| control.controller(site);
        ports.run_in(world, control.hosts(transport), tagger.clone(), controllers)
    }

    fn port_settings(&self) -> PortSettings {
        self.ports.settings()
    }

    fn tagger(&self) -> &dyn Any {
        &self.tagger
    }

    fn control(&self) -> &dyn Any {
        &self.control
    }

    fn shares(&self) -> Shares {
        let tagged = self.tagger.fluid();
        Shares { sharing: self.control.fluid().and_then(|()| self.ports.fluid(tagged)) }
    }
}

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
            fn from_settings(settings: &Settings) -> Result<$Family, SettingError> {
                $(if <$Control as ControllerPart<$Header>>::PART.is_named_by(settings) {
                    return Controlled::from_settings(settings).map($Family::$Name);
                })*
                let parts = [$(<$Control as ControllerPart<$Header>>::PART),*];
                let (role, beside) = (Role::Controller, Role::Transport);
                Err(part::does_not_fit(role, beside, settings, &parts))
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
        }
    };
}

controller_family!(
    /// The controllers of hosts whose packets carry no header: none, and those that add their own.
    Uninformed for (): None: none::NoController, Epn: epn::EpnSettings
);

impl Language for () {
    type Controllers = Uninformed;
}
