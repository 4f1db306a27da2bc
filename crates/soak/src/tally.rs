//! The figures of a soak, as a table.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::oracle::ending::Outcome;
use crate::trial::CaseReport;

/// The outcomes of all cases so far.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    cases: u64,
    refused: u64,
    runs: u64,
    done: u64,
    refused_late: u64,
    stopped: u64,
    killed: u64,
    resumed: u64,
    compared: u64,
    over_time: u64,
    out_of_memory: u64,
    out_of_disk: u64,
    out_of_time: u64,
    /// For each kind of failure, the number of cases that had it, and the lowest of their seeds.
    failures: BTreeMap<String, (u64, u64)>,
}

impl Tally {
    /// Adds the case of `seed`.
    pub fn add(&mut self, seed: u64, report: &CaseReport) {
        let count = |outcome| report.runs.iter().filter(|run| **run == outcome).count() as u64;
        self.cases += 1;
        self.refused += u64::from(report.is_refused);
        self.runs += report.runs.len() as u64;
        self.done += count(Outcome::Done);
        self.refused_late += count(Outcome::Refused);
        self.stopped += count(Outcome::Stopped);
        self.killed += count(Outcome::Killed);
        self.resumed += report.resumed;
        self.compared += report.compared;
        self.over_time += report.over_time;
        self.out_of_memory += count(Outcome::OutOfMemory);
        self.out_of_disk += count(Outcome::OutOfDisk);
        self.out_of_time += count(Outcome::OutOfTime);
        let mut kinds: Vec<&String> = report.violations.iter().map(|one| &one.kind).collect();
        kinds.sort();
        kinds.dedup();
        for kind in kinds {
            let (cases, first) = self.failures.entry(kind.clone()).or_insert((0, seed));
            *cases += 1;
            *first = seed.min(*first);
        }
    }

    /// Whether some case failed.
    pub fn has_failures(&self) -> bool {
        !self.failures.is_empty()
    }

    /// The number of cases so far.
    pub fn cases(&self) -> u64 {
        self.cases
    }

    /// The figures as a page in Markdown.
    pub fn page(&self, version: &str, date: &str, minutes: u64) -> String {
        let mut page = format!(
            "# Soak\n\nRandom experiments under limits of memory, disk and processor time, with \
             signals and kills. `make soak` runs them and writes this page; `flowsched-soak --seed \
             N` repeats one case.\n\n| figure | value |\n| --- | --- |\n\
             | date | {date} |\n| version | {version} |\n| minutes | {minutes} |\n"
        );
        for (name, value) in [
            ("experiments", self.cases),
            ("refused by `check`", self.refused),
            ("runs", self.runs),
            ("completed", self.done),
            ("refused by `run`", self.refused_late),
            ("stopped by a signal", self.stopped),
            ("over their processor time", self.over_time),
            ("killed", self.killed),
            ("ended by a lack of memory", self.out_of_memory),
            ("ended by a full disk", self.out_of_disk),
            ("ended by the longest simulated time", self.out_of_time),
            ("resumed", self.resumed),
            ("compared with another run", self.compared),
        ] {
            let _ = writeln!(page, "| {name} | {value} |");
        }
        page.push_str("\n## Failures\n\n");
        if self.failures.is_empty() {
            page.push_str("None.\n");
            return page;
        }
        page.push_str("| failure | experiments | first seed |\n| --- | --- | --- |\n");
        for (kind, (cases, seed)) in &self.failures {
            let _ = writeln!(page, "| {kind} | {cases} | {seed} |");
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::Violation;

    #[test]
    fn cases_and_failures_are_counted() {
        let mut tally = Tally::default();
        let refused = CaseReport { is_refused: true, ..CaseReport::default() };
        let failed = CaseReport {
            runs: vec![Outcome::Done, Outcome::Killed],
            violations: vec![Violation::new("late stop", "a"), Violation::new("late stop", "b")],
            ..CaseReport::default()
        };
        tally.add(7, &failed);
        tally.add(3, &failed);
        tally.add(1, &refused);
        assert!(tally.has_failures());
        let page = tally.page("1.0", "today", 60);
        for row in
            ["| experiments | 3 |", "| runs | 4 |", "| killed | 2 |", "| late stop | 2 | 3 |"]
        {
            assert!(page.contains(row), "{row}: {page}");
        }
        assert!(Tally::default().page("1.0", "today", 60).ends_with("None.\n"));
    }
}
