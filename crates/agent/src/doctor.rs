//! `flowsched agent doctor`: what this kernel can do, what the agent will use, and what is missing.

use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;

use crate::attach::Hook;
use crate::config::Config;
use crate::entry::Entry;
use crate::error::AgentError;
use crate::finding::Finding;
use crate::nic::Kinds;
use crate::pins::{Places, is_bpf_file_system};
use crate::tagger::{LoadOptions, Tagger};
use crate::{capabilities, passed, select, sys};

/// A configuration that is just enough to load the program.
const TRIAL: &str = "interfaces = [\"lo\"]\nthresholds = \"100KB\"\n";

/// Prints one line per finding. Stops with an error if capabilities are missing or the program cannot
/// be loaded.
pub(crate) fn run(places: &Places) -> Result<(), AgentError> {
    let release = release();
    let tested =
        if at_least_6_1(&release) { "tested from 6.1 on" } else { "older than 6.1: untested" };
    finding("kernel", &format!("{release} ({tested})"));
    let held = capabilities::held();
    let named = if held.is_empty() { "none".to_owned() } else { held.join(" ") };
    finding("capabilities", &named);
    capabilities::demand(&capabilities::FOR_TAGGING)?;
    finding("BTF", if has_btf() { "yes" } else { "no" });
    finding(
        "hook",
        &match Hook::available() {
            Hook::Tcx => "tcx: links of their own, replaced without a gap".to_owned(),
            Hook::Clsact => "clsact: this kernel is older than 6.6 and has no tcx".to_owned(),
        },
    );
    let parent = places.pins.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    let pins = if is_bpf_file_system(parent) {
        format!("{} is in a BPF file system", places.pins.display())
    } else {
        format!("{} is in no BPF file system: mount -t bpf bpf /sys/fs/bpf", places.pins.display())
    };
    finding("pins", &pins);
    finding("program", &load(TRIAL)?);
    let hierarchy = select::hierarchy();
    let cgroups = hierarchy.map_or("no hierarchy of version 2".into(), |path| {
        format!("version 2 at {}", path.display())
    });
    finding("control groups", &cgroups);
    finding("iproute2", &version("tc").unwrap_or_else(|| "no tc: NIC scheduling needs it".into()));
    let kinds = Kinds::of_this_kernel();
    finding("queueing", &format!("{kinds}: {}", used(kinds)));
    for interface in passed::all(places).unwrap_or_default() {
        finding("tagged", &interface.to_string());
    }
    Ok(())
}

fn finding(about: &str, what: &str) {
    println!("{about:<22} {what}");
}

/// Checks the kernel features that every configuration needs.
pub(crate) fn kernel() -> Finding {
    let (about, release) = ("kernel", release());
    if !has_btf() {
        let text =
            format!("{release} has no BTF (CONFIG_DEBUG_INFO_BTF): no program can be loaded");
        return Finding::error(about, text);
    }
    match at_least_6_1(&release) {
        true => Finding::ok(about, release),
        false => Finding::warning(about, format!("{release} is older than 6.1: untested")),
    }
}

fn release() -> String {
    let names = nix::sys::utsname::uname();
    names.map(|names| names.release().to_string_lossy().into_owned()).unwrap_or_default()
}

fn has_btf() -> bool {
    Path::new("/sys/kernel/btf/vmlinux").exists()
}

fn at_least_6_1(release: &str) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().unwrap_or(0));
    let version: (u32, u32) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version >= (6, 1)
}

fn load(trial: &str) -> Result<String, AgentError> {
    let config = Config::parse(trial, Path::new("trial"))?;
    let tagger = Tagger::load(&config, None, LoadOptions::default())?;
    let facts = sys::program_facts(tagger.program(Entry::TagEthernet).as_fd()).unwrap_or_default();
    Ok(format!("loads; {} instructions verified", facts.verified_instructions))
}

fn version(tool: &str) -> Option<String> {
    let output = Command::new(tool).arg("-Version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn used(kinds: Kinds) -> &'static str {
    match kinds {
        Kinds { tbf: true, red: true, prio: true, .. } => "PRIO below RED will be used",
        Kinds { tbf: true, red: true, ets: true, .. } => "ETS below RED will be used",
        Kinds { htb: true, codel: true, .. } => "HTB will be used, marking with codel",
        Kinds { htb: true, .. } => "HTB will be used, without ECN marking",
        _ => "no interface can be scheduled",
    }
}
