//! Ports with queues, at switches and at hosts' cards.

use std::sync::Arc;

use flowsched_units::{SettingError, Settings};

use super::{Connections, NetworkPorts, PortPart, PortSettings, Queues, Serving};
use crate::controller::Site;
use crate::flow_level::{Fluid, Sharing, Tagged};
use crate::packet::{Header, Packet};
use crate::part::Part;
use crate::tagger::Tagging;
use crate::transport::Transport;
use crate::world::{Controllers, Parts, Ports, World};

/// Makes ports whose queues are served by `S`.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuePorts<S> {
    settings: NetworkPorts,
    serving: S,
}

impl<S: Serving + Copy> QueuePorts<S> {
    /// Ports with this many queues; memory, marking and hosts' cards are as the settings say.
    pub fn from_settings(settings: &Settings, queues: usize, serving: S) -> QueuePorts<S> {
        QueuePorts { settings: NetworkPorts::from_settings(settings, queues), serving }
    }

    /// The number of queues of a switch's port.
    pub fn queues(&self) -> usize {
        self.settings.of_switch().queues
    }
}

/// A port of the catalogue that has queues.
pub trait QueuePart: Clone + std::fmt::Debug + 'static {
    /// What experiment files and catalogues say of it.
    const PART: Part;
    /// How its queues are served.
    type Serving: Serving + Copy + Send;

    /// The ports that complete and checked settings describe.
    ///
    /// # Errors
    /// If the values do not fit each other.
    fn build(settings: &Settings) -> Result<Self, SettingError>;

    /// What makes the ports.
    fn ports(&self) -> &QueuePorts<Self::Serving>;

    /// How fluid flows share links with these ports, given the fluid forms of their tags; or the
    /// reason why these ports have no fluid form.
    fn fluid(&self, tagged: Tagged) -> Fluid<Sharing>;
}

impl<Q: QueuePart> PortPart for Q {
    const PART: Part = <Q as QueuePart>::PART;

    fn build(settings: &Settings) -> Result<Q, SettingError> {
        <Q as QueuePart>::build(settings)
    }

    fn settings(&self) -> PortSettings {
        **self.ports().settings.of_switch()
    }

    fn run_in<W, T, G, C>(&self, world: W, transport: T, tagger: G, controllers: C) -> W::Output
    where
        W: World,
        T: Transport,
        G: Tagging<T::Header>,
        C: Controllers<T::Header>,
    {
        world.run(Parts { transport, tagger, ports: self.ports().clone(), controllers })
    }

    fn fluid(&self, tagged: Tagged) -> Fluid<Sharing> {
        <Q as QueuePart>::fluid(self, tagged)
    }
}

impl<H: Header, S: Serving + Copy + 'static> Ports<H> for QueuePorts<S> {
    type Port = Queues<Packet<H>, S>;

    fn port(&self, site: Site, _connections: &Connections) -> Queues<Packet<H>, S> {
        Queues::with_serving(Arc::clone(self.settings.of(site.is_host)), self.serving)
    }

    fn host_rate(&self) -> f64 {
        self.settings.host_rate()
    }

    fn by_priority(&self) -> Option<&NetworkPorts> {
        S::IS_BY_PRIORITY.then_some(&self.settings)
    }
}
