//! The wire format: what the controller announces to a group, and what an agent accepts.
//!
//! An announcement is one JSON object. Versions only increase, and agents refuse a version older than
//! their own. A replayed value or an etcd restored from an old snapshot therefore changes nothing.

use flowsched_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::levels::{self, Levels};
use crate::membership;
use crate::refused::Refused;

/// The longest announcement in bytes.
pub const MAX_BYTES: usize = 16 << 10;

/// The largest step from one version to the next. A forged huge version would otherwise make agents
/// refuse all later ones.
pub const LARGEST_LEAP: u64 = 1_000_000;

/// The largest threshold in bytes: one pebibyte.
const LARGEST: u64 = 1 << 50;

/// Thresholds for a group of hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Announcement {
    /// The group of hosts that the announcement is for.
    pub group: String,
    /// The version, from 1. Each announcement of a group has a higher one.
    pub version: u64,
    /// The code point of each level, the highest priority first. Agents whose configuration has other
    /// code points refuse the announcement.
    pub dscp: Vec<u8>,
    /// Thresholds in bytes, in ascending order: one fewer than there are levels.
    pub thresholds: Vec<u64>,
    /// Thresholds on trial, which some hosts use instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<Canary>,
}

/// Thresholds on trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Canary {
    /// Hosts whose [`membership::place`] is below this are canaries.
    pub below: u32,
    /// The canaries' thresholds, in the form of [`Announcement::thresholds`].
    pub thresholds: Vec<u64>,
}

/// How a valid announcement relates to the agent's current one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The agent has this announcement already.
    Same,
    /// The announcement is newer.
    Newer(Announcement),
}

