//! Strict priority: several queues, of which the highest non-empty one is served.

use flowsched_units::{SettingError, Settings};

use super::parameters::QUEUES;
use super::{HighestFirst, QueuePart, QueuePorts, parameters};
use crate::flow_level::{Fluid, Sharing, Tagged};
use crate::part::{Part, Role};

/// Several queues, the highest non-empty one served first.
#[derive(Clone, Debug, PartialEq)]
pub struct StrictPriority(QueuePorts<HighestFirst>);

impl QueuePart for StrictPriority {
    const PART: Part = Part {
        role: Role::Port,
        name: "strict-priority",
        about: "Several queues; the head of the highest non-empty one goes next.",
        source: "PIAS ToN 2017, III-B.2",
        parameters: &[parameters::STRICT_PRIORITY, parameters::QUEUED, parameters::HOST],
    };
    type Serving = HighestFirst;

    fn build(settings: &Settings) -> Result<StrictPriority, SettingError> {
        let queues = settings.count(&QUEUES) as usize;
        Ok(StrictPriority(QueuePorts::from_settings(settings, queues, HighestFirst)))
    }

    fn ports(&self) -> &QueuePorts<HighestFirst> {
        &self.0
    }

    fn fluid(&self, tagged: Tagged) -> Fluid<Sharing> {
        Ok(tagged.by_priority)
    }
}
