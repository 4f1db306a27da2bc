//! The metrics, and where their values come from. A new family needs a line in one of the functions
//! below, and one in the reference.

use flowsched_fleet::bins;

use super::format::{Page, seconds};
use super::kept::{LIFETIME, kept};
use crate::bpf::LEVELS;
use crate::error::AgentError;
use crate::fleet::Record;
use crate::histogram::Histogram;
use crate::passed::{self, Passed};
use crate::pins::Places;
use crate::segments::Segments;
use crate::stats::{self, LEFT_ALONE, Snapshot};

/// The page of the command `metrics`.
///
/// # Errors
/// If no tagger is installed, or its maps may not be read.
pub(crate) fn text(places: &Places) -> Result<String, AgentError> {
    pages(places.clone())()
}

/// The page of a server, read again at most once a second.
pub(crate) fn producer(places: Places) -> impl FnMut() -> Result<String, AgentError> {
    kept(pages(places), LIFETIME)
}

/// The page, read again at each call.
///
/// The count of evictions is a difference of counts that are not read at the same moment, so it may
/// fall by a few. Prometheus takes a counter that falls for one that was reset. Therefore the page
/// shows the highest count so far.
fn pages(places: Places) -> impl FnMut() -> Result<String, AgentError> {
    let mut evicted = 0;
    move || {
        let snapshot = Snapshot::read(&places)?;
        evicted = snapshot.evicted().max(evicted);
        let sizes = stats::histogram(&places)?;
        let fleet = Record::read(&places);
        Ok(page(&snapshot, evicted, &sizes, &passed::all(&places)?, fleet.as_ref()))
    }
}

fn page(
    snapshot: &Snapshot,
    evicted: u64,
    sizes: &Histogram,
    tagged: &[Passed],
    fleet: Option<&Record>,
) -> String {
    let mut page = Page::default();
    page.gauge("build_info", "The agent's version.")
        .labelled(&[("version", &env!("CARGO_PKG_VERSION"))], 1);
    packets(&mut page, snapshot);
    interfaces(&mut page, tagged);
    messages(&mut page, snapshot, sizes);
    flows(&mut page, snapshot, evicted);
    agent(&mut page, snapshot);
    thresholds(&mut page, snapshot);
    segments(&mut page);
    if let Some(record) = fleet {
        controller(&mut page, record);
    }
    page.finish()
}

fn packets(page: &mut Page, snapshot: &Snapshot) {
    let levels = snapshot.counters.levels;
    let mut by_level = |name, help, counts: [u64; LEVELS]| {
        let mut family = page.counter(name, help);
        for (level, count) in counts.into_iter().enumerate().take(snapshot.levels) {
            let dscp = snapshot.code_points[level];
            family.labelled(&[("level", &level), ("dscp", &dscp)], count);
        }
    };
    by_level("packets_total", "Packets tagged with the level.", levels.map(|l| l.packets));
    by_level(
        "wire_packets_total",
        "Packets on the wire of the level: segments of super-packets count one by one.",
        levels.map(|l| l.wire_packets),
    );
    by_level("payload_bytes_total", "Payload of the level.", levels.map(|l| l.payload_bytes));
    by_level("wire_bytes_total", "Bytes on the wire of the level.", levels.map(|l| l.wire_bytes));
    let mut left_alone = page.counter("left_alone_total", "Packets that went out as they came.");
    for (kind, reason, _) in &LEFT_ALONE {
        let count = snapshot.counters.left_alone[kind.0 as usize];
        left_alone.labelled(&[("reason", reason)], count);
    }
    page.counter("ect_forced_total", "Packets that the agent set ECT(0) on.")
        .value(snapshot.counters.ect_forced);
}

/// The two counts of packets per interface. If their difference grows, something keeps packets from
/// the tagger.
fn interfaces(page: &mut Page, tagged: &[Passed]) {
    let help = "Packets that a tagged interface sent, by its own count.";
    let mut sent = page.counter("interface_packets_total", help);
    for one in tagged {
        sent.labelled(&[("interface", &one.interface.name)], one.sent);
    }
    let help = "Bytes that a tagged interface sent, by its own count.";
    let mut bytes = page.counter("interface_bytes_total", help);
    for one in tagged {
        bytes.labelled(&[("interface", &one.interface.name)], one.sent_bytes);
    }
    let mut seen =
        page.counter("interface_packets_passed_total", "Those of them that passed the tagger.");
    for one in tagged {
        seen.labelled(&[("interface", &one.interface.name)], one.seen);
    }
}

fn messages(page: &mut Page, snapshot: &Snapshot, sizes: &Histogram) {
    let counters = &snapshot.counters;
    page.counter("messages_total", "Messages begun on a used connection.")
        .labelled(&[("by", &"idle")], counters.messages_idle)
        .labelled(&[("by", &"application")], counters.messages_application);
    page.counter("starved_total", "Flows made new after timeouts.").value(counters.starved);
    message_bytes(page, sizes);
}

/// Message sizes in the bins that a controller adds up. The distribution file has finer bins.
fn message_bytes(page: &mut Page, histogram: &Histogram) {
    let sizes: Vec<_> = histogram.sizes().collect();
    let mut family = page.histogram("message_bytes", "Sizes of ended messages.");
    let (mut count, mut next) = (0, sizes.iter().peekable());
    for bound in bins::bounds() {
        while let Some((_, more)) = next.next_if(|(size, _)| size.get() <= bound) {
            count += more;
        }
        family.sample("_bucket", &[("le", &bound)], count);
    }
    let sum: u64 = sizes.iter().map(|(size, count)| size.get() * count).sum();
    family.sample("_bucket", &[("le", &"+Inf")], histogram.messages());
    family.sample("_sum", &[], sum).sample("_count", &[], histogram.messages());
}

