//! Ports as parts: how a port builds itself, and which ports a controller works with.

use flowsched_units::{SettingError, Settings};

use super::PortSettings;
use crate::flow_level::{Fluid, Sharing, Tagged};
use crate::part::Part;
use crate::tagger::Tagging;
use crate::transport::Transport;
use crate::world::{Controllers, World};

/// A port of the catalogue.
pub trait PortPart: Clone + std::fmt::Debug {
    /// What experiment files and catalogues say of it.
    const PART: Part;
    /// Whether a full port drops the least urgent packet that it has, so that it is built to be
    /// full.
    const DROPS_LEAST_URGENT: bool = false;

    /// The ports that complete and checked settings describe.
    ///
    /// # Errors
    /// If the values do not fit each other.
    fn build(settings: &Settings) -> Result<Self, SettingError>;

    /// Memory, queues and marking of a switch's port.
    fn settings(&self) -> PortSettings;

    /// Has the world run these ports with the other three parts.
    fn run_in<W, T, G, C>(&self, world: W, transport: T, tagger: G, controllers: C) -> W::Output
    where
        W: World,
        T: Transport,
        G: Tagging<T::Header>,
        C: Controllers<T::Header>;

    /// How flows share links where they are fluids, given what their tags come down to; or the
    /// reason why there is nothing like these ports.
    fn fluid(&self, tagged: Tagged) -> Fluid<Sharing>;
}

/// The ports that some hosts and switches work with: one of them.
pub trait PortFamily: Clone + std::fmt::Debug {
    /// The port that the settings name.
    ///
    /// # Errors
    /// If it is not one of the family, or its values do not fit.
    fn from_settings(settings: &Settings) -> Result<Self, SettingError>;

    /// Memory, queues and marking of a switch's port.
    fn settings(&self) -> PortSettings;

    /// Has the world run these ports with the other three parts.
    fn run_in<W, T, G, C>(&self, world: W, transport: T, tagger: G, controllers: C) -> W::Output
    where
        W: World,
        T: Transport,
        G: Tagging<T::Header>,
        C: Controllers<T::Header>;

    /// How flows share links where they are fluids, given what their tags come down to.
    fn fluid(&self, tagged: Tagged) -> Fluid<Sharing>;
}
