//! The configuration with every value checked and converted to its unit.

use std::path::Path;

use flowsched_fleet::Levels;
use flowsched_fleet::nic::Nic;
use flowsched_units::{Bytes, PacketMeaning, Time};

use super::{Fleet, Metrics, Selection, file};
use crate::error::AgentError;

/// A checked configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Names of interfaces. A `*` at the end stands for anything.
    pub interfaces: Vec<String>,
    /// Demotion thresholds, one fewer than levels.
    pub thresholds: Vec<Bytes>,
    /// The code point of each level, the highest priority first.
    pub dscp: Vec<u8>,
    /// Whether the level depends on all bytes sent instead of the offset in the message.
    pub cumulative: bool,
    /// Whether packets that already have a DSCP are left alone.
    pub respect_dscp: bool,
    /// Whether to set ECT(0) on data of connections that negotiated ECN.
    pub force_ect: bool,
    /// The UDP port of VXLAN; 0 if tunnels are not examined.
    pub vxlan_port: u16,
    /// The idle time after which a new message begins; `None` for never.
    pub message_idle: Option<Time>,
    /// The event that ends a message.
    pub message_end: MessageEnd,
    /// The bits of the packet mark in which the application marks the start of a message by a
    /// changed value.
    pub start_mark: Option<u32>,
    /// Whether the application marks the start of a message by another SO_PRIORITY.
    pub start_priority: bool,
    /// The number of timeouts in a row after which a flow counts as new; 0 for never.
    pub ageing_timeouts: u32,
    /// The silence before a repeated sequence number that makes it a timeout.
    pub timeout_gap: Time,
    /// The room for flows that are known by their 5-tuple.
    pub max_flows: u32,
    /// The idle time after which such a flow begins anew; `None` for never.
    pub flow_idle: Option<Time>,
    /// The packets that are tagged.
    pub selection: Selection,
    /// Limits on super-packets, which are tagged as one packet.
    pub gso: GsoCap,
    /// The metrics server, if there is one.
    pub metrics: Option<Metrics>,
    /// Whether the kernel measures the program's run time, which costs about 20 ns per packet.
    pub measure_run_time: bool,
    /// The scheduling of the interfaces, if the agent sets it.
    pub nic: Option<Nic>,
    /// Whether packets are only counted as if they were tagged, and left as they are.
    pub is_survey: bool,
    /// The source of thresholds, if there is a controller.
    pub fleet: Option<Fleet>,
}

/// When a message of a local TCP connection has ended. In both cases, everything that the application
/// wrote must have been sent (PIAS ToN 2017, IV-A.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageEnd {
    /// When everything is also acknowledged.
    Acknowledged,
    /// As soon as everything was sent.
    Sent,
}

/// Limits on super-packets. A super-packet has one DSCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GsoCap {
    /// The most bytes in a super-packet.
    pub max_size: Option<u32>,
    /// The most segments in a super-packet.
    pub max_segments: Option<u32>,
}

impl Config {
    /// Reads and checks the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read or is not TOML, if a key is unknown or missing, or if a value is
    /// invalid.
    pub fn read(path: &Path) -> Result<Config, AgentError> {
        let unreadable = |error: std::io::Error| AgentError::Syntax {
            path: path.to_owned(),
            message: error.to_string(),
        };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        Config::parse(&text, path)
    }

    /// Reads and checks the configuration in `text`. Errors name `path`.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Config, AgentError> {
        let file: file::File = toml::from_str(text).map_err(|error| AgentError::Syntax {
            path: path.to_owned(),
            message: error.to_string().trim_end().to_owned(),
        })?;
        Config::check(file)
    }

    fn check(file: file::File) -> Result<Config, AgentError> {
        let Levels { thresholds, dscp } = Levels::parse(&file.thresholds, file.dscp)?;
        if file.interfaces.is_empty() {
            return Err(AgentError::setting("interfaces", "none", "names such as \"eth0\""));
        }
        Ok(Config {
            interfaces: file.interfaces,
            thresholds,
            dscp,
            cumulative: file.bookkeeping == file::Bookkeeping::Cumulative,
            respect_dscp: file.respect_dscp,
            force_ect: file.force_ect,
            vxlan_port: file.vxlan_port,
            message_idle: idle("message.idle", &file.message.idle)?,
            message_end: match file.message.end {
                file::End::Acknowledged => MessageEnd::Acknowledged,
                file::End::Sent => MessageEnd::Sent,
            },
            start_mark: (file.message.start == file::Start::Mark).then_some(file.message.mark_mask),
            start_priority: file.message.start == file::Start::Priority,
            ageing_timeouts: file.ageing.timeouts,
            timeout_gap: time("ageing.gap", &file.ageing.gap)?,
            max_flows: enough_flows(file.flows.max)?,
            flow_idle: idle("flows.idle", &file.flows.idle)?,
            selection: Selection::check(&file.select)?,
            gso: gso(&file.gso)?,
            metrics: Metrics::check(&file.metrics)?,
            measure_run_time: file.metrics.run_time,
            nic: file.nic.map(|table| Nic::check(&table, None)).transpose()?,
            is_survey: file.survey,
            fleet: file.controller.map(Fleet::check).transpose()?,
        })
    }

    /// The thresholds and code points of the configuration.
    pub fn own_levels(&self) -> Levels {
        Levels { thresholds: self.thresholds.clone(), dscp: self.dscp.clone() }
    }

    /// The number of levels.
    pub fn levels(&self) -> usize {
        self.thresholds.len() + 1
    }
}

