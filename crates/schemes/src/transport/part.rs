//! Transports as parts: how a transport builds itself, and the switches that understand it.

use flowsched_units::{SettingError, Settings};

use super::Transport;
use crate::controller::Language;
use crate::flow_level::{FlowLevel, Fluid, Shares};
use crate::on_linux::KernelControl;
use crate::part::{self, Part, Role};

/// A transport of the catalogue.
pub trait TransportPart {
    /// Its entry in the catalogue.
    const PART: Part;
    /// Whether its senders slow down on marks.
    const HEEDS_MARKS: bool = false;
    /// The transport that it builds.
    type Transport: Transport<Header: Language> + Clone + std::fmt::Debug + 'static;

    /// The transport that complete and checked settings describe.
    ///
    /// # Errors
    /// If the values do not fit each other.
    fn build(settings: &Settings) -> Result<Self::Transport, SettingError>;

    /// The scheme's fluid form, given that of its tagger, port and controller; or the reason why
    /// there is none.
    fn fluid(transport: &Self::Transport, settings: &Settings, shares: Shares) -> Fluid<FlowLevel>;
}

/// Transports that share one compiled engine. The settings name one of them.
pub trait TransportFamily {
    /// Their entries in the catalogue.
    const PARTS: &[Part];
    /// The transport that they build.
    type Transport: Transport<Header: Language> + Clone + std::fmt::Debug + 'static;

    /// Whether the settings name one of the family whose senders slow down on marks.
    fn heeds_marks(settings: &Settings) -> bool;

    /// The same transport in the Linux kernel, if it has one.
    fn on_linux(_transport: &Self::Transport) -> Option<KernelControl> {
        None
    }

    /// The transport that complete and checked settings describe.
    ///
    /// # Errors
    /// If the settings name a transport outside the family, or if its values do not fit each other.
    fn from_settings(settings: &Settings) -> Result<Self::Transport, SettingError>;

    /// The scheme's fluid form, or the reason why there is none. For a family of one, this is
    /// [`TransportPart::fluid`].
    fn fluid(transport: &Self::Transport, settings: &Settings, shares: Shares) -> Fluid<FlowLevel>;
}

/// Each transport is also a family of one.
impl<P: TransportPart> TransportFamily for P {
    const PARTS: &[Part] = &[P::PART];
    type Transport = P::Transport;

    fn heeds_marks(settings: &Settings) -> bool {
        P::PART.is_named_by(settings) && P::HEEDS_MARKS
    }

    fn from_settings(settings: &Settings) -> Result<P::Transport, SettingError> {
        if P::PART.is_named_by(settings) { P::build(settings) } else { Err(refusal::<P>(settings)) }
    }

    fn fluid(transport: &P::Transport, settings: &Settings, shares: Shares) -> Fluid<FlowLevel> {
        P::fluid(transport, settings, shares)
    }
}

/// The error for settings that name a transport outside the family.
pub(super) fn refusal<F: TransportFamily>(settings: &Settings) -> SettingError {
    part::does_not_fit(Role::Transport, &[Role::Controller], settings, F::PARTS)
}

/// Hosts, and the switches that understand them.
#[derive(Clone, Debug)]
pub struct Hosts<T: Transport<Header: Language>> {
    /// What hosts do.
    pub transport: T,
    /// What switches do.
    pub controllers: <T::Header as Language>::Controllers,
}
