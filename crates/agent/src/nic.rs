//! Schedules the host's interface as the fabric's first port (PIAS ToN 2017, IV-A.2). It is shaped to
//! the line rate, so that packets queue here and not in the card. It has strict priorities, and ECN
//! marking on the total length of all queues. All changes are calls of `tc`, so a dry run can print
//! them.

mod before;
mod plan;
mod qdiscs;
mod tc;

use flowsched_fleet::nic::Nic;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::error::AgentError;
use crate::interfaces::{self, Interface};
use crate::lock::Lock;
use crate::pins::Places;
use crate::{capabilities, log};
use plan::ROOT;
pub(crate) use qdiscs::Kinds;
use tc::{Command, command};

fn setting(config: &Config) -> Result<Nic, AgentError> {
    config.nic.ok_or_else(|| {
        AgentError::Usage(
            "the configuration has no [nic]; one with rate = \"10Gbps\" is needed".into(),
        )
    })
}

/// Prints the commands that [`start`] would run.
pub(crate) fn dry_run(places: &Places, config: &Config) -> Result<(), AgentError> {
    let nic = setting(config)?;
    let kinds = Kinds::of_this_kernel();
    for interface in interfaces::matching(&config.interfaces) {
        let name = &interface.name;
        let before = match record(places, &interface)? {
            Some(record) if is_ours(name) => Ok(record.before),
            _ => before::read(name),
        };
        let plan = plan::plan(name, &nic, &config.dscp, kinds)?;
        for note in &plan.notes {
            println!("# {note}");
        }
        for command in &plan.commands {
            println!("tc {}", command.join(" "));
        }
        match before {
            Ok(commands) => {
                println!("# to put back what was there before:");
                for command in &commands {
                    println!("tc {}", command.join(" "));
                }
            }
            Err(error) => println!("# it would be refused: {error}"),
        }
    }
    Ok(())
}

/// The commands that made an interface's queueing, and those that restore what was there before.
#[derive(Debug, Deserialize, Serialize)]
struct Record {
    before: Vec<Command>,
    made: Vec<Command>,
}

