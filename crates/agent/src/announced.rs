//! Thresholds from the controller. Follows announcements in a thread of its own, keeps the last one
//! in force on disk, and records for `status` and the metrics which version is in force, whether the
//! source answers, and what was refused.
//!
//! Nothing here touches the tagger. Whatever fails, the agent keeps the thresholds that it has.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::{fs, io, thread};

use flowsched_fleet::follow::{Event, Source, follow};
use flowsched_fleet::{Announcement, Levels};
use nix::sys::eventfd::{EfdFlags, EventFd};
use tokio::runtime::Builder;

use crate::config::{Config, Fleet};
use crate::error::AgentError;
use crate::fleet::Record;
use crate::log;
use crate::pins::Places;

/// The name of the file with the last announcement.
const KEPT: &str = "announcement.json";
/// The most events that may wait for the agent. If there are more, the follower waits.
const MOST_EVENTS: usize = 64;

/// The source that is followed, and the last announcement.
#[derive(Debug)]
pub(crate) struct Announced {
    fleet: Fleet,
    /// The levels of the configuration file, which an announcement must fit.
    own: Levels,
    current: Option<Announcement>,
    follower: Option<Follower>,
    record: Record,
}

#[derive(Debug)]
struct Follower {
    events: Receiver<Event>,
    wake: EventFd,
}

impl Announced {
    /// Reads the last announcement from the disk. `None` for a configuration without
    /// `[controller]`. Does not follow the source yet.
    pub(crate) fn read(places: &Places, config: &Config) -> Option<Announced> {
        let fleet = config.fleet.clone()?;
        let own = config.own_levels();
        let current = match kept(&fleet, &own) {
            Ok(kept) => kept,
            Err(error) => {
                log::warn(format_args!("what was announced last is not used: {error}"));
                None
            }
        };
        let record = Record::begin(places, &fleet, current.as_ref());
        Some(Announced { fleet, own, current, follower: None, record })
    }

    /// Returns `config` with the thresholds of the last announcement. `config` stays as it is if there
    /// is no announcement, or if its code points differ.
    pub(crate) fn over(&self, config: Config) -> Config {
        match &self.current {
            Some(current) if current.dscp == config.dscp => {
                Config { thresholds: current.thresholds_of(self.host()), ..config }
            }
            _ => config,
        }
    }

    fn host(&self) -> &str {
        &self.fleet.source.host
    }

    /// Begins to follow the source.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(crate) fn start(&mut self, places: &Places) -> Result<(), AgentError> {
        self.follower = Some(Follower::start(self.fleet.source.clone())?);
        self.record.write(places);
        Ok(())
    }

    /// The file that becomes readable when there is an event.
    pub(crate) fn file(&self) -> Option<BorrowedFd<'_>> {
        self.follower.as_ref().map(|follower| follower.wake.as_fd())
    }

    /// Replaces the levels of the configuration file, which has changed.
    pub(crate) fn set_own(&mut self, own: Levels) {
        self.own = own;
    }

    /// Passes each new announcement to `apply`, with the name of this host. Keeps the announcement
    /// once it is in force.
    pub(crate) fn hear(
        &mut self,
        places: &Places,
        mut apply: impl FnMut(&Announcement, &str) -> Result<(), AgentError>,
    ) {
        let Some(follower) = &self.follower else { return };
        let _ = follower.wake.read();
        let events: Vec<Event> = follower.events.try_iter().collect();
        let before = self.record.clone();
        for event in events {
            match event {
                Event::InTouch => self.record.in_touch(),
                Event::Trouble(trouble) => self.record.in_trouble(trouble),
                Event::Announced(text) => self.take_over(&text, &mut apply),
            }
        }
        if self.record != before {
            self.record.write(places);
        }
    }

    fn take_over(
        &mut self,
        text: &[u8],
        apply: &mut impl FnMut(&Announcement, &str) -> Result<(), AgentError>,
    ) {
        let source = &self.fleet.source;
        let heard = Announcement::hear(text, &source.group, &self.own, self.current.as_ref());
        let newer = match heard {
            Ok(flowsched_fleet::announcement::Heard::Same) => return,
            Ok(flowsched_fleet::announcement::Heard::Newer(newer)) => newer,
            Err(refused) => return self.record.refused(refused.to_string()),
        };
        if let Err(error) = apply(&newer, &source.host) {
            return self.record.refused(error.to_string());
        }
        if let Err(error) = keep(&self.fleet.state, &newer) {
            log::warn(format_args!("version {} is in force, but not kept: {error}", newer.version));
        }
        self.record.applied(&newer, &source.host);
        self.current = Some(newer);
    }
}

impl Follower {
    fn start(source: Source) -> Result<Follower, AgentError> {
        let failed = |error: io::Error| AgentError::kernel("follow the controller", error);
        let wake = EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)
            .map_err(|e| failed(e.into()))?;
        let ring = wake.as_fd().try_clone_to_owned().map_err(failed)?;
        let (say, events) = sync_channel(MOST_EVENTS);
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        thread::Builder::new()
            .name("follow".into())
            .spawn(move || {
                runtime.block_on(follow(&source, |event| {
                    // This fails only when the agent ends.
                    let _ = say.send(event);
                    let _ = nix::unistd::write(&ring, &1u64.to_ne_bytes());
                }));
            })
            .map_err(failed)?;
        Ok(Follower { events, wake })
    }
}

/// The announcement in the state folder; `None` if there is none. An error if the announcement does
/// not fit the configuration.
fn kept(fleet: &Fleet, own: &Levels) -> Result<Option<Announcement>, AgentError> {
    let path = fleet.state.join(KEPT);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(AgentError::file(path, error)),
    };
    let kept = Announcement::parse(&text)?;
    if (&kept.group, &kept.dscp) != (&fleet.source.group, &own.dscp) {
        return Err(AgentError::Refused(format!(
            "{} is for group \"{}\" with code points {:?}",
            path.display(),
            kept.group,
            kept.dscp
        )));
    }
    Ok(Some(kept))
}

/// Stores the announcement in the state folder, in place of the last one.
fn keep(folder: &Path, announcement: &Announcement) -> Result<(), AgentError> {
    let path: PathBuf = folder.join(KEPT);
    let fresh = folder.join(format!("new.{KEPT}"));
    let write = || {
        fs::create_dir_all(folder)?;
        let file = fs::File::create(&fresh)?;
        io::Write::write_all(&mut &file, announcement.to_json().as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, &path)
    };
    write().map_err(|e| AgentError::file(path.clone(), e))
}
