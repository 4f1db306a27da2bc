//! Transports as parts: how a transport builds itself, and the switches that understand it.

use flowsched_units::{SettingError, Settings};

use super::Transport;
use crate::controller::Language;
use crate::flow_level::{FlowLevel, Fluid, Shares};
use crate::part::Part;

/// A transport of the catalogue.
pub trait TransportPart {
    /// What experiment files and catalogues say of it.
    const PART: Part;
    /// Whether its senders slow down on marks.
    const HEEDS_MARKS: bool = false;
    /// What it builds.
    type Transport: Transport<Header: Language> + Clone + std::fmt::Debug + 'static;

    /// The transport that complete and checked settings describe.
    ///
    /// # Errors
    /// If the values do not fit each other.
    fn build(settings: &Settings) -> Result<Self::Transport, SettingError>;

    /// The scheme where flows are fluids, given what the tagger and the port come down to; or the
    /// reason why there is nothing like it.
    fn fluid(transport: &Self::Transport, settings: &Settings, shares: Shares) -> Fluid<FlowLevel>;
}

/// Hosts, and the switches that understand them.
#[derive(Clone, Debug)]
pub struct Hosts<T: Transport<Header: Language>> {
    /// What hosts do.
    pub transport: T,
    /// What switches do.
    pub controllers: <T::Header as Language>::Controllers,
}
