//! `stop`, `uninstall` and `status`.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use libbpf_rs::query::ProgInfoIter;

use crate::entry::Entry;
use crate::error::AgentError;
use crate::fleet::Record;
use crate::lock::Lock;
use crate::pins::Places;
use crate::stats::{LEFT_ALONE, Snapshot};
use crate::{attach, capabilities, control, gso, install, nic, passed};

/// Runs `flowsched agent stop`: the process ends, and tagging continues.
pub(crate) fn stop(places: &Places) -> Result<(), AgentError> {
    let Some(pid) = control::stop(places)? else {
        println!("no agent runs; tagging stays as it is");
        return Ok(());
    };
    for _ in 0..200 {
        if !Lock::is_held(places) {
            println!("the agent (process {pid}) has ended; packets are tagged as before");
            return Ok(());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Err(AgentError::Refused(format!("the agent (process {pid}) did not end within 10 s")))
}

/// Runs `flowsched agent uninstall`: removes everything.
pub(crate) fn uninstall(places: &Places) -> Result<(), AgentError> {
    capabilities::demand(&capabilities::FOR_TAGGING)?;
    if places.pins.exists() {
        places.demand_bpf_file_system()?;
    }
    if control::running(places)?.is_some() {
        stop(places)?;
    }
    // Hold the lock until the end, so that no agent starts meanwhile.
    let _lock = places.run.exists().then(|| control::take_lock(places)).transpose()?;
    let was_installed = places.is_installed();
    install::tidy(places);
    nic::stop(places, false)?;
    for (interface, _) in attach::attached(places) {
        install::take_off(places, &interface)?;
        println!("{}: no longer tagged", interface.name);
    }
    for index in places.records(gso::RECORD) {
        gso::restore(places, index)?;
    }
    install::forget(places);
    let left = places.remove()?;
    report(places, was_installed, &left)
}

/// Checks what is gone, and reports it.
fn report(places: &Places, was_installed: bool, left: &[PathBuf]) -> Result<(), AgentError> {
    for path in left {
        println!("{}: not the agent's, stays", path.display());
    }
    let still: Vec<String> =
        attach::attached(places).into_iter().map(|(interface, _)| interface.name).collect();
    if !still.is_empty() || places.is_installed() {
        return Err(AgentError::Refused(format!(
            "the tagger is not gone: it is pinned in {} and runs on {}",
            places.pins.display(),
            if still.is_empty() { "no interface".into() } else { still.join(", ") }
        )));
    }
    if was_installed {
        println!("the tagger and its maps are gone");
        return Ok(());
    }
    println!("no tagger is installed in {}", places.pins.display());
    let others: Vec<String> = ProgInfoIter::default()
        .filter(|program| Entry::TAGGERS.iter().any(|e| program.name == *e.name()))
        .map(|program| program.id.to_string())
        .collect();
    if !others.is_empty() {
        println!(
            "a tagger is still loaded, however, by an agent with another run directory (BPF programs \
             {}): name that with `--run-dir`, or its pins with `--pins`",
            others.join(", ")
        );
    }
    Ok(())
}

/// The lines of `status` about the controller.
fn controller(record: &Record) -> String {
    let canary = if record.is_canary { ", as a canary" } else { "" };
    let mut text = match record.version {
        0 => "thresholds: of the configuration; none was announced".to_owned(),
        version => format!("thresholds: version {version} of group {}{canary}", record.group),
    };
    match &record.trouble {
        Some(trouble) => text.push_str(&format!("\ncontroller: {trouble}")),
        None if record.is_connected => text.push_str("\ncontroller: in touch"),
        None => text.push_str("\ncontroller: not reached yet"),
    }
    if let Some(refusal) = &record.refusal {
        text.push_str(&format!("\nthe last announcement was refused: {refusal}"));
    }
    text
}

/// Runs `flowsched agent status`.
pub(crate) fn status(places: &Places) -> Result<(), AgentError> {
    match control::running(places)? {
        Some(pid) => println!("agent: process {pid}"),
        None => println!("agent: does not run (tagging does not depend on it)"),
    }
    println!("pins: {}", places.pins.display());
    let snapshot = Snapshot::read(places)?;
    let interfaces = passed::all(places)?;
    if interfaces.is_empty() {
        println!("interfaces: none, so no packet is tagged");
    }
    for interface in interfaces {
        println!("interface: {interface}");
    }
    if let Some(record) = Record::read(places) {
        println!("{}", controller(&record));
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
    for (kind, _, about) in LEFT_ALONE {
        let count = snapshot.counters.left_alone[kind.0 as usize];
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
