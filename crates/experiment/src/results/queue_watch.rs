//! Counts the bytes in the queues of switches' ports while samples pass.

use std::collections::BTreeMap;

use flowsched_units::Time;

use super::{PortRecord, PortRow};

/// The samples of a run that [`super::RunSummary::queue_bytes`] is over: those of switches' ports while flows arrive
/// (Slytherin 2018, Figure 5). If start times are not random, all sample times from the first start count.
#[derive(Clone, Debug)]
pub struct QueueWatch {
    is_switch: Vec<bool>,
    /// The time span in which queues count.
    window: Option<(Time, Time)>,
    /// The number of samples for each number of bytes in the queue.
    waiting: BTreeMap<u64, u64>,
}

impl QueueWatch {
    /// Prepares the counts of a run with these ports, and with these first and last start times, if it has flows.
    pub fn new(
        ports: &[PortRecord],
        arrivals: Option<(Time, Time)>,
        random_starts: bool,
    ) -> QueueWatch {
        let window = match random_starts {
            true => arrivals,
            false => arrivals.map(|(first, _)| (first, Time::MAX)),
        };
        let is_switch = ports.iter().map(|port| !port.class.starts_with("host to ")).collect();
        QueueWatch { is_switch, window, waiting: BTreeMap::new() }
    }

    /// Adds a sample.
    pub fn take(&mut self, sample: &PortRow) {
        let counts = self.window.is_some_and(|(from, to)| (from..=to).contains(&sample.time));
        if counts && self.is_switch[sample.port as usize] {
            *self.waiting.entry(sample.queue_bytes).or_default() += 1;
        }
    }

    /// The number of samples for each number of bytes in the queue. Each port at each sample time is one.
    pub fn counts(&self) -> &BTreeMap<u64, u64> {
        &self.waiting
    }
}
