//! The host's interface as the fabric's first port (PIAS ToN 2017, IV-A.2): shaped to the line
//! rate, so that packets queue here and not in the card; strict priorities; ECN marking on the
//! length of all queues together. Done with `tc`, so that what is printed is what is run.

mod before;
mod plan;
mod qdiscs;

use std::process::Command as Process;

use serde::{Deserialize, Serialize};

use crate::capabilities;
use crate::config::{Config, Nic};
use crate::error::AgentError;
use crate::interfaces::{self, Interface};
use crate::pins::Places;
pub(crate) use qdiscs::Kinds;

/// The arguments of one call of `tc`.
type Command = Vec<String>;

/// The handle of the root that is made here.
const ROOT: &str = "f5c0:";

/// Splits at blanks.
fn command(text: &str) -> Command {
    text.split_whitespace().map(str::to_owned).collect()
}

fn setting(config: &Config) -> Result<Nic, AgentError> {
    config.nic.ok_or_else(|| {
        AgentError::Missing(
            "the configuration has no [nic]; one with rate = \"10Gbps\" is needed".into(),
        )
    })
}

/// Prints what [`start`] would run.
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

/// What was made of an interface's queueing, and what makes it again what it was before.
#[derive(Debug, Deserialize, Serialize)]
struct Record {
    before: Vec<Command>,
    made: Vec<Command>,
}

/// Programs all interfaces of the configuration.
pub(crate) fn start(places: &Places, config: &Config, dry: bool) -> Result<(), AgentError> {
    if dry {
        return dry_run(places, config);
    }
    setting(config)?;
    capabilities::demand(&capabilities::FOR_QUEUEING)?;
    for interface in interfaces::matching(&config.interfaces) {
        program(places, config, &interface)?;
    }
    Ok(())
}

/// Programs one interface. What is there already as it is to be stays, with the packets in it.
pub(crate) fn program(
    places: &Places,
    config: &Config,
    interface: &Interface,
) -> Result<(), AgentError> {
    let name = &interface.name;
    let plan = plan::plan(name, &setting(config)?, &config.dscp, Kinds::of_this_kernel())?;
    let delete = command(&format!("qdisc del dev {name} root"));
    let before = match (is_ours(name), record(places, interface)?) {
        (true, Some(record)) if record.made == plan.commands => return Ok(()),
        (true, record) => {
            tc(&delete)?;
            // Without a record nothing is known but that the kernel has a queue of its own.
            record.map_or_else(|| vec![delete], |record| record.before)
        }
        // A record, if there is one, is of what has gone since.
        (false, _) => before::read(name)?,
    };
    // As made only when all of it is: whoever is killed meanwhile begins anew.
    let mut record = Record { before, made: Vec::new() };
    write_record(places, interface, &record)?;
    for command in &plan.commands {
        if let Err(error) = tc(command) {
            // Half a scheduler is worse than none.
            restore(places, interface.index, false)?;
            return Err(error);
        }
    }
    record.made = plan.commands;
    write_record(places, interface, &record)?;
    for note in &plan.notes {
        eprintln!("flowsched agent: {name}: {note}");
    }
    Ok(())
}

/// Puts back what was there before, on all interfaces that were programmed.
pub(crate) fn stop(places: &Places, dry: bool) -> Result<(), AgentError> {
    let indices = places.records(RECORD);
    if !dry && !indices.is_empty() {
        capabilities::demand(&capabilities::FOR_QUEUEING)?;
    }
    indices.into_iter().try_for_each(|index| restore(places, index, dry))
}

/// Puts back what was there before, if the interface with this index was programmed and still is.
pub(crate) fn restore(places: &Places, index: u32, dry: bool) -> Result<(), AgentError> {
    let path = places.record(RECORD, index);
    let Some(interface) = interfaces::by_index(index) else {
        return std::fs::remove_file(&path).map_err(|e| AgentError::file(&path, e));
    };
    let Some(record) = record(places, &interface)? else { return Ok(()) };
    let is_there = is_ours(&interface.name);
    for command in &record.before {
        if dry {
            println!("tc {}", command.join(" "));
        } else if is_there {
            tc(command)?;
        }
    }
    if dry {
        return Ok(());
    }
    std::fs::remove_file(&path).map_err(|e| AgentError::file(&path, e))
}

const RECORD: &str = "nic_";

/// What is recorded of the interface, in commands that call it by its present name.
fn record(places: &Places, interface: &Interface) -> Result<Option<Record>, AgentError> {
    let path = places.record(RECORD, interface.index);
    match std::fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str::<Record>(&text)
            .map(|mut record| {
                record.before.iter_mut().for_each(|command| call(command, &interface.name));
                record.made.iter_mut().for_each(|command| call(command, &interface.name));
                Some(record)
            })
            .map_err(|e| AgentError::kernel(format!("read {}", path.display()), e)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(AgentError::file(&path, error)),
    }
}

/// Has a command name another interface.
fn call(command: &mut Command, name: &str) {
    let place = command.iter().position(|word| word == "dev").map(|place| place + 1);
    if let Some(word) = place.and_then(|place| command.get_mut(place)) {
        name.clone_into(word);
    }
}

fn write_record(places: &Places, interface: &Interface, record: &Record) -> Result<(), AgentError> {
    let path = places.record(RECORD, interface.index);
    let text = serde_json::to_string(record)
        .map_err(|e| AgentError::kernel(format!("write {}", path.display()), e))?;
    std::fs::create_dir_all(&places.run).map_err(|e| AgentError::file(&places.run, e))?;
    std::fs::write(&path, text).map_err(|e| AgentError::file(&path, e))
}

/// Whether the interface's root is one that was made here: known by its handle.
fn is_ours(name: &str) -> bool {
    let shown = tc(&command(&format!("qdisc show dev {name}"))).unwrap_or_default();
    shown.lines().any(|line| line.contains(&format!(" {ROOT} root ")))
}

fn tc(arguments: &[String]) -> Result<String, AgentError> {
    let output = Process::new("tc")
        .args(arguments)
        .output()
        .map_err(|e| AgentError::kernel("run tc (of iproute2)", e))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(AgentError::kernel(format!("tc {}", arguments.join(" ")), reason))
}
