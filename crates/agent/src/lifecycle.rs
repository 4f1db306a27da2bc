//! Ending the agent, taking everything away, saying what is there.

use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::error::AgentError;
use crate::pins::Places;
use crate::stats::{LEFT_ALONE, Snapshot};
use crate::{attach, capabilities, gso, nic, passed};

/// `flowsched agent stop`: the process ends, tagging stays on.
pub(crate) fn stop(places: &Places) -> Result<(), AgentError> {
    let Some(pid) = places.running() else {
        println!("no agent runs; tagging stays as it is");
        return Ok(());
    };
    kill(Pid::from_raw(pid), Signal::SIGTERM).map_err(|error| match error {
        Errno::EPERM => AgentError::Missing(format!(
            "process {pid} belongs to another user: run this as root, or as that user"
        )),
        other => AgentError::kernel(format!("end process {pid}"), other),
    })?;
    for _ in 0..100 {
        if places.running().is_none() {
            println!("the agent (process {pid}) has ended; packets are tagged as before");
            return Ok(());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Err(AgentError::Missing(format!("process {pid} did not end within 5 s")))
}

/// `flowsched agent uninstall`: nothing is left.
pub(crate) fn uninstall(places: &Places) -> Result<(), AgentError> {
    capabilities::demand(&capabilities::FOR_TAGGING)?;
    if places.running().is_some() {
        stop(places)?;
    }
    nic::stop(places, false)?;
    for (interface, _) in attach::attached(places) {
        attach::detach(places, &interface)?;
        println!("{}: no longer tagged", interface.name);
    }
    for index in places.records(gso::RECORD) {
        gso::restore(places, index)?;
    }
    places.remove()?;
    println!("the tagger and its maps are gone");
    Ok(())
}

/// `flowsched agent status`.
pub(crate) fn status(places: &Places) -> Result<(), AgentError> {
    match places.running() {
        Some(pid) => println!("agent: process {pid}"),
        None => println!("agent: does not run (tagging does not depend on it)"),
    }
    let snapshot = Snapshot::read(places)?;
    let interfaces = passed::all(places)?;
    if interfaces.is_empty() {
        println!("interfaces: none");
    }
    for interface in interfaces {
        println!("interface: {interface}");
    }
    for level in 0..snapshot.levels {
        let bound = match snapshot.thresholds.get(level) {
            Some(bytes) if *bytes != u64::MAX => format!("up to {bytes} B"),
            _ => "beyond".into(),
        };
        println!(
            "level {level}: DSCP {:>2}, {bound}: {} packets, {} payload bytes",
            snapshot.code_points[level],
            snapshot.counters.levels[level].packets,
            snapshot.counters.levels[level].payload_bytes
        );
    }
    for ((_, about), count) in LEFT_ALONE.iter().zip(snapshot.counters.left_alone) {
        if count > 0 {
            println!("left alone: {count} packets {about}");
        }
    }
    println!(
        "messages begun on used connections: {} by idleness, {} by the application; {} flows \
         made new after timeouts",
        snapshot.counters.messages_idle,
        snapshot.counters.messages_application,
        snapshot.counters.starved
    );
    println!(
        "flows known by 5-tuple: {} of at most {}, {} made room for others",
        snapshot.flows,
        snapshot.max_flows,
        snapshot.evicted()
    );
    Ok(())
}