fn time(key: &str, text: &str) -> Result<Time, AgentError> {
    text.parse().map_err(|_| {
        AgentError::setting(key, format!("\"{text}\""), "a time such as \"500us\" or \"9ms\"")
    })
}

fn idle(key: &str, text: &str) -> Result<Option<Time>, AgentError> {
    if text == "never" {
        return Ok(None);
    }
    match time(key, text) {
        Ok(Time::ZERO) | Err(_) => Err(AgentError::setting(
            key,
            format!("\"{text}\""),
            "a time more than zero such as \"500us\", or \"never\"",
        )),
        Ok(time) => Ok(Some(time)),
    }
}

/// Refuses a map of flows that is too small. The kernel gives each core a map's entries by the
/// hundred, so a smaller map would forget flows although it has room.
fn enough_flows(max: u32) -> Result<u32, AgentError> {
    let cores = libbpf_rs::num_possible_cpus().unwrap_or(1) as u32;
    let least = 512.max(256 * cores);
    if max < least {
        let allowed = format!("at least {least} on a machine with {cores} cores");
        return Err(AgentError::setting("flows.max", max, allowed));
    }
    Ok(max)
}

fn gso(file: &file::Gso) -> Result<GsoCap, AgentError> {
    let max_size = match &file.max_size {
        None => None,
        Some(text) => {
            let size = Bytes::parse(text, PacketMeaning::Wire).ok().map(Bytes::get);
            let fits = size.and_then(|size| u32::try_from(size).ok()).filter(|s| *s >= 1500);
            Some(fits.ok_or_else(|| {
                let allowed = "a size from 1500 B such as \"16KiB\"";
                AgentError::setting("gso.max-size", format!("\"{text}\""), allowed)
            })?)
        }
    };
    if file.max_segments == Some(0) {
        return Err(AgentError::setting("gso.max-segments", 0, "a whole number from 1"));
    }
    Ok(GsoCap { max_size, max_segments: file.max_segments })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::types;

    const SMALLEST: &str = "interfaces = [\"eth0\"]\nthresholds = \"100KB 1MB\"\n";

    fn parse(more: &str) -> Result<Config, AgentError> {
        Config::parse(&format!("{SMALLEST}{more}"), Path::new("agent.toml"))
    }

    #[test]
    fn the_smallest_file_has_the_papers_defaults() {
        let config = parse("").unwrap();
        assert_eq!(config.levels(), 3);
        assert_eq!(config.message_idle, Some(Time::from_us(500)));
        assert_eq!(config.ageing_timeouts, 2);
        assert_eq!(config.dscp, [48, 32, 0]);
        let rule = config.rule();
        assert_eq!(rule.thresholds[..3], [100_000, 1_000_000, u64::MAX]);
        let ticks = types::rule_flag::FS_TICKS.0;
        assert!(!config.is_survey && config.fleet.is_none());
        assert_eq!(rule.flags.0, if config.knows_time_by_ticks() { ticks } else { 0 });
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_is_allowed() {
        let cases = [
            ("thresholds = \"1MB 100KB\"", "`thresholds` cannot be 100KB after 1MB"),
            ("thresholds = \"100\"", "`thresholds` cannot be \"100\""),
            ("thresholds = \"1B 2B 3B 4B 5B 6B 7B 8B\"", "at most 7"),
            ("thresholds = \"1KB\"\ndscp = [8, 8]", "`dscp` cannot be 8 twice"),
            ("thresholds = \"1KB\"\ndscp = [8, 64]", "`dscp` cannot be 64"),
            ("thresholds = \"1KB\"\ndscp = \"cs8\"", "`dscp` cannot be 8 of them; use 2"),
            ("thresholds = \"1KB\"\n[flows]\nmax = 16", "`flows.max` cannot be 16"),
            ("thresholds = \"1KB\"\n[select]\nports = [\"9-1\"]", "select.ports"),
            ("thresholds = \"1KB\"\n[select]\nprefixes = [\"10.0.0.0/33\"]", "select.prefixes"),
            ("thresholds = \"1KB\"\n[message]\nidle = \"0s\"", "message.idle"),
            ("thresholds = \"1KB\"\ntresholds = 1", "unknown field `tresholds`"),
            ("thresholds = \"1K", "line 2"),
        ];
        for (text, expected) in cases {
            let text = format!("interfaces = [\"eth0\"]\n{text}\n");
            let error = Config::parse(&text, Path::new("agent.toml")).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}\n{error}");
        }
    }

    #[test]
    fn more_than_the_maps_hold_is_refused() {
        let prefixes = |count: usize| {
            let each = (0..count).map(|n| format!("\"10.{}.{}.0/24\"", n >> 8, n & 255));
            format!("[select]\nprefixes = [{}]\n", each.collect::<Vec<_>>().join(", "))
        };
        assert_eq!(parse(&prefixes(2048)).unwrap().selection.prefixes.len(), 2048);
        let error = parse(&prefixes(2049)).unwrap_err().to_string();
        assert!(error.contains("`select.prefixes` cannot be 2049 of them; use at most 2048"));
    }

    #[test]
    fn a_cut_off_file_is_never_taken_for_another() {
        let whole = format!("{SMALLEST}dscp = [16, 8, 0]\n[flows]\nidle = \"1s\"\n");
        let complete = Config::parse(&whole, Path::new("agent.toml")).unwrap();
        let accepted = (0..whole.len())
            .filter_map(|end| Config::parse(&whole[..end], Path::new("agent.toml")).ok())
            .filter(|config| config.thresholds != complete.thresholds)
            .count();
        assert_eq!(accepted, 0, "a prefix of the file has other thresholds");
    }
}
