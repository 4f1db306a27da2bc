//! Runs one case, from its network to its findings.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::capture::Capture;
use crate::draw::Case;
use crate::life::Life;
use crate::oracle::{Findings, Violation, judge};
use crate::traffic::Traffic;
use crate::world::World;

/// The outcome of a case.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    pub findings: Findings,
    pub events: BTreeMap<&'static str, u64>,
    /// The times and rules of all phases.
    pub history: String,
    /// Everything that the agent has logged.
    pub log: String,
}

/// The most violations of each kind that are written down.
const SHOWN: usize = 20;

/// Runs a case. `is_enough`: whether it should end early.
pub fn carry_out(case: &Case, is_enough: &dyn Fn() -> bool) -> Verdict {
    let world = World::new(case);
    let mut life = Life::new(&world, case);
    let capture = Capture::start(&world.pair.b);
    let traffic = Traffic::start(&world, case);
    // Some connections must also be older than the first agent.
    thread::sleep(Duration::from_millis(300));
    let outcome = catch_unwind(AssertUnwindSafe(|| life.run(is_enough)));
    let ended = catch_unwind(AssertUnwindSafe(|| traffic.end()));
    let captured = capture.end();
    let mut findings = match &outcome {
        Ok(()) => judge(case, &life.history, &captured.packets),
        // What happened after the failure is not known.
        Err(_) => Findings::default(),
    };
    findings.violations.append(&mut life.violations);
    for (what, outcome) in [("life cycle", outcome), ("traffic", ended)] {
        if let Err(panic) = outcome {
            findings.violations.push(Violation::new(what, message(&*panic)));
        }
    }
    if captured.lost > 0 {
        let text = format!("{} packets", captured.lost);
        findings.violations.push(Violation::new("packets lost by the capture", text));
    }
    Verdict {
        findings,
        events: std::mem::take(&mut life.events),
        history: life.history.describe(),
        log: life.log(),
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}

/// The kinds of failures, each once.
pub fn kinds(verdict: &Verdict) -> Vec<String> {
    let kinds = verdict.findings.violations.iter().map(|one| one.kind.clone());
    kinds.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The text that is needed to reproduce a failure.
pub fn describe(case: &Case, verdict: &Verdict) -> String {
    let mut text = format!("SOAK_SEED={} make soak-agent\n", case.seed);
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for Violation { kind, text: about } in &verdict.findings.violations {
        let count = shown.entry(kind).or_default();
        *count += 1;
        if *count <= SHOWN {
            let _ = write!(text, "\n{kind}: {about}\n");
        }
    }
    text.push('\n');
    for (kind, count) in shown {
        let _ = writeln!(text, "{count} times {kind}");
    }
    let _ = write!(text, "\n{}\n{:#?}\n", verdict.history, verdict.findings.packets);
    let _ = writeln!(text, "\n{case:#?}");
    text
}

/// Writes a failure to a folder.
pub fn keep(case: &Case, verdict: &Verdict, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("failure.txt"), describe(case, verdict))?;
    fs::write(folder.join("agent.log"), &verdict.log)
}
