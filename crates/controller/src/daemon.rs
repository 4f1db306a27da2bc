//! `flowsched controller run`: collects, decides and distributes, in rounds. This module sets the
//! order of the steps, and what state is kept when a step fails.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use flowsched_units::Bytes;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval};

use crate::board::{Board, Overview};
use crate::config::Config;
use crate::decide::{Decision, Reason, Situation, decide};
use crate::error::ControllerError;
use crate::etcd::Etcd;
use crate::folder::Folder;
use crate::http::Server;
use crate::prometheus::{self, Queries};
use crate::rollout::{Rollout, State};
use crate::sample::Sample;
use crate::scrape::{Collected, Round, Scraper};
use crate::windows::Windows;
use crate::{local, log, serve};

/// Kinds of files in the state folder.
pub const STATE: &str = "state";
pub const COLLECTED: &str = "collected";

/// A running controller.
struct Controller {
    config: Config,
    folder: Folder,
    board: Arc<Board>,
    etcd: Option<Etcd>,
    scraper: Scraper,
    prometheus: Option<Server>,
    groups: BTreeMap<String, Member>,
    clock: Clock,
    round_at: Instant,
    decided_at: Option<Instant>,
}

/// Seconds since 1970: the machine's clock at the start, plus the time since then. Setting the
/// machine's clock therefore neither shortens nor extends a trial.
struct Clock {
    started_at: u64,
    started: Instant,
}

impl Clock {
    fn new() -> Clock {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Clock { started_at: since.map_or(0, |since| since.as_secs()), started: Instant::now() }
    }

    fn now(&self) -> u64 {
        self.started_at + self.started.elapsed().as_secs()
    }
}

/// The state of a group in memory.
struct Member {
    rollout: Rollout,
    collected: Collected,
    /// Whether `collected` has changed since it was last written to the state folder.
    is_unsaved: bool,
    hosts: Vec<Sample>,
    unreachable: usize,
    error: Option<String>,
}

