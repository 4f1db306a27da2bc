//! The agent at work: attaches, watches interfaces and the configuration, sweeps idle flows.
//!
//! Tagging does not depend on it: should it end, however, packets are tagged as before.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::time::{ClockId, clock_gettime};

use crate::args::StartArgs;
use crate::attach::{self, Attached, Hook, Side};
use crate::capabilities;
use crate::config::Config;
use crate::error::AgentError;
use crate::interfaces::{self, Interface};
use crate::metrics::{self, Server};
use crate::pins::{Lock, Places};
use crate::tagger::{LoadOptions, Tagger};
use crate::{gso, nic, passed, stats, sys};

const TICK_MS: u16 = 1000;
const SWEEP_EVERY: Duration = Duration::from_secs(5);

/// `flowsched agent start`.
pub(crate) fn start(places: &Places, args: &StartArgs) -> Result<(), AgentError> {
    // Before the file is read, so that no later change is missed.
    let changes =
        watch_file(&args.config).or_else(|error| Config::read(&args.config).and(Err(error)))?;
    let config = Config::read(&args.config)?;
    capabilities::demand(&capabilities::FOR_TAGGING)?;
    let hook = if args.clsact { Hook::Clsact } else { Hook::available() };
    if args.dry_run {
        return dry_run(places, &config, hook);
    }
    places.create()?;
    let _lock = Lock::take(places)?;
    let signals = block_signals()?;
    // Before anything is attached: a certificate or an address that cannot be used stops the start.
    let server = config.metrics.as_ref().map(Server::bind).transpose()?;
    let mut tagger = Tagger::load(&config, Some(places), LoadOptions::default())?;
    tagger.apply(&config)?;
    let _run_time = config.measure_run_time.then(measure_run_time).flatten();
    tagger.pin_programs(places)?;
    for interface in interfaces::matching(&config.interfaces) {
        install(&tagger, places, hook, &config, &interface)?;
    }
    if let Some(server) = server {
        let place = server.run(metrics::producer(places.clone()))?;
        say(&format!("metrics at {place}"));
    }
    if config.nic.is_some() {
        nic::start(places, &config, false)?;
    }
    let mut agent = Agent {
        places,
        hook,
        tagger: &tagger,
        config,
        path: args.config.clone(),
        refused: BTreeSet::new(),
    };
    agent.detach_unwanted()?;
    if attach::attached(places).is_empty() {
        say(&format!("no interface is called {} yet", agent.config.interfaces.join(" or ")));
    }
    notify_systemd("READY=1");
    say("ready");
    agent.watch(&signals, &changes)
}

/// Puts the tagger on one interface, and the cap on its super-packets.
fn install(
    tagger: &Tagger,
    places: &Places,
    hook: Hook,
    config: &Config,
    interface: &Interface,
) -> Result<(), AgentError> {
    let how = attach::attach(tagger, places, hook, interface)?;
    if how == Attached::Fresh {
        passed::begin(places, interface)?;
    }
    say(&format!("{}: {how} by {hook}", interface.name));
    for program in attach::before(places, interface, hook) {
        say(&format!("{}: {program} runs before the tagger", interface.name));
    }
    gso::cap(places, interface, config.gso)
}

fn measure_run_time() -> Option<OwnedFd> {
    sys::measure_run_time()
        .inspect_err(|e| {
            say(&format!(
                "run time is not measured: {e} (it takes CAP_SYS_ADMIN, or \
                 `sysctl kernel.bpf_stats_enabled=1`)"
            ));
        })
        .ok()
}

fn dry_run(places: &Places, config: &Config, hook: Hook) -> Result<(), AgentError> {
    let tagger = Tagger::load(config, None, LoadOptions::default())?;
    println!("The program loads and is verified:");
    for entry in crate::tagger::Entry::TAGGERS {
        let facts = sys::program_facts(tagger.program(entry).as_fd()).unwrap_or_default();
        println!("  {:<13} {} instructions verified", entry.name(), facts.verified_instructions);
    }
    println!("It would be attached by {hook} to:");
    let interfaces = interfaces::matching(&config.interfaces);
    for interface in &interfaces {
        let entry = attach::entry(interface, Side::Egress).name();
        let others = attach::count_on_tcx(interface);
        println!("  {} ({entry}), before {others} other programs on tcx", interface.name);
    }
    if interfaces.is_empty() {
        println!("  none: no interface is called {}", config.interfaces.join(" or "));
    }
    print!("{}", explain(config));
    if config.nic.is_some() {
        println!("Interfaces would be scheduled with:");
        nic::dry_run(places, config)?;
    }
    println!("Nothing was attached.");
    Ok(())
}

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

/// Whether a new configuration differs in what only a start puts in force.
fn needs_restart(old: &Config, new: &Config) -> bool {
    (old.max_flows, old.measure_run_time) != (new.max_flows, new.measure_run_time)
        || old.metrics != new.metrics
}

struct Agent<'a> {
    places: &'a Places,
    hook: Hook,
    tagger: &'a Tagger,
    config: Config,
    path: PathBuf,
    /// Interfaces that could not be attached to: said once. (One that comes back has another index.)
    refused: BTreeSet<Interface>,
}

