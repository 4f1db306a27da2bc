//! The running agent: watches interfaces and the configuration, and sweeps idle flows.
//!
//! Tagging does not depend on the agent. When it ends, packets are tagged as before.

use std::collections::BTreeSet;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};

use crate::announced::Announced;
use crate::attach::{self, Hook};
use crate::config::Config;
use crate::error::AgentError;
use crate::interfaces::{self, Interface};
use crate::pins::Places;
use crate::requests::Requests;
use crate::tagger::Tagger;
use crate::{clock, gso, install, log, nic, passed, stats};

const TICK_MS: u16 = 1000;
const SWEEP_EVERY: Duration = Duration::from_secs(5);

/// The rule in words.
pub(crate) fn explain(config: &Config) -> String {
    let counted = if config.cumulative { "bytes sent" } else { "offset in the message" };
    let mut text = format!("Levels by {counted}:\n");
    for (level, code_point) in config.dscp.iter().enumerate() {
        let bound = match config.thresholds.get(level) {
            Some(threshold) => format!("up to {threshold}"),
            None => "beyond".into(),
        };
        text.push_str(&format!("  level {level}: DSCP {code_point:>2}, {bound}\n"));
    }
    match config.message_idle {
        Some(idle) => text.push_str(&format!("A new message begins after {idle} of idleness.\n")),
        None => text.push_str("A connection is one message.\n"),
    }
    text
}

/// Whether a new configuration changes settings that take effect only at a start.
fn needs_restart(old: &Config, new: &Config) -> bool {
    (old.max_flows, old.measure_run_time) != (new.max_flows, new.measure_run_time)
        || (&old.metrics, &old.fleet, old.is_survey) != (&new.metrics, &new.fleet, new.is_survey)
}

/// The agent when it is ready.
pub(crate) struct Agent<'a> {
    pub(crate) places: &'a Places,
    pub(crate) hook: Hook,
    pub(crate) tagger: &'a Tagger,
    pub(crate) config: Config,
    /// The announcements, if there is a controller.
    pub(crate) announced: Option<Announced>,
    /// The configuration file.
    pub(crate) path: PathBuf,
    /// Interfaces to which attaching failed. The failure is logged once, and each sweep tries again. An
    /// interface that comes back may have its old index.
    pub(crate) refused: BTreeSet<Interface>,
}

