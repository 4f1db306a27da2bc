//! Controllers as parts: how a controller builds itself, and which taggers, ports and headers it
//! works with.

use std::any::Any;

use flowsched_units::{SettingError, Settings};

use super::{Controller, Site};
use crate::flow_level::{Fluid, Shares};
use crate::limits::LARGEST_HEADER;
use crate::on_linux::HostTags;
use crate::packet::Header;
use crate::part::{self, Part, Role};
use crate::port::{PortFamily, PortSettings};
use crate::tagger::TaggerFamily;
use crate::transport::Transport;
use crate::world::World;

/// A header that hosts of the catalogue use, and the controllers that understand it.
pub trait Language: Header {
    /// The controllers, one of which a scheme names.
    type Controllers: ControllerFamily<Self>;
}

/// A controller of the catalogue, for hosts whose packets carry `H`.
pub trait ControllerPart<H: Header>: Clone + std::fmt::Debug + 'static {
    /// What experiment files and catalogues say of it.
    const PART: Part;
    /// The header of packets on the network: `H`, or a header that hosts add for the controller.
    type Header: Header;
    /// The hosts, whose packets carry this header.
    type Hosts<T: Transport<Header = H>>: Transport<Header = Self::Header>;
    /// The taggers that it works with.
    type Tagger: TaggerFamily<Self::Header>;
    /// The ports that it works with.
    type Ports: PortFamily;
    /// The controller that it builds for each port.
    type Controller: Controller<Self::Header>;

    /// The controller that complete and checked settings describe.
    ///
    /// # Errors
    /// If the values do not fit each other.
    fn build(settings: &Settings) -> Result<Self, SettingError>;

    /// The hosts with this transport, whose packets carry the header that the controller reads.
    fn hosts<T: Transport<Header = H>>(&self, transport: T) -> Self::Hosts<T>;

    /// The controller of the port at `site`.
    fn controller(&self, site: Site) -> Self::Controller;

    /// Whether the controller has a fluid form, or the reason why not. A transport whose rates the
    /// controller sets gives the fluid form of both.
    fn fluid(&self) -> Fluid<()>;
}

/// One of the controllers that understand `H`, with a tagger and ports that it works with.
pub trait ControllerFamily<H: Header>: Clone + std::fmt::Debug {
    /// What experiment files and catalogues say of the controllers.
    const CONTROLLERS: &[Part];
    /// What experiment files and catalogues say of the taggers that each controller works with.
    const TAGGERS: &[&[Part]];

    /// The controller, the tagger and the ports that the settings name.
    ///
    /// # Errors
    /// If the controller is not one of the family, if it does not work with the tagger or the
    /// ports, or if their values do not fit.
    fn from_settings(settings: &Settings) -> Result<Self, SettingError>;

    /// Runs the controller, the tagger and the ports with this transport in `world`.
    fn run_in<W: World, T: Transport<Header = H>>(&self, world: W, transport: T) -> W::Output;

    /// Memory, queues and marking of a switch's port.
    fn port_settings(&self) -> PortSettings;

    /// The tagger, for the caller to downcast.
    fn tagger(&self) -> &dyn Any;

    /// The controller, for the caller to downcast.
    fn control(&self) -> &dyn Any;

    /// The fluid form of the controller, the tagger and the ports.
    fn shares(&self) -> Shares;

    /// What hosts with the kernel's TCP write on packets; `None` if they cannot write it.
    fn on_linux(&self) -> Option<HostTags>;
}

/// A controller, with a tagger and ports that it works with.
#[derive(Clone, Debug)]
pub struct Controlled<H: Header, C: ControllerPart<H>> {
    control: C,
    tagger: C::Tagger,
    ports: C::Ports,
}

/// A family with one controller.
impl<H: Header, C: ControllerPart<H>> ControllerFamily<H> for Controlled<H, C> {
    const CONTROLLERS: &[Part] = &[C::PART];
    const TAGGERS: &[&[Part]] = &[<C::Tagger as TaggerFamily<C::Header>>::PARTS];

    fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        const { assert!(C::Header::WIRE_BYTES <= LARGEST_HEADER, "raise `LARGEST_HEADER`") }
        if !C::PART.is_named_by(settings) {
            let (role, beside) = (Role::Controller, Role::Transport);
            return Err(part::does_not_fit(role, &[beside], settings, Self::CONTROLLERS));
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

    fn on_linux(&self) -> Option<HostTags> {
        self.tagger.on_linux()
    }

    fn shares(&self) -> Shares {
        let tagged = self.tagger.fluid();
        Shares { sharing: self.control.fluid().and_then(|()| self.ports.fluid(tagged)) }
    }
}
