//! FIFO: one queue.

use flowsched_units::{SettingError, Settings};

use super::{HighestFirst, QueuePart, QueuePorts, parameters};
use crate::flow_level::{Fluid, Sharing, Tagged};
use crate::part::{Part, Role};

/// One queue, first in first out.
#[derive(Clone, Debug, PartialEq)]
pub struct Fifo(QueuePorts<HighestFirst>);

impl QueuePart for Fifo {
    const PART: Part = Part {
        role: Role::Port,
        name: "fifo",
        about: "One queue, first in first out.",
        source: "PIAS ToN 2017, V-C",
        parameters: &[parameters::QUEUED, parameters::HOST],
    };
    type Serving = HighestFirst;

    fn build(settings: &Settings) -> Result<Fifo, SettingError> {
        Ok(Fifo(QueuePorts::from_settings(settings, 1, HighestFirst)))
    }

    fn ports(&self) -> &QueuePorts<HighestFirst> {
        &self.0
    }

    fn fluid(&self, tagged: Tagged) -> Fluid<Sharing> {
        Ok(tagged.by_priority)
    }
}