impl Agent<'_> {
    /// Keeps the tagger as the configuration says, until the agent is asked to end.
    pub(crate) fn watch(&mut self, requests: &mut Requests, changes: &Inotify) {
        let mut swept = Instant::now();
        let mut recent = Instant::now();
        loop {
            let heard = self.announced.as_ref().and_then(Announced::file);
            requests.wait([Some(changes.as_fd()), heard], TICK_MS);
            if requests.is_end_wanted() {
                log::info("ends; packets are tagged as before");
                return;
            }
            if is_changed(changes, &self.path) | requests.take_reload() {
                self.reload();
            }
            self.hear();
            self.check_interfaces(false);
            if let Err(error) = self.tagger.refresh_cgroups(&self.config) {
                log::warn(error);
            }
            if swept.elapsed() >= SWEEP_EVERY {
                swept = Instant::now();
                self.sweep();
                self.check_interfaces(true);
                let is_over = recent.elapsed() >= passed::RECENT;
                if is_over {
                    recent = Instant::now();
                }
                if let Err(error) = passed::follow(self.places, is_over) {
                    log::warn(error);
                }
            }
        }
    }

    /// Puts the new configuration in force, either completely or not at all.
    fn reload(&mut self) {
        match self.try_reload() {
            Ok(true) => log::info("the new configuration is in force"),
            Ok(false) => log::debug("the configuration file is unchanged"),
            Err(error) => {
                log::error(format_args!(
                    "the new configuration is refused, the old one stays:\n{error}"
                ));
                let _ = stats::count(self.places, |counters| counters.reloads_refused += 1);
            }
        }
    }

    fn try_reload(&mut self) -> Result<bool, AgentError> {
        let read = Config::read(&self.path)?;
        let own = read.own_levels();
        let config = match &self.announced {
            Some(announced) => announced.over(read),
            None => read,
        };
        if config == self.config {
            self.announced.iter_mut().for_each(|announced| announced.set_own(own.clone()));
            return Ok(false);
        }
        if needs_restart(&self.config, &config) {
            return Err(AgentError::Missing(
                "flows.max, metrics, survey and controller change only when the agent starts again"
                    .into(),
            ));
        }
        if let Err(error) = self.put_in_force(&config) {
            // Undo the parts of the new configuration that are in force already.
            if let Err(error) = self.put_in_force(&self.config) {
                log::error(error);
            }
            return Err(error);
        }
        self.config = config;
        self.announced.iter_mut().for_each(|announced| announced.set_own(own.clone()));
        self.detach_unwanted()?;
        self.refused.clear();
        self.check_interfaces(false);
        stats::count(self.places, |counters| counters.reloads += 1)?;
        Ok(true)
    }

    /// Puts the controller's announcements in force. Only thresholds change, and all at once.
    fn hear(&mut self) {
        let Some(announced) = &mut self.announced else { return };
        let (tagger, config) = (self.tagger, &mut self.config);
        announced.hear(self.places, |announcement, host| {
            let thresholds = announcement.thresholds_of(host);
            let new = Config { thresholds, ..config.clone() };
            if new.thresholds != config.thresholds {
                tagger.apply(&new)?;
                *config = new;
            }
            Ok(())
        });
    }

    /// Puts a configuration in force on the existing interfaces. Steps that are likely to fail come first.
    /// The rule for packets, which hardly ever fails, comes last.
    fn put_in_force(&self, config: &Config) -> Result<(), AgentError> {
        for (interface, _) in attach::attached(self.places) {
            gso::restore(self.places, interface.index)?;
            gso::cap(self.places, &interface, config.gso)?;
        }
        if config.nic.is_some() {
            nic::start(self.places, config, false)?;
        } else {
            nic::stop(self.places, false)?;
        }
        self.tagger.apply(config)
    }

    /// Removes the tagger from interfaces that were renamed, or that a new configuration does not name.
    pub(crate) fn detach_unwanted(&self) -> Result<(), AgentError> {
        let wanted = interfaces::matching(&self.config.interfaces);
        for (interface, _) in attach::attached(self.places) {
            if !wanted.contains(&interface) {
                install::take_off(self.places, &interface)?;
                gso::restore(self.places, interface.index)?;
                nic::restore(self.places, interface.index)?;
                log::info(format_args!("{}: no longer tagged", interface.name));
            }
        }
        Ok(())
    }

    /// Attaches the tagger to interfaces that are new or have come back. `again`: whether to retry
    /// interfaces to which attaching failed.
    fn check_interfaces(&mut self, again: bool) {
        install::tidy(self.places);
        for interface in interfaces::matching(&self.config.interfaces) {
            let is_left_out = self.refused.contains(&interface) && !again;
            if is_left_out || attach::is_attached(self.places, &interface) {
                continue;
            }
            let installed =
                install::put_on(self.tagger, self.places, self.hook, &self.config, &interface);
            let scheduled = installed.and_then(|()| match self.config.nic {
                Some(_) => nic::program(self.places, &self.config, &interface),
                None => Ok(()),
            });
            match scheduled {
                Ok(()) => {
                    self.refused.remove(&interface);
                }
                Err(error) => {
                    if self.refused.insert(interface) {
                        log::error(error);
                    }
                }
            }
        }
        if let Err(error) = self.detach_unwanted() {
            log::error(error);
        }
    }

    /// Sweeps idle flows. Otherwise, flows that never end would leave only when others need room.
    fn sweep(&self) {
        let Some(idle) = self.config.flow_idle else { return };
        match stats::sweep(self.places, clock::monotonic_ns(), idle.as_ps() / 1000) {
            Ok(swept) => log::debug(format_args!("{swept} idle flows ended")),
            Err(error) => log::warn(error),
        }
    }
}

/// Watches the folder of the file, because editors and Kubernetes replace the file by a new one.
pub(crate) fn watch_file(path: &Path) -> Result<Inotify, AgentError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let inotify = Inotify::init(InitFlags::IN_NONBLOCK)
        .map_err(|e| AgentError::kernel("watch the configuration", e))?;
    // Report the file when its writer has closed it, not while it is being written.
    let when = AddWatchFlags::IN_CLOSE_WRITE | AddWatchFlags::IN_MOVED_TO;
    inotify
        .add_watch(folder, when)
        .map_err(|e| AgentError::kernel(format!("watch {}", folder.display()), e))?;
    Ok(inotify)
}

fn is_changed(changes: &Inotify, path: &Path) -> bool {
    let mut changed = false;
    while let Ok(events) = changes.read_events() {
        // Kubernetes swaps a link called ..data, which is part of the path to the file.
        changed |= events.iter().any(|event| {
            event.name.as_deref() == path.file_name()
                || event.name.as_deref().is_some_and(|name| name == "..data")
        });
    }
    changed
}

pub(crate) fn notify_systemd(state: &str) {
    let Some(address) = std::env::var_os("NOTIFY_SOCKET") else { return };
    if let Ok(socket) = UnixDatagram::unbound() {
        // If systemd is not at the other end, nobody waits for the message.
        let _ = socket.send_to(state.as_bytes(), PathBuf::from(address));
    }
}