/// Schedules all interfaces of the configuration, or none. If one fails, the interfaces before it get
/// their earlier scheduling back.
pub(crate) fn start(places: &Places, config: &Config, dry: bool) -> Result<(), AgentError> {
    if dry {
        return dry_run(places, config);
    }
    setting(config)?;
    capabilities::demand(&capabilities::FOR_QUEUEING)?;
    let _lock = Lock::of_queueing(places)?;
    let mut changes = Vec::new();
    for interface in interfaces::matching(&config.interfaces) {
        match replace(places, config, &interface) {
            Ok(change) => changes.extend(change.map(|change| (interface, change))),
            Err(error) => {
                for (interface, Change { record, old }) in changes.into_iter().rev() {
                    if let Err(error) = make_again(places, &interface, record, old) {
                        log::error(format_args!(
                            "{}: the scheduling is undone only in part: {error}",
                            interface.name
                        ));
                    }
                }
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Schedules one interface. A tree that is already right stays, with the packets in it.
pub(crate) fn program(
    places: &Places,
    config: &Config,
    interface: &Interface,
) -> Result<(), AgentError> {
    let _lock = Lock::of_queueing(places)?;
    replace(places, config, interface).map(|_| ())
}

/// A change of an interface's queueing.
struct Change {
    record: Record,
    /// The commands of the agent's tree that the new one replaced; empty if there was none.
    old: Vec<Command>,
}

/// Schedules one interface; `None` if there was nothing to do.
fn replace(
    places: &Places,
    config: &Config,
    interface: &Interface,
) -> Result<Option<Change>, AgentError> {
    let name = &interface.name;
    let plan = plan::plan(name, &setting(config)?, &config.dscp, Kinds::of_this_kernel())?;
    let delete = command(&format!("qdisc del dev {name} root"));
    let mut old = Vec::new();
    let before = match (is_ours(name), record(places, interface)?) {
        (true, Some(record)) if record.made == plan.commands => return Ok(None),
        (true, Some(record)) => {
            tc::run(&delete)?;
            old = record.made;
            record.before
        }
        // The record is lost. All that is known is that the kernel has a default queue of its own.
        (true, None) => {
            tc::run(&delete)?;
            vec![delete]
        }
        // A record here is about a tree that is gone.
        (false, _) => before::read(name)?,
    };
    // Record the tree as made only when it is complete: after a kill, the next start makes it again.
    let mut record = Record { before, made: Vec::new() };
    write_record(places, interface, &record)?;
    if let Err(error) = plan.commands.iter().try_for_each(|command| tc::run(command).map(|_| ())) {
        make_again(places, interface, record, old)?;
        return Err(error);
    }
    record.made = plan.commands;
    write_record(places, interface, &record)?;
    for note in &plan.notes {
        log::info(format_args!("{name}: {note}"));
    }
    Ok(Some(Change { record, old }))
}

/// Restores the tree that a new one should have replaced. Half a scheduler is worse than none, so if
/// there was no tree, what was there before the agent is restored.
fn make_again(
    places: &Places,
    interface: &Interface,
    mut record: Record,
    old: Vec<Command>,
) -> Result<(), AgentError> {
    if old.is_empty() {
        return put_back(places, interface.index, false);
    }
    let _ = tc::run(&command(&format!("qdisc del dev {} root", interface.name)));
    old.iter().try_for_each(|command| tc::run(command).map(|_| ()))?;
    record.made = old;
    write_record(places, interface, &record)
}

/// Refuses, before anything is changed, what [`start`] could not do or could not undo.
pub(crate) fn check(places: &Places, config: &Config) -> Result<(), AgentError> {
    let (nic, kinds) = (setting(config)?, Kinds::of_this_kernel());
    for interface in interfaces::matching(&config.interfaces) {
        let name = &interface.name;
        plan::plan(name, &nic, &config.dscp, kinds)?;
        if record(places, &interface)?.is_none() || !is_ours(name) {
            before::read(name)?;
        }
    }
    Ok(())
}

/// Restores what was there before, on all interfaces that were scheduled.
pub(crate) fn stop(places: &Places, dry: bool) -> Result<(), AgentError> {
    let indices = places.records(RECORD);
    if indices.is_empty() {
        return Ok(());
    }
    if dry {
        return indices.into_iter().try_for_each(|index| put_back(places, index, true));
    }
    capabilities::demand(&capabilities::FOR_QUEUEING)?;
    let _lock = Lock::of_queueing(places)?;
    indices.into_iter().try_for_each(|index| put_back(places, index, false))
}

/// Restores what was there before, if the interface with this index was scheduled and still is.
pub(crate) fn restore(places: &Places, index: u32) -> Result<(), AgentError> {
    if !places.records(RECORD).contains(&index) {
        return Ok(());
    }
    let _lock = Lock::of_queueing(places)?;
    put_back(places, index, false)
}

/// Does what [`restore`] does; the caller must hold the lock. `dry`: prints the commands instead.
fn put_back(places: &Places, index: u32, dry: bool) -> Result<(), AgentError> {
    let Some(interface) = interfaces::by_index(index) else { return Ok(()) };
    let Some(record) = record(places, &interface)? else { return Ok(()) };
    let is_there = is_ours(&interface.name);
    for command in &record.before {
        if dry {
            println!("tc {}", command.join(" "));
        } else if is_there {
            tc::run(command)?;
        }
    }
    if dry {
        return Ok(());
    }
    let path = places.record(&record_name(index));
    std::fs::remove_file(&path).map_err(|e| AgentError::file(&path, e))
}

/// The prefix of records of what was there before.
pub(crate) const RECORD: &str = "nic_";

fn record_name(index: u32) -> String {
    format!("{RECORD}{index}")
}

/// The record of the interface, if there is one. Its commands get the interface's present name.
fn record(places: &Places, interface: &Interface) -> Result<Option<Record>, AgentError> {
    let name = record_name(interface.index);
    let Some(text) = places.read_record(&name)? else { return Ok(None) };
    let error = |reason: &dyn std::fmt::Display| {
        AgentError::kernel(format!("read {}", places.record(&name).display()), reason)
    };
    let mut record: Record = serde_json::from_str(&text).map_err(|e| error(&e))?;
    record.before.iter_mut().for_each(|command| call(command, &interface.name));
    record.made.iter_mut().for_each(|command| call(command, &interface.name));
    // Check the commands: the folder may be another user's, and tc can do more than queueing.
    if let Some(odd) = record.before.iter().chain(&record.made).find(|c| !is_queueing(c)) {
        return Err(error(&format!("`tc {}` is no command of the agent", odd.join(" "))));
    }
    Ok(Some(record))
}

/// Whether the command is of a kind that the agent records.
fn is_queueing(command: &Command) -> bool {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    match words.first() {
        Some(&"qdisc" | &"class") => true,
        Some(&"filter") => words.contains(&"u32") && !words.contains(&"action"),
        _ => false,
    }
}

/// Sets the interface in a command.
fn call(command: &mut Command, name: &str) {
    let place = command.iter().position(|word| word == "dev").map(|place| place + 1);
    if let Some(word) = place.and_then(|place| command.get_mut(place)) {
        name.clone_into(word);
    }
}

fn write_record(places: &Places, interface: &Interface, record: &Record) -> Result<(), AgentError> {
    let text = serde_json::to_string(record)
        .map_err(|e| AgentError::kernel(format!("write the record of {}", interface.name), e))?;
    places.write_record(&record_name(interface.index), &text)
}

/// Whether the agent made the interface's root, which its handle shows.
fn is_ours(name: &str) -> bool {
    let shown = tc::run(&command(&format!("qdisc show dev {name}"))).unwrap_or_default();
    shown.lines().any(|line| line.contains(&format!(" {ROOT} root ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_was_tampered_with_runs_nothing() {
        let run = std::env::temp_dir().join(format!("fst-nic-{}", std::process::id()));
        let places = Places { pins: "/none".into(), run: run.clone() };
        let recorded = |before: &str, made: &str| {
            let record = Record { before: vec![command(before)], made: vec![command(made)] };
            let interface = Interface { index: 7, name: "eth0".into() };
            write_record(&places, &interface, &record).unwrap();
            super::record(&places, &interface)
        };
        let (delete, filter) = ("qdisc del dev eth0 root", "filter add dev eth0 u32 match u32 0 0");
        assert!(recorded(delete, filter).is_ok());
        assert!(recorded("exec bpf import /tmp/x run /tmp/y", filter).is_err());
        assert!(recorded(delete, "filter add dev eth0 bpf obj /tmp/x.o").is_err());
        std::fs::remove_dir_all(&run).unwrap();
    }
}
