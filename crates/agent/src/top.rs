//! `flowsched agent top`: levels, messages and rates, live in the terminal.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use crate::args::TopArgs;
use crate::error::AgentError;
use crate::histogram::Histogram;
use crate::pins::Places;
use crate::stats::{self, Snapshot};

/// Shows a snapshot after each interval.
pub(crate) fn run(places: &Places, args: &TopArgs) -> Result<(), AgentError> {
    let mut before = Snapshot::read(places)?;
    let mut at = Instant::now();
    let mut readings = 0;
    let clear = if io::stdout().is_terminal() { "\x1b[2J\x1b[H" } else { "" };
    loop {
        thread::sleep(Duration::from_secs(args.interval));
        let now = Snapshot::read(places)?;
        let elapsed = at.elapsed().as_secs_f64();
        at = Instant::now();
        let text = render(&before, &now, elapsed, &stats::histogram(places)?);
        let mut out = io::stdout().lock();
        // This fails if the reader has closed the other end, which ends the command.
        if write!(out, "{clear}{text}").and_then(|()| out.flush()).is_err() {
            return Ok(());
        }
        before = now;
        readings += 1;
        if args.count.is_some_and(|count| readings >= count) {
            return Ok(());
        }
    }
}

fn render(before: &Snapshot, now: &Snapshot, seconds: f64, sizes: &Histogram) -> String {
    let mut text = String::new();
    let rate = |after: u64, before: u64| after.saturating_sub(before) as f64 / seconds;
    let _ = writeln!(text, "level  DSCP     packets/s        Mbit/s  share of packets");
    let packets = rate(now.tagged(), before.tagged());
    for level in 0..now.levels {
        let here = rate(now.counters.levels[level].packets, before.counters.levels[level].packets);
        let bytes =
            rate(now.counters.levels[level].wire_bytes, before.counters.levels[level].wire_bytes);
        let share = if packets > 0.0 { here / packets } else { 0.0 };
        let bar = "#".repeat((share * 30.0).round() as usize);
        let _ = writeln!(
            text,
            "{level:>5}  {:>4}  {here:>12.0}  {:>12.3}  {:>3.0} % {bar}",
            now.code_points[level],
            bytes * 8.0 / 1e6,
            share * 100.0
        );
    }
    let started = |s: &Snapshot| s.counters.messages_idle + s.counters.messages_application;
    let _ = writeln!(
        text,
        "new messages {:.0}/s, starved flows made new {:.1}/s, left alone {:.0}/s",
        rate(started(now), started(before)),
        rate(now.counters.starved, before.counters.starved),
        rate(now.counters.left_alone.iter().sum(), before.counters.left_alone.iter().sum()),
    );
    let _ = writeln!(
        text,
        "flows by 5-tuple {} of {} ({} made room for others)",
        now.flows,
        now.max_flows,
        now.evicted()
    );
    if let (Some(median), Some(tail)) = (sizes.quantile(0.5), sizes.quantile(0.99)) {
        let _ = writeln!(
            text,
            "messages ended {}: half up to {median}, 99 % up to {tail}",
            sizes.messages()
        );
    }
    let runs = now.programs.runs.saturating_sub(before.programs.runs);
    if runs > 0 {
        let spent = now.programs.run_time_ns.saturating_sub(before.programs.run_time_ns);
        let _ = writeln!(text, "program {:.0} ns a packet", spent as f64 / runs as f64);
    }
    text
}
