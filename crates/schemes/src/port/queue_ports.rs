//! Ports with queues, at switches and at hosts' cards.

use std::sync::Arc;

use flowsched_units::Settings;

use super::{Connections, HostPort, PortSettings, Queues, Serving};
use crate::controller::Site;
use crate::packet::{Header, Packet};
use crate::tagger::Tagging;
use crate::transport::Transport;
use crate::world::{Controllers, Parts, Ports, World};

/// Makes ports whose queues are served by `S`.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuePorts<S> {
    switch: Arc<PortSettings>,
    card: Arc<PortSettings>,
    host: HostPort,
    serving: S,
}

impl<S: Serving + Copy> QueuePorts<S> {
    /// Ports with so many queues; memory, marking and hosts' cards are as the settings say.
    pub fn from_settings(settings: &Settings, queues: usize, serving: S) -> QueuePorts<S> {
        QueuePorts {
            switch: Arc::new(PortSettings::from_settings(settings, queues)),
            card: Arc::new(PortSettings::card()),
            host: HostPort::from_settings(settings),
            serving,
        }
    }

    /// Memory, queues and marking of a switch's port.
    pub fn settings(&self) -> PortSettings {
        *self.switch
    }

    /// Has the world run these ports with the other three parts.
    pub fn run_in<W, T, G, C>(&self, world: W, transport: T, tagger: G, controllers: C) -> W::Output
    where
        W: World,
        T: Transport,
        G: Tagging<T::Header>,
        C: Controllers<T::Header>,
    {
        world.run(Parts { transport, tagger, ports: self.clone(), controllers })
    }
}

impl<H: Header, S: Serving + Copy> Ports<H> for QueuePorts<S> {
    type Port = Queues<Packet<H>, S>;

    fn port(&self, site: Site, _connections: &Connections) -> Queues<Packet<H>, S> {
        let is_plain = site.is_host && !self.host.is_like_switch;
        let settings = if is_plain { &self.card } else { &self.switch };
        Queues::with_serving(Arc::clone(settings), self.serving)
    }

    fn host_rate(&self) -> f64 {
        self.host.rate
    }
}
