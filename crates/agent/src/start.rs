//! `flowsched agent start`: all steps until the agent is ready. A start that fails leaves tagging as
//! it was before.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;

use crate::announced::Announced;
use crate::args::StartArgs;
use crate::attach::{self, Attached, Hook};
use crate::capabilities;
use crate::config::Config;
use crate::daemon::{Agent, notify_systemd, watch_file};
use crate::error::AgentError;
use crate::fleet::Record;
use crate::inherit::Inheritance;
use crate::interfaces::{self, Interface};
use crate::metrics::{self, Server};
use crate::pins::Places;
use crate::requests::{Requests, block_signals};
use crate::tagger::{Earlier, LoadOptions, Tagger};
use crate::{check, control, gso, install, log, nic, passed, sys};

/// Starts the agent and keeps it running.
pub(crate) fn start(places: &Places, args: &StartArgs) -> Result<(), AgentError> {
    // Watch before the file is read, so that no later change is missed.
    let changes =
        watch_file(&args.config).or_else(|error| Config::read(&args.config).and(Err(error)))?;
    let config = Config::read(&args.config)?;
    capabilities::demand(&capabilities::FOR_TAGGING)?;
    let hook = if args.clsact { Hook::Clsact } else { Hook::available() };
    if args.dry_run {
        return check::dry_run(places, &config, &args.config, hook);
    }
    let signals = block_signals()?;
    let before = Before::see(places);
    places.create()?;
    let _lock = control::take_lock(places)?;
    let mut announced = Announced::read(places, &config);
    let config = match &announced {
        Some(announced) => announced.over(config),
        None => config,
    };
    let prepared = Requests::listen(signals, places).and_then(|mut requests| {
        let (tagger, run_time) = prepare(places, &config, hook, &mut requests)?;
        Ok((tagger, run_time, requests))
    });
    let (tagger, _run_time, mut requests) = match prepared {
        Ok(prepared) => {
            drop(before);
            prepared
        }
        Err(error) => {
            before.put_back(places);
            return match error {
                AgentError::Ended => {
                    log::info(error);
                    Ok(())
                }
                error => Err(error),
            };
        }
    };
    match &mut announced {
        // If following fails, thresholds stay as they are.
        Some(announced) => {
            if let Err(error) = announced.start(places) {
                log::error(error);
            }
        }
        None => Record::forget(places),
    }
    let mut agent = Agent {
        places,
        hook,
        tagger: &tagger,
        config,
        announced,
        path: args.config.clone(),
        refused: BTreeSet::new(),
    };
    if let Err(error) = agent.detach_unwanted() {
        log::warn(error);
    }
    if attach::attached(places).is_empty() {
        let patterns = agent.config.interfaces.join(" or ");
        log::warn(format_args!("no interface is called {patterns} yet"));
    }
    notify_systemd("READY=1");
    log::info("ready");
    agent.watch(&mut requests, &changes);
    Ok(())
}

/// Loads the tagger, attaches it and puts the configuration in force. A rule of an earlier agent
/// stays in force until nothing else can fail.
fn prepare(
    places: &Places,
    config: &Config,
    hook: Hook,
    requests: &mut Requests,
) -> Result<(Tagger, Option<OwnedFd>), AgentError> {
    places.record_pins()?;
    // Bind before anything is attached, so that a bad certificate or address stops the start.
    let server = config.metrics.as_ref().map(Server::bind).transpose()?;
    let tagger = Tagger::load(config, Some(places), LoadOptions::default())?;
    if let Some(server) = server {
        let place = server.run(metrics::producer(places.clone()))?;
        log::info(format_args!("metrics at {place}"));
    }
    if config.nic.is_some() {
        nic::check(places, config)?;
    }
    let run_time = config.measure_run_time.then(measure_run_time).flatten();
    let had_rule = tagger.has_rule();
    if !had_rule {
        tagger.apply(config)?;
    }
    tagger.pin_programs(places)?;
    for interface in interfaces::matching(&config.interfaces) {
        if requests.is_end_wanted() {
            return Err(AgentError::Ended);
        }
        install::put_on(&tagger, places, hook, config, &interface)?;
    }
    if config.nic.is_some() {
        nic::start(places, config, false)?;
    }
    if requests.is_end_wanted() {
        return Err(AgentError::Ended);
    }
    if tagger.take_over(places)? {
        for (interface, _) in attach::attached(places) {
            passed::begin(places, &interface)?;
        }
    }
    passed::renew(places)?;
    if had_rule {
        tagger.apply(config)?;
    }
    Ok((tagger, run_time))
}

fn measure_run_time() -> Option<OwnedFd> {
    sys::measure_run_time()
        .inspect_err(|e| {
            log::warn(format_args!(
                "run time is not measured: {e} (it takes CAP_SYS_ADMIN, or \
                 `sysctl kernel.bpf_stats_enabled=1`)"
            ));
        })
        .ok()
}

/// The state that an agent finds when it starts.
struct Before {
    is_installed: bool,
    tagged: Vec<(Interface, Hook)>,
    /// The programs on the tagged interfaces.
    earlier: Option<Earlier>,
    /// Indices of interfaces with limited super-packets.
    capped: Vec<u32>,
    /// Indices of interfaces that are scheduled.
    scheduled: Vec<u32>,
}

impl Before {
    fn see(places: &Places) -> Before {
        Before {
            is_installed: places.is_installed(),
            tagged: attach::attached(places),
            earlier: Earlier::pinned(places),
            capped: places.records(gso::RECORD),
            scheduled: places.records(nic::RECORD),
        }
    }

    /// Removes everything that was made since the start. What was tagged before still is, by the same
    /// program and rule.
    fn put_back(&self, places: &Places) {
        let mut results = Vec::new();
        if let Some(earlier) = &self.earlier {
            results.extend(self.put_programs_back(places, earlier));
        }
        for index in since(places.records(nic::RECORD), &self.scheduled) {
            results.push(nic::restore(places, index));
        }
        for (interface, _) in attach::attached(places) {
            if self.tagged.iter().all(|(before, _)| *before != interface) {
                results.push(install::take_off(places, &interface));
            }
        }
        for index in since(places.records(gso::RECORD), &self.capped) {
            results.push(gso::restore(places, index));
        }
        Inheritance::give_up(places);
        if !self.is_installed {
            results.push(places.remove().map(|_| ()));
        }
        for error in results.into_iter().filter_map(Result::err) {
            log::error(format_args!("the start is undone only in part: {error}"));
        }
    }

    fn put_programs_back(&self, places: &Places, earlier: &Earlier) -> Vec<Result<(), AgentError>> {
        let put = |(interface, hook): &(Interface, Hook)| {
            let program = |entry| earlier.program(entry);
            attach::attach(program, places, *hook, interface).map(|_: Attached| ())
        };
        let mut results: Vec<_> = self.tagged.iter().map(put).collect();
        results.push(earlier.pin_again(places));
        results
    }
}

/// The elements of `now` that are not in `before`.
fn since<T: PartialEq>(now: Vec<T>, before: &[T]) -> Vec<T> {
    now.into_iter().filter(|one| !before.contains(one)).collect()
}
