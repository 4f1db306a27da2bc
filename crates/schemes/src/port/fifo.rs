//! FIFO: one queue.

use flowsched_units::{SettingError, Settings};

use super::{HighestFirst, PortPart, PortSettings, QueuePorts, settings};
use crate::flow_level::{Fluid, Sharing, Tagged};
use crate::part::{Part, Role};
use crate::tagger::Tagging;
use crate::transport::Transport;
use crate::world::{Controllers, World};

/// One queue, first in first out.
#[derive(Clone, Debug, PartialEq)]
pub struct Fifo(QueuePorts<HighestFirst>);

impl PortPart for Fifo {
    const PART: Part = Part {
        role: Role::Port,
        name: "fifo",
        about: "One queue, first in first out.",
        source: "PIAS ToN 2017, V-C",
        parameters: &[settings::BUFFER, settings::HOST],
    };

    fn build(settings: &Settings) -> Result<Fifo, SettingError> {
        Ok(Fifo(QueuePorts::from_settings(settings, 1, HighestFirst)))
    }

    fn settings(&self) -> PortSettings {
        self.0.settings()
    }

    fn run_in<W, T, G, C>(&self, world: W, transport: T, tagger: G, controllers: C) -> W::Output
    where
        W: World,
        T: Transport,
        G: Tagging<T::Header>,
        C: Controllers<T::Header>,
    {
        self.0.run_in(world, transport, tagger, controllers)
    }

    fn fluid(&self, tagged: Tagged) -> Fluid<Sharing> {
        Ok(tagged.by_priority)
    }
}