/// Runs until SIGTERM or SIGINT.
///
/// # Errors
/// If the controller cannot start.
pub async fn run(config: Config) -> Result<(), ControllerError> {
    let board = Arc::new(Board::new(config.groups.keys()));
    let status = TcpListener::bind(config.status).await.map_err(|e| {
        ControllerError::Failed(format!(
            "cannot serve the status on {} (`status`): {e}",
            config.status
        ))
    })?;
    tokio::spawn(local::serve(status, board.clone()));
    if let (Some(address), Some(identity)) = (config.listen, &config.identity) {
        let (listener, acceptor) = serve::bind(address, identity).await?;
        tokio::spawn(serve::serve(listener, acceptor, board.clone()));
    }
    let mut controller = Controller::new(config, board)?;
    let failed = |e: std::io::Error| ControllerError::Failed(format!("cannot take signals: {e}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut ticks = interval(controller.config.collect.every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    log::info("ready");
    let ended = async {
        tokio::select! {
            _ = terminate.recv() => {},
            _ = interrupt.recv() => {},
        }
    };
    let rounds = async {
        loop {
            ticks.tick().await;
            controller.round().await;
        }
    };
    // A signal ends a round wherever it waits, because agents and servers may take long. The next
    // controller decides again on what the round has not announced.
    tokio::select! {
        () = ended => {},
        () = rounds => {},
    }
    controller.keep_collected();
    log::info("ends; agents keep what they have");
    Ok(())
}

impl Controller {
    fn new(config: Config, board: Arc<Board>) -> Result<Controller, ControllerError> {
        let folder = Folder::create(&config.state)?;
        let scraper =
            Scraper::new(&config.collect, &config.groups).map_err(ControllerError::Failed)?;
        let prometheus = prometheus::server(&config.collect);
        let etcd = config.identity.as_ref().filter(|_| !config.etcd.is_empty());
        let etcd = etcd.map(|identity| Etcd::new(&config.etcd, identity));
        let mut groups = BTreeMap::new();
        for name in config.groups.keys() {
            let state = folder.read::<State>(STATE, name)?;
            let state = state.unwrap_or_else(|| State::new(&config.levels.thresholds));
            // If the file's number of levels has changed, start from the file's thresholds.
            let state = match state.thresholds.len() == config.levels.thresholds.len() {
                true => state,
                false => {
                    State { announced: state.announced, ..State::new(&config.levels.thresholds) }
                }
            };
            if let Some(announced) = state.announced.as_ref().filter(|_| etcd.is_none()) {
                board.publish(name, announced);
            }
            let member = Member {
                rollout: Rollout::new(name, &config.levels.dscp, state),
                collected: folder.read(COLLECTED, name)?.unwrap_or_default(),
                is_unsaved: false,
                hosts: Vec::new(),
                unreachable: 0,
                error: None,
            };
            groups.insert(name.clone(), member);
        }
        board.set_leads(etcd.is_none());
        Ok(Controller {
            prometheus: prometheus.map_err(ControllerError::Failed)?,
            config,
            folder,
            board,
            etcd,
            scraper,
            groups,
            clock: Clock::new(),
            round_at: Instant::now(),
            decided_at: None,
        })
    }

    async fn round(&mut self) {
        self.collect().await;
        if self.lead().await {
            let now = self.clock.now();
            for name in self.config.groups.keys().cloned().collect::<Vec<_>>() {
                self.advance(&name, |rollout, hosts, config| {
                    rollout.watch(hosts, &config.trial, now)
                })
                .await;
            }
            let every = self.config.guard.every;
            if self.decided_at.is_none_or(|decided| decided.elapsed() >= every) {
                self.decided_at = Some(Instant::now());
                self.decide(now).await;
                self.keep_collected();
            }
        }
        self.show();
    }

    async fn collect(&mut self) {
        let passed = self.round_at.elapsed();
        self.round_at = Instant::now();
        if self.prometheus.is_some() {
            return self.ask_prometheus().await;
        }
        let mut rounds = self.scraper.round().await;
        for (name, member) in &mut self.groups {
            let round = rounds.remove(name).unwrap_or_default();
            let group = &self.config.groups[name];
            member.is_unsaved |= !round.samples.is_empty();
            member.collected.add(&round, passed, &self.config.collect, group);
            member.take(round);
        }
    }

    async fn ask_prometheus(&mut self) {
        let Some(server) = &mut self.prometheus else { return };
        for (name, member) in &mut self.groups {
            let group = &self.config.groups[name];
            let round = match Queries::new(&self.config.collect, group).hosts(server).await {
                Ok(hosts) => Round {
                    samples: hosts.into_iter().map(|host| (host.host.clone(), host)).collect(),
                    errors: Vec::new(),
                },
                Err(error) => Round { samples: Vec::new(), errors: vec![error] },
            };
            member.take(round);
        }
    }

    /// Campaigns if this controller does not lead yet, and takes over the last leader's states on
    /// success. Returns whether this controller leads.
    async fn lead(&mut self) -> bool {
        let Some(etcd) = &mut self.etcd else { return true };
        if etcd.leads() {
            return true;
        }
        let begun = match etcd.campaign().await {
            Ok(true) => etcd.states().await.map(Some),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        };
        self.board.set_leads(false);
        match begun {
            Ok(Some(states)) => {
                log::info("this controller leads");
                self.take_over(states).await;
                // The lead is lost if a state could not be announced again.
                let leads = self.leads();
                self.board.set_leads(leads);
                leads
            }
            Ok(None) => false,
            Err(error) => {
                etcd.resign();
                log::warn(format_args!("{error}; agents keep what they have"));
                self.groups.values_mut().for_each(|member| member.error = Some(error.clone()));
                false
            }
        }
    }

    /// Whether this controller leads, as far as it knows.
    fn leads(&self) -> bool {
        self.etcd.as_ref().is_none_or(Etcd::leads)
    }

    /// Continues from the newer of the states in etcd and in the state folder: etcd may have been
    /// restored from an old snapshot.
    async fn take_over(&mut self, states: Vec<(String, State)>) {
        let mut states: BTreeMap<String, State> = states.into_iter().collect();
        for (name, member) in &mut self.groups {
            let own = &member.rollout.state;
            let Some(found) = states.remove(name) else { continue };
            if found.version() >= own.version() && found.thresholds.len() == own.thresholds.len() {
                member.rollout = Rollout::new(name, &self.config.levels.dscp, found);
            }
        }
        for (name, member) in &mut self.groups {
            if let Some(etcd) =
                self.etcd.as_mut().filter(|_| member.rollout.state.announced.is_some())
                && let Err(error) = etcd.publish(name, &member.rollout.state).await
            {
                log::warn(&error);
                member.error = Some(error);
            }
        }
    }

    async fn decide(&mut self, now: u64) {
        for name in self.config.groups.keys().cloned().collect::<Vec<_>>() {
            if self.groups[&name].rollout.is_on_trial() {
                continue;
            }
            let windows = match self.windows(&name).await {
                Ok(windows) => windows,
                Err(error) => {
                    let failed = Decision { thresholds: None, reason: Reason::Failed(error) };
                    self.take_decision(&name, failed, now).await;
                    continue;
                }
            };
            let Some(member) = self.groups.get_mut(&name) else { continue };
            let unchanged = member.rollout.unchanged(now);
            let state = member.rollout.state.clone();
            let (guard, link) = (self.config.guard.clone(), self.config.groups[&name].link_rate);
            let decided = tokio::task::spawn_blocking(move || {
                let current: Vec<Bytes> =
                    state.thresholds.iter().copied().map(Bytes::new).collect();
                decide(&Situation {
                    windows: &windows,
                    link,
                    current: &current,
                    unchanged,
                    guard: &guard,
                })
            });
            if let Ok(decision) = decided.await {
                self.take_decision(&name, decision, now).await;
            }
        }
    }

    async fn take_decision(&mut self, name: &str, decision: Decision, now: u64) {
        // Do not log the same reason with the same figures again.
        if self.groups[name].rollout.state.reason != decision.reason {
            log::info(format_args!("group {name}: {}", decision.reason));
        }
        self.advance(name, |rollout, hosts, config| {
            rollout.decided(decision, hosts, &config.trial, now)
        })
        .await;
    }

    async fn windows(&mut self, name: &str) -> Result<Windows, String> {
        let Some(member) = self.groups.get_mut(name) else { return Ok(Windows::default()) };
        if let Some(server) = &mut self.prometheus {
            let queries = Queries::new(&self.config.collect, &self.config.groups[name]);
            member.collected.windows = queries.windows(server).await?;
        }
        Ok(member.collected.windows.clone())
    }

    /// Applies `step` to a group, and announces the result if `step` returns true. If announcing
    /// fails, the group keeps its earlier state.
    async fn advance(
        &mut self,
        name: &str,
        step: impl FnOnce(&mut Rollout, &[Sample], &Config) -> bool,
    ) {
        let Some(member) = self.groups.get_mut(name) else { return };
        let before = member.rollout.clone();
        if !step(&mut member.rollout, &member.hosts, &self.config) {
            return;
        }
        let state = &member.rollout.state;
        log::info(format_args!("group {name}: version {}: {}", state.version(), state.reason));
        let published = match &mut self.etcd {
            Some(etcd) => etcd.publish(name, state).await,
            None => Ok(()),
        };
        let kept = published
            .and_then(|()| self.folder.write(STATE, name, state).map_err(|e| e.to_string()));
        match kept {
            Ok(()) => {
                member.error = None;
                if let Some(announced) = &state.announced {
                    self.board.publish(name, announced);
                }
            }
            Err(error) => {
                log::warn(format_args!("group {name}: not announced: {error}"));
                member.error = Some(error);
                member.rollout = before;
            }
        }
    }

    fn keep_collected(&mut self) {
        if self.prometheus.is_some() {
            return;
        }
        for (name, member) in self.groups.iter_mut().filter(|(_, member)| member.is_unsaved) {
            match self.folder.write(COLLECTED, name, &member.collected) {
                Ok(()) => member.is_unsaved = false,
                Err(error) => {
                    log::warn(&error);
                    member.error = Some(error.to_string());
                }
            }
        }
    }

    fn show(&self) {
        self.board.set_leads(self.leads());
        let mut shown = self.board.overview();
        for (name, member) in &self.groups {
            let state = member.rollout.state.clone();
            let version = state.version();
            let windows = &member.collected.windows;
            let overview = Overview {
                hosts: member.hosts.len(),
                in_force: member.hosts.iter().filter(|host| host.version == version).count(),
                unreachable: member.unreachable,
                error: member.error.clone(),
                messages: windows.iter().map(|window| window.messages()).sum(),
                load: windows.iter().last().map_or(0.0, |window| window.load()),
                state,
            };
            shown.insert(name.clone(), overview);
        }
    }
}

impl Member {
    fn take(&mut self, round: Round) {
        self.unreachable = round.errors.len();
        self.hosts = round.samples.into_iter().map(|(_, sample)| sample).collect();
        if let Some(error) = round.errors.into_iter().next() {
            if self.error.as_ref() != Some(&error) {
                log::warn(&error);
            }
            self.error = Some(error);
        } else {
            self.error = None;
        }
    }
}
