//! The figures of a soak, as a page in Markdown.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::trial::{Verdict, kinds};

/// The outcomes of all cases so far.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    cases: u64,
    unsure: u64,
    packets: BTreeMap<&'static str, u64>,
    events: BTreeMap<&'static str, u64>,
    /// For each kind of failure, the number of cases that had it, and the lowest of their seeds.
    failures: BTreeMap<String, (u64, u64)>,
}

fn add(all: &mut BTreeMap<&'static str, u64>, some: &BTreeMap<&'static str, u64>) {
    for (name, count) in some {
        *all.entry(name).or_default() += count;
    }
}

impl Tally {
    /// Adds the case of `seed`.
    pub fn add(&mut self, seed: u64, verdict: &Verdict) {
        self.cases += 1;
        self.unsure += verdict.findings.unsure;
        add(&mut self.packets, &verdict.findings.packets);
        add(&mut self.events, &verdict.events);
        for kind in kinds(verdict) {
            let (cases, first) = self.failures.entry(kind).or_insert((0, seed));
            *cases += 1;
            *first = seed.min(*first);
        }
    }

    /// Whether some case failed.
    pub fn has_failures(&self) -> bool {
        !self.failures.is_empty()
    }

    /// The figures as a page.
    pub fn page(&self, date: &str, minutes: u64) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let mut page = format!(
            "# Soak of the agent\n\nRandom life cycles of `flowsched agent` under traffic. The tag \
             of every packet is compared with the rule. `make soak-agent` runs them and writes \
             this page; `SOAK_SEED=N make soak-agent` repeats one case.\n\n\
             | figure | value |\n| --- | --- |\n\
             | date | {date} |\n| version | flowsched {version} |\n| minutes | {minutes} |\n\
             | cases | {} |\n| packets checked | {} |\n",
            self.cases,
            self.packets.values().sum::<u64>()
        );
        for (kind, count) in &self.packets {
            let _ = writeln!(page, "| packets checked: {kind} | {count} |");
        }
        let _ = writeln!(page, "| packets with more than one right tag | {} |", self.unsure);
        for (event, count) in &self.events {
            let _ = writeln!(page, "| life cycle: {event} | {count} |");
        }
        page.push_str("\n## Failures\n\n");
        if self.failures.is_empty() {
            page.push_str("None.\n");
            return page;
        }
        page.push_str("| failure | cases | first seed |\n| --- | --- | --- |\n");
        for (kind, (cases, seed)) in &self.failures {
            let _ = writeln!(page, "| {kind} | {cases} | {seed} |");
        }
        page
    }
}

#[test]
fn packets_events_and_failures_are_counted() {
    use crate::oracle::{Findings, Violation};
    let mut tally = Tally::default();
    let failed = Verdict {
        findings: Findings {
            violations: vec![Violation::new("untagged", "a"), Violation::new("untagged", "b")],
            packets: [("UDP", 10)].into(),
            unsure: 2,
        },
        events: [("reload", 3)].into(),
        ..Verdict::default()
    };
    tally.add(7, &failed);
    tally.add(5, &failed);
    tally.add(1, &Verdict::default());
    assert!(tally.has_failures());
    let page = tally.page("today", 60);
    for row in [
        "| cases | 3 |",
        "| packets checked | 20 |",
        "| packets checked: UDP | 20 |",
        "| packets with more than one right tag | 4 |",
        "| life cycle: reload | 6 |",
        "| untagged | 2 | 5 |",
    ] {
        assert!(page.contains(row), "{row}: {page}");
    }
    assert!(Tally::default().page("today", 60).ends_with("None.\n"));
}