impl Agent<'_> {
    fn watch(&mut self, signals: &SignalFd, changes: &Inotify) -> Result<(), AgentError> {
        let mut swept = Instant::now();
        loop {
            let mut files = [
                PollFd::new(signals.as_fd(), PollFlags::POLLIN),
                PollFd::new(changes.as_fd(), PollFlags::POLLIN),
            ];
            let _ = poll(&mut files, PollTimeout::from(TICK_MS));
            while let Ok(Some(signal)) = signals.read_signal() {
                if signal.ssi_signo == Signal::SIGHUP as u32 {
                    self.reload();
                } else {
                    say("ends; packets are tagged as before");
                    return Ok(());
                }
            }
            if is_changed(changes, &self.path) {
                self.reload();
            }
            self.check_interfaces();
            if let Err(error) = self.tagger.refresh_cgroups(&self.config) {
                say(&error.to_string());
            }
            if swept.elapsed() >= SWEEP_EVERY {
                swept = Instant::now();
                self.sweep();
            }
        }
    }

    /// All of the new configuration, or none of it.
    fn reload(&mut self) {
        match self.try_reload() {
            Ok(true) => say("the new configuration is in force"),
            Ok(false) => {}
            Err(error) => {
                say(&format!("the new configuration is refused, the old one stays:\n{error}"));
                let _ = stats::count(self.places, |counters| counters.reloads_refused += 1);
            }
        }
    }

    fn try_reload(&mut self) -> Result<bool, AgentError> {
        let config = Config::read(&self.path)?;
        if config == self.config {
            return Ok(false);
        }
        if needs_restart(&self.config, &config) {
            return Err(AgentError::Missing(
                "flows.max and metrics change only when the agent is started anew".into(),
            ));
        }
        if let Err(error) = self.put_in_force(&config) {
            // What there was already of the new one goes again.
            if let Err(error) = self.put_in_force(&self.config) {
                say(&error.to_string());
            }
            return Err(error);
        }
        self.config = config;
        self.detach_unwanted()?;
        self.refused.clear();
        self.check_interfaces();
        stats::count(self.places, |counters| counters.reloads += 1)?;
        Ok(true)
    }

    /// All that a configuration says of the interfaces that there are; the rule for packets, which
    /// hardly anything can stop, at the end.
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

    /// Takes the tagger off interfaces that have another name now, or that a new configuration does
    /// not name.
    fn detach_unwanted(&self) -> Result<(), AgentError> {
        let wanted = interfaces::matching(&self.config.interfaces);
        for (interface, _) in attach::attached(self.places) {
            if !wanted.contains(&interface) {
                attach::detach(self.places, &interface)?;
                gso::restore(self.places, interface.index)?;
                nic::restore(self.places, interface.index, false)?;
                say(&format!("{}: no longer tagged", interface.name));
            }
        }
        Ok(())
    }

    /// Attaches to interfaces that are new, or were gone and are back.
    fn check_interfaces(&mut self) {
        attach::tidy(self.places);
        for interface in interfaces::matching(&self.config.interfaces) {
            if self.refused.contains(&interface) || attach::is_attached(self.places, &interface) {
                continue;
            }
            let installed = install(self.tagger, self.places, self.hook, &self.config, &interface);
            let scheduled = installed.and_then(|()| match self.config.nic {
                Some(_) => nic::program(self.places, &self.config, &interface),
                None => Ok(()),
            });
            if let Err(error) = scheduled {
                say(&error.to_string());
                self.refused.insert(interface);
            }
        }
        if let Err(error) = self.detach_unwanted() {
            say(&error.to_string());
        }
    }

    /// Flows that never end make room only for others.
    fn sweep(&self) {
        let Some(idle) = self.config.flow_idle else { return };
        if let Err(error) = stats::sweep(self.places, monotonic_ns(), idle.as_ps() / 1000) {
            say(&error.to_string());
        }
    }
}

/// The clock that the BPF program reads.
pub(crate) fn monotonic_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |now| now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

fn block_signals() -> Result<SignalFd, AgentError> {
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGHUP, Signal::SIGTERM, Signal::SIGINT] {
        signals.add(signal);
    }
    signals
        .thread_block()
        .and_then(|()| SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK))
        .map_err(|e| AgentError::kernel("take signals", e))
}

/// Watches the folder, since editors and Kubernetes put a new file in the old one's place.
fn watch_file(path: &Path) -> Result<Inotify, AgentError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let inotify = Inotify::init(InitFlags::IN_NONBLOCK)
        .map_err(|e| AgentError::kernel("watch the configuration", e))?;
    // Not while it is being written: when whoever writes it has closed it.
    let when = AddWatchFlags::IN_CLOSE_WRITE | AddWatchFlags::IN_MOVED_TO;
    inotify
        .add_watch(folder, when)
        .map_err(|e| AgentError::kernel(format!("watch {}", folder.display()), e))?;
    Ok(inotify)
}

fn is_changed(changes: &Inotify, path: &Path) -> bool {
    let mut changed = false;
    while let Ok(events) = changes.read_events() {
        // Kubernetes swaps a link called ..data, which the file's name leads through.
        changed |= events.iter().any(|event| {
            event.name.as_deref() == path.file_name()
                || event.name.as_deref().is_some_and(|name| name == "..data")
        });
    }
    changed
}

fn notify_systemd(state: &str) {
    let Some(address) = std::env::var_os("NOTIFY_SOCKET") else { return };
    if let Ok(socket) = UnixDatagram::unbound() {
        // Without systemd at the other end nobody waits for it.
        let _ = socket.send_to(state.as_bytes(), PathBuf::from(address));
    }
}

pub(crate) fn say(text: &str) {
    eprintln!("flowsched agent: {text}");
}
