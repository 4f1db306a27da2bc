//! Strict priority: several queues, of which the highest non-empty one is served.

use flowsched_units::{SettingError, Settings};

use super::{QueuePart, QueuePorts, Serving, settings};
use crate::flow_level::{Fluid, Sharing, Tagged};
use crate::packet::Frame;
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
        parameters: &[settings::QUEUES, settings::BUFFER, settings::HOST],
    };
    type Serving = HighestFirst;

    fn build(settings: &Settings) -> Result<StrictPriority, SettingError> {
        let queues = settings.count("queues") as usize;
        Ok(StrictPriority(QueuePorts::from_settings(settings, queues, HighestFirst)))
    }

    fn ports(&self) -> &QueuePorts<HighestFirst> {
        &self.0
    }

    fn fluid(&self, tagged: Tagged) -> Fluid<Sharing> {
        Ok(tagged.by_priority)
    }
}

/// The highest queue first, 0 being the highest; packets say themselves where they belong.
///
/// PIAS ToN 2017, III-B.2: "packets are dequeued based on their priorities strictly when a
/// fabric port is idle". One queue is FIFO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HighestFirst;

impl Serving for HighestFirst {
    #[inline]
    fn queue_of<F: Frame>(&self, frame: &F) -> usize {
        usize::from(frame.priority())
    }

    #[inline]
    fn next(&mut self, occupied: u64) -> usize {
        occupied.trailing_zeros() as usize
    }
}
