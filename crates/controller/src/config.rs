//! The controller's configuration: the file with every value checked and converted to its unit.

mod file;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flowsched_fleet::follow::Identity;
use flowsched_fleet::{Levels, Refused, names};
use flowsched_units::{Bytes, PacketMeaning, Rate, Time};

use crate::error::ControllerError;

/// A checked configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The folder for state that outlives the process.
    pub state: PathBuf,
    /// Thresholds until the first decision, and the code points of the levels.
    pub levels: Levels,
    /// The address that agents poll; `None` with etcd.
    pub listen: Option<SocketAddr>,
    /// The address that serves status and metrics, without TLS.
    pub status: SocketAddr,
    /// The controller's certificates.
    pub identity: Option<Identity>,
    /// Endpoints of etcd. If empty, announcements are served on `listen`.
    pub etcd: Vec<String>,
    /// How flow sizes are collected.
    pub collect: Collect,
    /// When thresholds change.
    pub guard: Guard,
    /// How new thresholds are tried.
    pub trial: Trial,
    /// The groups, by name.
    pub groups: BTreeMap<String, Group>,
}

/// How flow sizes are collected.
#[derive(Clone, Debug)]
pub struct Collect {
    /// The address of Prometheus; `None` if the controller scrapes agents itself.
    pub prometheus: Option<String>,
    /// The time between two rounds.
    pub every: Duration,
    /// The length of a window; one hour by default.
    pub window: Duration,
    /// The number of windows that are kept; one day by default.
    pub windows: usize,
    /// The authority that signed the certificates of agents' metrics endpoints.
    pub ca: Option<PathBuf>,
    /// The file with the bearer token for agents' metrics.
    pub token_file: Option<PathBuf>,
}

/// Limits on changes of thresholds.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// The time between two decisions.
    pub every: Duration,
    /// The relative improvement of the predicted mean FCT that a change needs.
    pub improvement: f64,
    /// The minimum time between two changes.
    pub interval: Duration,
    /// The smallest threshold that is announced.
    pub least_threshold: Bytes,
    /// The minimum number of messages for a decision.
    pub least_messages: u64,
}

/// A trial on some hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The share of hosts that are canaries.
    pub share: f64,
    /// How long the trial lasts.
    pub time: Duration,
    /// The relative rise of the retransmission rate that rolls the trial back.
    pub retransmissions: f64,
}

/// Hosts that have the same thresholds.
#[derive(Clone, Debug)]
pub struct Group {
    /// URLs of the agents' metrics endpoints.
    pub agents: Vec<String>,
    /// Prometheus label matchers that select the group's series.
    pub selector: String,
    /// The rate of a host's link.
    pub link_rate: Rate,
}

/// The maximum number of agents that the controller scrapes without Prometheus.
pub const MOST_SCRAPED: usize = 1000;

impl Config {
    /// Reads and checks the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read, or has a missing, invalid or contradictory value.
    pub fn read(path: &Path) -> Result<Config, ControllerError> {
        let text = std::fs::read_to_string(path).map_err(|e| ControllerError::file(path, e))?;
        Config::parse(&text, path)
    }

    /// Checks the configuration in `text`. Errors name `path`.
    ///
    /// # Errors
    /// If a value is missing, invalid or contradicts another.
    pub fn parse(text: &str, path: &Path) -> Result<Config, ControllerError> {
        let file: file::File = toml::from_str(text).map_err(|e| ControllerError::Syntax {
            path: path.to_owned(),
            message: e.to_string().trim_end().to_owned(),
        })?;
        Config::check(file)
    }

    fn check(file: file::File) -> Result<Config, ControllerError> {
        let levels = Levels::parse(&file.thresholds, file.dscp)?;
        let default_rate = file.link_rate.as_deref().map(|text| rate("link-rate", text));
        let default_rate = default_rate.transpose()?;
        let mut groups = BTreeMap::new();
        for (name, group) in file.groups {
            names::check("groups", &name)?;
            groups.insert(name.clone(), checked_group(&name, group, default_rate)?);
        }
        let config = Config {
            state: file.state,
            levels,
            listen: file.listen,
            status: file.status,
            identity: file.tls,
            etcd: file.etcd,
            collect: collect(file.collect)?,
            guard: guard(file.decide)?,
            trial: trial(file.canary)?,
            groups,
        };
        config.contradictions()?;
        Ok(config)
    }