impl Announcement {
    /// The announcement as JSON.
    pub fn to_json(&self) -> String {
        // Strings, numbers and lists always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses an announcement, and makes all checks that do not depend on an agent.
    ///
    /// # Errors
    /// If the announcement is too long, malformed or inconsistent.
    pub fn parse(text: &[u8]) -> Result<Announcement, Refused> {
        if text.len() > MAX_BYTES {
            let found = format!("{} bytes", text.len());
            return Err(Refused::new("announcement", found, format!("at most {MAX_BYTES}")));
        }
        let announcement: Announcement = serde_json::from_slice(text).map_err(|e| {
            Refused::new("announcement", format!("no JSON of its form ({e})"), FORM)
        })?;
        announcement.check()?;
        Ok(announcement)
    }

    fn check(&self) -> Result<(), Refused> {
        if self.version == 0 {
            return Err(Refused::new("version", 0, "a number from 1"));
        }
        for thresholds in [Some(&self.thresholds), self.canary.as_ref().map(|c| &c.thresholds)] {
            let Some(thresholds) = thresholds else { continue };
            if thresholds.len() + 1 != self.dscp.len() {
                let found = format!("{} of them", thresholds.len());
                let allowed = format!("one fewer than the {} code points", self.dscp.len());
                return Err(Refused::new("thresholds", found, allowed));
            }
            if let Some(wrong) = thresholds.iter().find(|bytes| !(1..=LARGEST).contains(*bytes)) {
                return Err(Refused::new("thresholds", wrong, format!("1 to {LARGEST} bytes")));
            }
            levels::check_thresholds(&bytes(thresholds))?;
        }
        Ok(())
    }

    /// Decides what an agent of `group` with the levels `own` does with the announcement in `text`.
    /// `current` is the announcement that the agent has.
    ///
    /// # Errors
    /// If the agent must refuse the announcement.
    pub fn hear(
        text: &[u8],
        group: &str,
        own: &Levels,
        current: Option<&Announcement>,
    ) -> Result<Heard, Refused> {
        let heard = Announcement::parse(text)?;
        if heard.group != group {
            let found = format!("\"{}\"", heard.group);
            return Err(Refused::new("group", found, format!("\"{group}\", this host's own")));
        }
        if heard.dscp != own.dscp {
            let found = format!("{:?}", heard.dscp);
            return Err(Refused::new("dscp", found, format!("{:?} as in the file", own.dscp)));
        }
        let version = current.map_or(0, |current| current.version);
        if current == Some(&heard) {
            return Ok(Heard::Same);
        }
        if heard.version <= version {
            let allowed = format!("more than {version}, which is in force");
            return Err(Refused::new("version", heard.version, allowed));
        }
        if current.is_some() && heard.version - version > LARGEST_LEAP {
            let allowed = format!("at most {LARGEST_LEAP} more than {version}, which is in force");
            return Err(Refused::new("version", heard.version, allowed));
        }
        Ok(Heard::Newer(heard))
    }

    /// Whether `host` is a canary.
    pub fn is_canary(&self, host: &str) -> bool {
        let place = membership::place(&self.group, host);
        self.canary.as_ref().is_some_and(|canary| place < canary.below)
    }

    /// The thresholds for `host`.
    pub fn thresholds_of(&self, host: &str) -> Vec<Bytes> {
        match &self.canary {
            Some(canary) if self.is_canary(host) => bytes(&canary.thresholds),
            _ => bytes(&self.thresholds),
        }
    }
}

const FORM: &str = "an object with group, version, dscp, thresholds and perhaps canary";

fn bytes(counts: &[u64]) -> Vec<Bytes> {
    counts.iter().copied().map(Bytes::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn own() -> Levels {
        Levels::parse("1KB 2KB", None).unwrap()
    }

    fn announcement(version: u64) -> Announcement {
        let (group, dscp) = ("rack-1".into(), own().dscp);
        Announcement { group, version, dscp, thresholds: vec![20_000, 100_000], canary: None }
    }

    fn hear(heard: &Announcement, current: Option<&Announcement>) -> Result<Heard, String> {
        let text = heard.to_json();
        Announcement::hear(text.as_bytes(), "rack-1", &own(), current).map_err(|e| e.to_string())
    }

    #[test]
    fn only_a_newer_one_is_taken_over() {
        let [first, second] = [announcement(1), announcement(2)];
        assert_eq!(hear(&first, None), Ok(Heard::Newer(first.clone())));
        assert_eq!(hear(&second, Some(&first)), Ok(Heard::Newer(second.clone())));
        assert_eq!(hear(&second, Some(&second)), Ok(Heard::Same));
        let error = hear(&first, Some(&second)).unwrap_err();
        assert_eq!(error, "`version` cannot be 1; use more than 2, which is in force");
        let changed = Announcement { thresholds: vec![1, 2], ..second.clone() };
        assert!(hear(&changed, Some(&second)).is_err(), "another content under the same version");
        let far = announcement(LARGEST_LEAP + 3);
        assert!(hear(&far, Some(&second)).unwrap_err().contains("at most 1000000 more than 2"));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let good = announcement(3);
        let change = |change: fn(&mut Announcement)| {
            let mut bad = good.clone();
            change(&mut bad);
            hear(&bad, None).unwrap_err()
        };
        assert!(change(|a| a.thresholds = vec![2, 1]).contains("cannot be 1B after 2B"));
        assert!(change(|a| a.thresholds = vec![1]).contains("one fewer than the 3"));
        assert!(change(|a| a.thresholds = vec![0, 1]).contains("1 to"));
        assert!(change(|a| a.thresholds = vec![1, u64::MAX]).contains("1 to"));
        assert!(change(|a| a.group = "rack-2".into()).contains("this host's own"));
        assert!(change(|a| a.dscp = vec![1, 2, 3]).contains("as in the file"));
        assert!(change(|a| a.version = 0).contains("a number from 1"));
        let canary = |thresholds| Some(Canary { below: 1, thresholds });
        let bad = Announcement { canary: canary(vec![9, 8]), ..good.clone() };
        assert!(hear(&bad, None).unwrap_err().contains("do not fall"));
        let fine = Announcement { canary: canary(vec![8, 9]), ..good };
        assert!(hear(&fine, None).is_ok());
    }

    #[test]
    fn canaries_have_their_own_thresholds() {
        let below = membership::place("rack-1", "host-7") + 1;
        let canary = Some(Canary { below, thresholds: vec![5, 6] });
        let announced = Announcement { canary, ..announcement(1) };
        assert_eq!(announced.thresholds_of("host-7"), bytes(&[5, 6]));
        let other = (0..).map(|n| format!("h{n}"));
        let other = other.into_iter().find(|host| membership::place("rack-1", host) >= below);
        assert_eq!(announced.thresholds_of(&other.unwrap()), bytes(&[20_000, 100_000]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Announcement::hear(&text, "rack-1", &own(), None);
        }

        #[test]
        fn any_cut_or_changed_announcement_is_read_or_refused(at in 0usize..100, byte: u8) {
            let mut text = announcement(7).to_json().into_bytes();
            let at = at % text.len();
            text[at] = byte;
            if let Ok(Heard::Newer(heard)) =
                Announcement::hear(&text, "rack-1", &own(), Some(&announcement(6)))
            {
                prop_assert!(heard.version > 6 && heard.thresholds.is_sorted());
            }
            prop_assert!(Announcement::parse(&text[..at]).is_err());
        }
    }
}