fn flows(page: &mut Page, snapshot: &Snapshot, evicted: u64) {
    let counters = &snapshot.counters;
    page.counter("socket_flows_total", "Local connections seen.").value(counters.flows_socket);
    page.counter("hash_flows_total", "Flows seen by 5-tuple.").value(counters.flows_hash);
    page.counter("evicted_total", "Flows that made room for others.").value(evicted);
    // Not `hash_flows`: in OpenMetrics, that is the name of the family of `hash_flows_total`.
    page.gauge("hash_flows_active", "Flows known by 5-tuple now.").value(snapshot.flows);
    page.gauge("hash_flows_limit", "Room for flows known by 5-tuple.").value(snapshot.max_flows);
}

fn agent(page: &mut Page, snapshot: &Snapshot) {
    let programs = &snapshot.programs;
    page.counter("reloads_total", "Configurations put in force.").value(snapshot.agent.reloads);
    page.counter("reloads_refused_total", "Configurations refused.")
        .value(snapshot.agent.reloads_refused);
    page.counter("program_runs_total", "Measured runs of the program.").value(programs.runs);
    page.counter("program_run_time_seconds_total", "Time that the measured runs took.")
        .value(seconds(programs.run_time_ns));
}

fn thresholds(page: &mut Page, snapshot: &Snapshot) {
    let mut family = page.gauge("threshold_bytes", "Bytes sent beyond which a level ends.");
    for (level, bytes) in
        snapshot.thresholds.iter().enumerate().take(snapshot.levels.saturating_sub(1))
    {
        family.labelled(&[("level", &level)], bytes);
    }
}

/// TCP segments of the whole host, by which canaries are judged.
fn segments(page: &mut Page) {
    let Some(segments) = Segments::read() else { return };
    page.counter("tcp_segments_sent_total", "Segments that the host's TCP sent.")
        .value(segments.sent);
    page.counter("tcp_segments_retransmitted_total", "Segments that it sent again.")
        .value(segments.retransmitted);
}

fn controller(page: &mut Page, record: &Record) {
    let labels: [(&str, &dyn std::fmt::Display); 2] =
        [("group", &record.group), ("host", &record.host)];
    let mut gauge = |name, help, value: u64| {
        page.gauge(name, help).labelled(&labels, value);
    };
    gauge(
        "thresholds_version",
        "Version of the thresholds in force; 0: those of the configuration.",
        record.version,
    );
    gauge("thresholds_canary", "Whether they are on trial here.", record.is_canary.into());
    gauge("controller_connected", "Whether the controller answers.", record.is_connected.into());
    page.counter("announcements_applied_total", "Announcements put in force.")
        .labelled(&labels, record.applied);
    page.counter("announcements_refused_total", "Announcements refused.")
        .labelled(&labels, record.refused);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attach::Hook;
    use crate::histogram::{BUCKETS, bucket_of};
    use crate::interfaces::Interface;
    use std::io::Write;
    use std::process::{Command, Stdio};

    fn tagged() -> Vec<Passed> {
        let interface = Interface { index: 3, name: "eth0".into() };
        vec![Passed {
            interface,
            hook: Hook::Tcx,
            sent: 9,
            sent_bytes: 900,
            seen: 7,
            sent_recently: 9,
            missed_recently: 2,
            before: Vec::new(),
        }]
    }

    fn sizes() -> Histogram {
        let mut counts = vec![0; BUCKETS];
        (counts[255], counts[bucket_of(256)], counts[bucket_of(1_000_000)]) = (3, 4, 5);
        Histogram::new(counts)
    }

    #[test]
    fn a_bucket_holds_all_that_is_not_larger_than_its_bound() {
        let mut page = Page::default();
        message_bytes(&mut page, &sizes());
        let page = page.finish();
        for line in ["{le=\"255\"} 3", "{le=\"511\"} 7", "{le=\"524287\"} 7", "{le=\"1048575\"} 12"]
        {
            let line = format!("flowsched_message_bytes_bucket{line}\n");
            assert!(page.contains(&line), "{line} is not in\n{page}");
        }
        assert!(page.contains("_bucket{le=\"+Inf\"} 12\n"));
    }

    #[test]
    fn no_counter_has_the_name_of_another_family() {
        let page = page(
            &Snapshot { levels: 3, ..Snapshot::default() },
            0,
            &sizes(),
            &tagged(),
            Some(&Record::default()),
        );
        let names = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        let mut families: Vec<&str> = names
            .filter_map(|line| line.split(' ').next())
            .map(|name| name.strip_suffix("_total").unwrap_or(name))
            .collect();
        let all = families.len();
        families.sort_unstable();
        families.dedup();
        assert_eq!(families.len(), all, "{page}");
    }

    #[test]
    fn promtool_finds_no_fault() {
        let started = Command::new("promtool")
            .args(["check", "metrics"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut promtool) = started else {
            eprintln!("skipped: promtool is missing (scripts/install-agent-deps.sh --test)");
            return;
        };
        let page = page(
            &Snapshot { levels: 3, ..Snapshot::default() },
            0,
            &sizes(),
            &tagged(),
            Some(&Record::default()),
        );
        promtool.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
        let output = promtool.wait_with_output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.success() && said.is_empty(), "{said}\n{page}");
    }
}