    fn contradictions(&self) -> Result<(), ControllerError> {
        let wrong = |text: &str| Err(ControllerError::Usage(text.into()));
        if self.groups.is_empty() {
            return wrong("The file has no group. Add one, such as `[groups.default]`.");
        }
        if self.listen.is_none() == self.etcd.is_empty() {
            return wrong(
                "Agents need one way to get thresholds: set `listen`, an address that they poll, \
                 or `etcd`, a list of addresses.",
            );
        }
        if self.identity.is_none() {
            return wrong(
                "`[tls]` is missing: agents are served with mutual TLS only. \
                 `flowsched controller certificates` makes certificates to start with.",
            );
        }
        let mut urls = self.groups.values().flat_map(|group| &group.agents);
        let in_clear = urls.find(|url| url.starts_with("http://"));
        if let (Some(url), Some(_)) = (in_clear, &self.collect.token_file) {
            return wrong(&format!(
                "`collect.bearer-token-file` would send the token to {url} in clear text. Have that agent \
                 serve its metrics over HTTPS, or remove the token."
            ));
        }
        let agents: usize = self.groups.values().map(|group| group.agents.len()).sum();
        if self.collect.prometheus.is_none() && agents > MOST_SCRAPED {
            return wrong(&format!(
                "The groups have {agents} agents; the controller scrapes up to {MOST_SCRAPED} \
                 itself. Set `collect.prometheus` to let Prometheus scrape them."
            ));
        }
        Ok(())
    }
}

fn checked_group(
    name: &str,
    file: file::Group,
    default: Option<Rate>,
) -> Result<Group, ControllerError> {
    let key = format!("groups.{name}.link-rate");
    let own = file.link_rate.as_deref().map(|text| rate(&key, text)).transpose()?;
    let link_rate = own.or(default).ok_or_else(|| {
        ControllerError::Usage(format!(
            "`{key}` is missing. Set it, or `link-rate` for all groups."
        ))
    })?;
    let is_address = |url: &&String| url.starts_with("http://") || url.starts_with("https://");
    if let Some(wrong) = file.agents.iter().find(|url| !is_address(url)) {
        let allowed = "addresses such as \"https://host7.example:9487\"";
        let key = format!("groups.{name}.agents");
        return Err(Refused::new(key, format!("\"{wrong}\""), allowed).into());
    }
    Ok(Group { agents: file.agents, selector: file.selector, link_rate })
}

fn collect(file: file::Collect) -> Result<Collect, Refused> {
    if !(1..=168).contains(&file.windows) {
        return Err(Refused::new("collect.windows", file.windows, "1 to 168"));
    }
    Ok(Collect {
        prometheus: file.prometheus,
        every: duration("collect.every", &file.every, INSTANT)?,
        window: duration("collect.window", &file.window, SECOND)?,
        windows: file.windows,
        ca: file.ca,
        token_file: file.bearer_token_file,
    })
}

fn guard(file: file::Decide) -> Result<Guard, Refused> {
    if !(0.0..1.0).contains(&file.improvement) {
        return Err(Refused::new("decide.improvement", file.improvement, "0 to less than 1"));
    }
    let least = Bytes::parse(&file.least_threshold, PacketMeaning::Payload)
        .map_err(|e| Refused::new("decide.least-threshold", e.found, e.allowed))?;
    Ok(Guard {
        every: duration("decide.every", &file.every, INSTANT)?,
        improvement: file.improvement,
        interval: duration("decide.interval", &file.interval, SECOND)?,
        least_threshold: least.max(Bytes::new(1)),
        least_messages: file.least_messages,
    })
}

fn trial(file: file::Canary) -> Result<Trial, Refused> {
    if !(file.share > 0.0 && file.share <= 0.5) {
        return Err(Refused::new("canary.share", file.share, "over 0 and up to 0.5"));
    }
    if !(file.retransmissions > 0.0 && file.retransmissions.is_finite()) {
        return Err(Refused::new("canary.retransmissions", file.retransmissions, "over 0"));
    }
    Ok(Trial {
        share: file.share,
        time: duration("canary.time", &file.time, SECOND)?,
        retransmissions: file.retransmissions,
    })
}

fn rate(key: &str, text: &str) -> Result<Rate, Refused> {
    let rate = text.parse::<Rate>().ok().filter(|rate| rate.as_bps() > 0);
    rate.ok_or_else(|| Refused::new(key, format!("\"{text}\""), "a rate such as \"10Gbps\""))
}

/// The shortest time between two rounds.
const INSTANT: Duration = Duration::from_millis(1);
/// The shortest of times that count in seconds.
const SECOND: Duration = Duration::from_secs(1);

fn duration(key: &str, text: &str, least: Duration) -> Result<Duration, Refused> {
    let time = text.parse::<Time>().ok().map(|time| Duration::from_nanos(time.as_ps() / 1000));
    time.filter(|time| *time >= least).ok_or_else(|| {
        let allowed = format!("a time of at least {least:?}, such as \"600s\"");
        Refused::new(key, format!("\"{text}\""), allowed)
    })
}

#[cfg(test)]
mod tests;
