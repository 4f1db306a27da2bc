//! What to configure on a switch, whatever its platform.

use flowsched_fleet::Levels;
use flowsched_units::{Bytes, Rate};

/// The settings of a switch for PIAS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The agents' thresholds and code points. Switches use only the code points.
    pub levels: Levels,
    /// Names of ports, as the platform writes them.
    pub ports: Vec<String>,
    /// The rate of the ports.
    pub rate: Rate,
    /// The queue length from which packets are marked.
    pub mark_at: Bytes,
    /// The buffer of a port.
    pub buffer: Bytes,
}

impl Request {
    /// Each level's code point and queue, from the highest priority down. Queues with higher numbers
    /// go first on all platforms but Linux.
    pub(crate) fn queues(&self) -> impl Iterator<Item = (u8, usize)> {
        let count = self.levels.count();
        self.levels.dscp.iter().enumerate().map(move |(level, dscp)| (*dscp, count - 1 - level))
    }

    /// The queue of each of the 64 code points. Code points without a level get queue 0, the last one, like
    /// untagged traffic.
    pub(crate) fn all_code_points(&self) -> impl Iterator<Item = (u8, usize)> {
        (0..64).map(|dscp| {
            let found = self.queues().find(|(level, _)| *level == dscp);
            (dscp, found.map_or(0, |(_, queue)| queue))
        })
    }

    /// The thresholds in one line, for comments.
    pub(crate) fn thresholds(&self) -> String {
        self.levels.thresholds.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    /// Comment lines that describe the configuration.
    pub(crate) fn heading(&self, comment: &str) -> String {
        format!(
            "{comment} PIAS: {} levels, marked at {} on {} ports.\n{comment} flowsched thresholds: {}\n",
            self.levels.count(),
            self.mark_at,
            self.rate,
            self.thresholds()
        )
    }
}
