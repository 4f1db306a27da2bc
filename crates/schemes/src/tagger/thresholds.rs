//! Thresholds between priorities: amounts of bytes, none below the one before it.

use flowsched_units::{Bytes, Kind, PacketMeaning, Parameter, SettingError, Settings, Value};

/// The most priorities, limited by a port's bitmap of queues.
pub const MAX_PRIORITIES: usize = 64;

/// Words that stand for thresholds; the reader of the experiment replaces them by sizes.
const WORDS: &[&str] = &["optimal", "equal-split", "published"];

/// Bytes at which a flow's priority falls.
pub const THRESHOLDS: Parameter = Parameter {
    name: "thresholds",
    kind: Kind::Sizes { packet: PacketMeaning::Payload, words: WORDS },
    default: Some("optimal"),
    about: "Demotion thresholds in bytes sent, one fewer than queues, none below the one \
            before it. \"optimal\" minimises the mean FCT of the project's model; \"equal-split\" \
            gives every queue the same share of flows; \"published\" takes the PIAS authors' \
            values for web search or data mining with 8 queues, at the load nearest to the \
            workload's among 0.5 to 0.9 in steps of 0.1.",
    source: "PIAS ToN 2017, III-C; equal-split: V-B; published: the PIAS authors' simulator",
};

/// Thresholds between priorities.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Thresholds(Vec<u64>);

impl Thresholds {
    pub(super) fn new(thresholds: &[Bytes]) -> Thresholds {
        Thresholds(thresholds.iter().copied().map(Bytes::get).collect())
    }

    /// Reads thresholds after words have been replaced.
    pub(super) fn from_settings(
        settings: &Settings,
        parameter: &Parameter,
    ) -> Result<Thresholds, SettingError> {
        match settings.get(parameter) {
            Some(Value::Sizes(sizes)) => Ok(Thresholds::new(sizes)),
            other => {
                let found = other.map_or("nothing".into(), |value| format!("\"{value}\""));
                Err(SettingError::new(parameter, found, "sizes"))
            }
        }
    }

    /// Refuses thresholds if there is not one fewer than `queues`, or if one is below the one
    /// before it.
    pub(super) fn check(&self, queues: usize) -> Result<(), SettingError> {
        let count = self.0.len();
        if queues > MAX_PRIORITIES || count + 1 != queues {
            let allowed = format!(
                "{} of them, one fewer than the {queues} queues (at most {MAX_PRIORITIES})",
                queues.saturating_sub(1)
            );
            return Err(SettingError::new(&THRESHOLDS, format!("{count} thresholds"), allowed));
        }
        if let Some(fall) = self.0.windows(2).find(|pair| pair[1] < pair[0]) {
            let (before, after) = (Bytes::new(fall[0]), Bytes::new(fall[1]));
            let found = format!("{after} after {before}");
            return Err(SettingError::new(&THRESHOLDS, found, "thresholds that do not fall"));
        }
        Ok(())
    }

    /// The thresholds.
    pub(super) fn sizes(&self) -> Vec<Bytes> {
        self.0.iter().copied().map(Bytes::new).collect()
    }

    /// How many priorities there are.
    pub(super) fn priorities(&self) -> usize {
        self.0.len() + 1
    }

    /// The priority at `count` bytes: the smallest i for which `count` is not above threshold i.
    #[inline]
    pub(super) fn priority_at(&self, count: u64) -> u8 {
        self.0.partition_point(|threshold| count > *threshold) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_threshold_fewer_than_queues_and_none_falls() {
        let thresholds = |count: u64| Thresholds((0..count).collect());
        let most = MAX_PRIORITIES as u64;
        assert!(thresholds(most - 1).check(MAX_PRIORITIES).is_ok());
        assert!(thresholds(most).check(MAX_PRIORITIES + 1).is_err());
        assert!(thresholds(7).check(7).is_err());
        assert!(Thresholds(vec![2, 1]).check(3).is_err());
    }
}
