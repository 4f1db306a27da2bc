//! Random life cycles of the agent under TCP, UDP and QUIC, with slow readers, starved senders and narrow links. The
//! tag of every packet that arrives at the far end of the cable is compared with the rule, and nothing may be left
//! after `uninstall`. Needs root.
//!
//! `make soak-agent` runs cases for an hour. `cargo test` runs one fixed case.

#[path = "support/agent.rs"]
mod agent;
#[path = "soak/capture.rs"]
mod capture;
#[path = "support/crowded.rs"]
mod crowded;
#[path = "soak/draw.rs"]
mod draw;
#[path = "soak/foreign.rs"]
mod foreign;
#[path = "soak/history.rs"]
mod history;
#[path = "support/lab.rs"]
mod lab;
#[path = "soak/left_behind.rs"]
mod left_behind;
#[path = "soak/leftovers.rs"]
mod leftovers;
#[path = "soak/life.rs"]
mod life;
#[path = "soak/oracle.rs"]
mod oracle;
#[path = "support/seen.rs"]
mod seen;
#[path = "soak/tally.rs"]
mod tally;
#[path = "soak/traffic.rs"]
mod traffic;
#[path = "soak/trial.rs"]
mod trial;
#[path = "soak/world.rs"]
mod world;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use draw::Case;
use leftovers::Mark;
use nix::sys::signal::{SigHandler, Signal, signal};
use tally::Tally;
use trial::{Verdict, carry_out};

const SIDE_BY_SIDE: u64 = 2;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

extern "C" fn interrupt(_: libc::c_int) {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

#[test]
fn a_short_soak_finds_nothing() {
    if !lab::is_root("a_short_soak_finds_nothing") {
        return;
    }
    let _mark = Mark::new();
    let case = Case::short();
    let verdict = carry_out(&case, &|| false);
    let packets = &verdict.findings.packets;
    let kinds = [
        "bulk TCP",
        "TCP of starved senders",
        "request and response TCP",
        "UDP",
        "QUIC",
        "TCP without payload",
    ];
    assert!(
        verdict.findings.violations.is_empty(),
        "{}\n{}",
        trial::describe(&case, &verdict),
        verdict.log
    );
    assert!(kinds.iter().all(|kind| packets[kind] > 100), "{packets:?}");
}

/// The whole number in an environment variable.
fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no whole number")))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `SOAK_MINUTES` (60) limits the time in which new cases begin. `SOAK_SEED` repeats one case instead.
#[test]
#[ignore = "runs for an hour: make soak-agent"]
#[allow(unsafe_code)]
fn soak() {
    assert!(nix::unistd::geteuid().is_root(), "make soak-agent needs root");
    let _mark = Mark::new();
    // SAFETY: the handler does nothing but store a value.
    unsafe { signal(Signal::SIGINT, SigHandler::Handler(interrupt)) }.unwrap();
    let only = variable("SOAK_SEED");
    let minutes = variable("SOAK_MINUTES").unwrap_or(60);
    let (start, time) = (Instant::now(), Duration::from_secs(60 * minutes));
    let next = AtomicU64::new(only.unwrap_or(1));
    let tally = Mutex::new(Tally::default());
    let work = || {
        while !is_interrupted() && start.elapsed() < time {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if only.is_some_and(|only| only != seed) {
                return;
            }
            if let Some(verdict) = one(seed) {
                tally.lock().unwrap().add(seed, &verdict);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(work);
        }
    });
    let tally = tally.into_inner().unwrap();
    let date = Command::new("date").arg("+%F").output().unwrap().stdout;
    let page = tally.page(String::from_utf8_lossy(&date).trim(), start.elapsed().as_secs() / 60);
    println!("{page}");
    if only.is_none() && !is_interrupted() {
        std::fs::write(root().join("benches/soak-agent.md"), page).unwrap();
    }
    assert!(!tally.has_failures(), "failures are kept in soak-agent-failures/");
}

/// Runs the case of `seed`, and keeps it if it failed. `None` if it was interrupted.
fn one(seed: u64) -> Option<Verdict> {
    let case = Case::new(seed);
    let verdict = carry_out(&case, &is_interrupted);
    if is_interrupted() {
        return None;
    }
    if !verdict.findings.violations.is_empty() {
        eprintln!("seed {seed}: {}", trial::kinds(&verdict).join(", "));
        let folder = root().join("soak-agent-failures").join(seed.to_string());
        trial::keep(&case, &verdict, &folder).unwrap();
    }
    Some(verdict)
}
