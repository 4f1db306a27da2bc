//! No controller: switches tell the hosts nothing but ECN marks.

use flowsched_units::{SettingError, Settings, Time};

use super::{Controller, ControllerPart, Site};
use crate::flow_level::Fluid;
use crate::packet::{Header, Packet};
use crate::part::{Part, Role};
use crate::port::{AnyPort, Backlog, PortFamily};
use crate::tagger::{AnyTagger, TaggerFamily};
use crate::transport::Transport;

/// Switches tell the hosts nothing but ECN marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoController;

/// A header that means nothing to switches: only hosts read it.
pub trait Uncontrolled: Header {
    /// The taggers that these hosts work with.
    type Tagger: TaggerFamily<Self>;
    /// The ports that these hosts work with.
    type Ports: PortFamily;
}

impl Uncontrolled for () {
    type Tagger = AnyTagger;
    type Ports = AnyPort;
}

impl<H: Uncontrolled> ControllerPart<H> for NoController {
    const PART: Part = Part {
        role: Role::Controller,
        name: "none",
        about: "Switches tell the hosts nothing but ECN marks.",
        source: "PIAS ToN 2017, III-B.2",
        parameters: &[],
    };
    type Header = H;
    type Hosts<T: Transport<Header = H>> = T;
    type Tagger = H::Tagger;
    type Ports = H::Ports;
    type Controller = NoController;

    fn build(_settings: &Settings) -> Result<NoController, SettingError> {
        Ok(NoController)
    }

    fn hosts<T: Transport<Header = H>>(&self, transport: T) -> T {
        transport
    }

    fn controller(&self, _site: Site) -> NoController {
        NoController
    }

    fn fluid(&self) -> Fluid<()> {
        Ok(())
    }
}

impl<H: Header> Controller<H> for NoController {
    const IS_THERE: bool = false;
    const LOOKS_ONE_WAY: bool = true;
    const SENDS: bool = false;

    fn on_forward(
        &mut self,
        _now: Time,
        _packet: &mut Packet<H>,
        _backlog: impl FnMut() -> Backlog,
        _send: impl FnMut(Packet<H>),
    ) {
    }

    fn on_return(&mut self, _now: Time, _packet: &mut Packet<H>) {}
}
