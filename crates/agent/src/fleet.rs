//! The record of the controller's announcements and of the connection to it, for `status` and the metrics.
//! It is a file in the run directory, because `status` and `metrics` run in other processes.

use flowsched_fleet::Announcement;
use serde::{Deserialize, Serialize};

use crate::config::Fleet;
use crate::log;
use crate::pins::Places;

/// The record's name.
const RECORD: &str = "controller.json";

/// The last known state of the announcements and of the connection.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) group: String,
    pub(crate) host: String,
    /// The version in force; 0 if the file's own thresholds are in force.
    pub(crate) version: u64,
    pub(crate) is_canary: bool,
    /// Whether the source answers.
    pub(crate) is_connected: bool,
    /// Why the source does not answer.
    pub(crate) trouble: Option<String>,
    /// Why the last announcement was refused.
    pub(crate) refusal: Option<String>,
    /// The number of announcements that were put in force, and of those that were refused.
    pub(crate) applied: u64,
    pub(crate) refused: u64,
}

impl Record {
    /// The record of an agent that starts. Counts continue.
    pub(crate) fn begin(places: &Places, fleet: &Fleet, current: Option<&Announcement>) -> Record {
        let before = Record::read(places).unwrap_or_default();
        let host = &fleet.source.host;
        Record {
            group: fleet.source.group.clone(),
            host: host.clone(),
            version: current.map_or(0, |current| current.version),
            is_canary: current.is_some_and(|current| current.is_canary(host)),
            applied: before.applied,
            refused: before.refused,
            ..Record::default()
        }
    }

    /// The record of the agent that runs or ran last; `None` without a controller.
    pub(crate) fn read(places: &Places) -> Option<Record> {
        serde_json::from_str(&places.read_record(RECORD).ok()??).ok()
    }

    /// Removes the record of a controller that an earlier configuration named.
    pub(crate) fn forget(places: &Places) {
        let _ = std::fs::remove_file(places.record(RECORD));
    }

    pub(crate) fn write(&self, places: &Places) {
        let text = serde_json::to_string(self).unwrap_or_default();
        if let Err(error) = places.write_record(RECORD, &text) {
            log::warn(error);
        }
    }

    pub(crate) fn in_touch(&mut self) {
        if !self.is_connected {
            log::info("in touch with the controller");
        }
        (self.is_connected, self.trouble) = (true, None);
    }

    /// Notes that the source does not answer. Logs each kind of trouble once: a text that differs only in its
    /// figures, such as the time, is the same kind.
    pub(crate) fn in_trouble(&mut self, trouble: String) {
        let kind = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
        if self.trouble.as_deref().map(kind) != Some(kind(&trouble)) {
            log::warn(format_args!("{trouble}; thresholds stay as they are"));
        }
        (self.is_connected, self.trouble) = (false, Some(trouble));
    }

    pub(crate) fn refused(&mut self, reason: String) {
        if self.refusal.as_ref() != Some(&reason) {
            log::error(format_args!(
                "an announcement is refused, version {} stays: {reason}",
                self.version
            ));
        }
        self.refusal = Some(reason);
        self.refused += 1;
    }

    pub(crate) fn applied(&mut self, announcement: &Announcement, host: &str) {
        self.version = announcement.version;
        self.is_canary = announcement.is_canary(host);
        self.refusal = None;
        self.applied += 1;
        let canary = if self.is_canary { ", as a canary" } else { "" };
        log::info(format_args!("version {} of the thresholds is in force{canary}", self.version));
    }
}
