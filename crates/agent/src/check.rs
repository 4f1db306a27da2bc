//! `flowsched agent check`: checks whether a configuration would work on this machine. It changes
//! nothing and needs no agent. `start --dry-run` prints the same, and the rule in words.

use std::os::fd::AsFd;
use std::path::Path;

use libbpf_rs::MapCore;

use crate::attach::Hook;
use crate::config::{Config, Metrics};
use crate::entry::Entry;
use crate::error::AgentError;
use crate::finding::Finding;
use crate::folder::{self, Purpose};
use crate::metrics::Server;
use crate::pins::Places;
use crate::tagger::{LoadOptions, Tagger};
use crate::{capabilities, control, daemon, doctor, map, memory, nic, preview, sys};

/// Prints one line per finding.
///
/// # Errors
/// If the configuration would not work.
pub(crate) fn run(places: &Places, path: &Path) -> Result<(), AgentError> {
    let config = match Config::read(path) {
        Ok(config) => config,
        Err(error) => {
            println!("{}", Finding::error("configuration", error.to_string()));
            return Err(refused(path, 1));
        }
    };
    println!("{}", Finding::ok("configuration", format!("{}: no mistakes", path.display())));
    let errors = print_all(&findings(places, &config, None));
    if errors > 0 { Err(refused(path, errors)) } else { Ok(()) }
}

/// Runs `flowsched agent start --dry-run`.
pub(crate) fn dry_run(
    places: &Places,
    config: &Config,
    path: &Path,
    hook: Hook,
) -> Result<(), AgentError> {
    let errors = print_all(&findings(places, config, Some(hook)));
    print!("{}", daemon::explain(config));
    if config.nic.is_some() {
        println!("Interfaces would be scheduled with:");
        nic::dry_run(places, config)?;
    }
    println!("Nothing was attached.");
    if errors > 0 { Err(refused(path, errors)) } else { Ok(()) }
}

/// Prints the findings. Returns the number of errors among them.
fn print_all(findings: &[Finding]) -> usize {
    for finding in findings {
        println!("{finding}");
    }
    findings.iter().filter(|finding| finding.is_error()).count()
}

fn refused(path: &Path, errors: usize) -> AgentError {
    let errors = if errors == 1 { "an error".into() } else { format!("{errors} errors") };
    AgentError::Usage(format!("{} does not work on this machine: {errors}", path.display()))
}

fn findings(places: &Places, config: &Config, hook: Option<Hook>) -> Vec<Finding> {
    let mut all = vec![doctor::kernel(), folders(places), flows(places, config)];
    let may_try = capabilities::demand(&capabilities::FOR_TAGGING);
    // The kernel tells only a process with these capabilities which hooks it has.
    let hook = hook.or_else(|| may_try.is_ok().then(Hook::available));
    all.push(match may_try {
        Ok(()) => Finding::new("program", program(config)),
        Err(error) => Finding::warning("program", format!("not tried: {error}")),
    });
    all.extend(preview::interfaces(config, hook));
    all.extend(preview::selection(&config.selection));
    if let Some(settings) = &config.metrics {
        all.push(listens(places, settings));
    }
    if config.nic.is_some() {
        let possible = nic::check(places, config);
        all.push(Finding::new("nic", possible.map(|()| "can be scheduled and put back".into())));
    }
    all
}

fn folders(places: &Places) -> Finding {
    let checked = folder::demand_safe(&places.run, Purpose::Use)
        .and_then(|()| folder::demand_safe(&places.pins, Purpose::Use))
        .and_then(|()| places.demand_bpf_file_system());
    let text = format!("pins in {}, records in {}", places.pins.display(), places.run.display());
    Finding::new("folders", checked.map(|()| text))
}

/// Whether there is enough memory for `flows.max`.
fn flows(places: &Places, config: &Config) -> Finding {
    let about = "flows.max";
    let in_use = places.open_map(map::FLOWS).map(|flows| flows.max_entries());
    let is_there = in_use.is_ok_and(|size| size == config.max_flows);
    let needed = memory::of_agent(config.max_flows);
    let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
    let text = format!("{} flows take {} MiB with the agent", config.max_flows, mebibytes(needed));
    match memory::available() {
        Some(left) if !is_there && left < needed => {
            Finding::error(about, format!("{text}, and {} MiB are available", mebibytes(left)))
        }
        _ => Finding::ok(about, text),
    }
}

fn program(config: &Config) -> Result<String, AgentError> {
    // A small map is enough here: `flows` checks the memory without using it.
    let small = Config { max_flows: config.max_flows.min(65_536), ..config.clone() };
    let tagger = Tagger::load(&small, None, LoadOptions::default())?;
    let verified = Entry::TAGGERS.map(|entry| {
        let facts = sys::program_facts(tagger.program(entry).as_fd()).unwrap_or_default();
        format!("{} ({} instructions verified)", entry.name(), facts.verified_instructions)
    });
    Ok(verified.join(", "))
}

/// Whether the metrics could be served. Tries the address, the certificate and the token.
fn listens(places: &Places, settings: &Metrics) -> Finding {
    let about = "metrics";
    match Server::bind(settings) {
        Ok(_) => Finding::ok(about, "can be served".into()),
        Err(error) if matches!(control::running(places), Ok(Some(_))) => {
            Finding::warning(about, format!("{error}; the running agent may use the address"))
        }
        Err(error) => Finding::error(about, error.to_string()),
    }
}
