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
    /// Whether a full port drops the least urgent packet that it has. Such a port is meant to be
    /// full.
    const DROPS_LEAST_URGENT: bool = false;

    /// The ports that complete and checked settings describe.
    ///
    /// # Errors
    /// If the values do not fit each other.
    fn build(settings: &Settings) -> Result<Self, SettingError>;

    /// Memory, queues and marking of a switch's port.
    fn settings(&self) -> PortSettings;

    /// Runs these ports with the other three parts in `world`.
    fn run_in<W, T, G, C>(&self, world: W, transport: T, tagger: G, controllers: C) -> W::Output
    where
        W: World,
        T: Transport,
        G: Tagging<T::Header>,
        C: Controllers<T::Header>;

    /// How fluid flows share links with these ports, given the fluid forms of their tags; or the
    /// reason why these ports have no fluid form.
    fn fluid(&self, tagged: Tagged) -> Fluid<Sharing>;
}

/// One of the ports that some hosts and switches work with.
pub trait PortFamily: Clone + std::fmt::Debug {
    /// The port that the settings name.
    ///
    /// # Errors
    /// If it is not one of the family, or its values do not fit.
    fn from_settings(settings: &Settings) -> Result<Self, SettingError>;

    /// Memory, queues and marking of a switch's port.
    fn settings(&self) -> PortSettings;

    /// Runs these ports with the other three parts in `world`.
    fn run_in<W, T, G, C>(&self, world: W, transport: T, tagger: G, controllers: C) -> W::Output
    where
        W: World,
        T: Transport,
        G: Tagging<T::Header>,
        C: Controllers<T::Header>;

    /// How fluid flows share links with these ports, given the fluid forms of their tags.
    fn fluid(&self, tagged: Tagged) -> Fluid<Sharing>;
}
