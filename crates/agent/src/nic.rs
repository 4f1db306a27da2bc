//! The host's interface as the fabric's first port (PIAS ToN 2017, IV-A.2): shaped to the line
//! rate, so that packets queue here and not in the card; strict priorities; ECN marking on the
//! length of all queues together. Done with `tc`, so that what is printed is what is run.

mod before;
mod plan;
mod qdiscs;

use std::process::Command as Process;

use crate::attach;
use crate::config::{Config, Nic};
use crate::error::AgentError;
use crate::pins::Places;
pub(crate) use qdiscs::Kinds;

/// The arguments of one call of `tc`.
type Command = Vec<String>;

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
pub(crate) fn dry_run(config: &Config) -> Result<(), AgentError> {
    let nic = setting(config)?;
    let kinds = Kinds::of_this_kernel();
    for (name, _) in attach::matching(&config.interfaces) {
        let before = before::read(&name);
        let plan = plan::plan(&name, &nic, &config.dscp, kinds)?;
        for note in &plan.notes {
            println!("# {note}");
        }
        for command in &plan.commands {
            println!("tc {}", command.join(" "));
        }
        match before {
            Ok(commands) => {
                println!("# to put back what is there now:");
                for command in &commands {
                    println!("tc {}", command.join(" "));
                }
            }
            Err(error) => println!("# it would be refused: {error}"),
        }
    }
    Ok(())
}

/// Programs all interfaces of the configuration.
pub(crate) fn start(places: &Places, config: &Config, dry: bool) -> Result<(), AgentError> {
    if dry {
        return dry_run(config);
    }
    let nic = setting(config)?;
    let kinds = Kinds::of_this_kernel();
    for (name, _) in attach::matching(&config.interfaces) {
        let plan = plan::plan(&name, &nic, &config.dscp, kinds)?;
        let record = places.record(&format!("nic_{name}"));
        if !record.exists() {
            let commands = before::read(&name)?;
            let text = serde_json::to_string(&commands).unwrap_or_default();
            std::fs::create_dir_all(&places.run).map_err(|e| AgentError::file(&places.run, e))?;
            std::fs::write(&record, text).map_err(|e| AgentError::file(&record, e))?;
        }
        for command in &plan.commands {
            if let Err(error) = tc(command) {
                // Half a scheduler is worse than none.
                restore(places, &name, false)?;
                return Err(error);
            }
        }
        for note in &plan.notes {
            eprintln!("flowsched agent: {name}: {note}");
        }
    }
    Ok(())
}

/// Puts back what was there before, on all interfaces that were programmed.
pub(crate) fn stop(places: &Places, dry: bool) -> Result<(), AgentError> {
    for name in places.records("nic_") {
        restore(places, &name, dry)?;
    }
    Ok(())
}

fn restore(places: &Places, name: &str, dry: bool) -> Result<(), AgentError> {
    let record = places.record(&format!("nic_{name}"));
    let text = std::fs::read_to_string(&record).map_err(|e| AgentError::file(&record, e))?;
    let commands: Vec<Command> =
        serde_json::from_str(&text).map_err(|e| AgentError::kernel("read what was before", e))?;
    let gone = !attach::interfaces().iter().any(|(there, _)| there == name);
    for command in &commands {
        if dry {
            println!("tc {}", command.join(" "));
        } else if !gone {
            tc(command)?;
        }
    }
    if dry {
        return Ok(());
    }
    std::fs::remove_file(&record).map_err(|e| AgentError::file(&record, e))
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
