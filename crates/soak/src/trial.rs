//! Takes a case from its file to its report: checks it, runs it, runs it again with trouble,
//! resumes it, and compares the results.
//!
//! What lives here: which commands run, and in which order. What may not: rules about their
//! results, which are in the oracles.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::generate::{Case, FILE};
use crate::oracle::ending::{self, Outcome};
use crate::oracle::judge;
use crate::plan::{Plan, Trouble};
use crate::process::{Disturbance, Ended, Limits, Program};
use crate::study::Study;
use crate::violation::Violation;

/// The tables that must be equal if the runs are.
const TABLES: [&str; 2] = ["flows.parquet", "ports.parquet"];
/// The limits of each process, unless the case sets lower ones.
const MEMORY: u64 = 2 << 30;
const LARGEST_FILE: u64 = 256 << 20;

/// The binary under test.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The `flowsched` binary.
    pub binary: PathBuf,
    /// A process is stopped when it has used this much processor time.
    pub cpu: Duration,
    /// Whether `flowsched run` has `--resume`. Without it, results that were cut short are not
    /// completed.
    pub can_resume: bool,
}

impl Subject {
    /// Asks the binary whether it can resume.
    ///
    /// # Errors
    /// If the binary cannot be run.
    pub fn new(binary: &Path, cpu: Duration) -> io::Result<Subject> {
        let binary = binary.canonicalize()?;
        let help = Command::new(&binary).args(["run", "--help"]).output()?;
        let can_resume = String::from_utf8_lossy(&help.stdout).contains("--resume");
        Ok(Subject { binary, cpu, can_resume })
    }
}

/// The outcome of a case.
#[derive(Clone, Debug, Default)]
pub struct CaseReport {
    /// Whether `flowsched check` refused the file.
    pub is_refused: bool,
    /// The outcome of every `flowsched run`.
    pub runs: Vec<Outcome>,
    /// Number of runs that were stopped because they had used their processor time.
    pub over_time: u64,
    /// Number of results that were cut short and then run again with `--resume`.
    pub resumed: u64,
    /// Number of results that were compared with those of another run.
    pub compared: u64,
    /// What is wrong.
    pub violations: Vec<Violation>,
    /// The commands, in their order.
    pub commands: Vec<String>,
}

/// Carries out the case in `folder`.
///
/// # Errors
/// If the folder cannot be written or a process cannot be started.
pub fn carry_out(case: &Case, subject: &Subject, folder: &Path) -> io::Result<CaseReport> {
    for (name, text) in &case.files {
        fs::write(folder.join(name), text)?;
    }
    let program = Program { binary: subject.binary.clone(), folder: folder.to_owned() };
    let limits = Limits { memory: MEMORY, cpu: subject.cpu, file: LARGEST_FILE };
    let plan = Plan::new(case.seed);
    let mut trial = Trial { case, subject, program, limits, plan, report: CaseReport::default() };
    trial.carry_out()?;
    Ok(trial.report)
}

struct Trial<'a> {
    case: &'a Case,
    subject: &'a Subject,
    program: Program,
    limits: Limits,
    plan: Plan,
    report: CaseReport,
}

impl Trial<'_> {
    fn carry_out(&mut self) -> io::Result<()> {
        if !self.passes_check()? {
            return Ok(());
        }
        let (ended, outcome) = self.run("first", self.plan.threads[0], self.limits, None, &[])?;
        match outcome {
            Outcome::Done => self.judge_results("first", true)?,
            Outcome::Stopped | Outcome::OutOfDisk | Outcome::OutOfMemory | Outcome::OutOfTime => {
                return self.judge_results("first", false);
            }
            Outcome::Refused | Outcome::Killed | Outcome::Failed => return Ok(()),
        }
        self.second_run(ended.wall)
    }

    fn passes_check(&mut self) -> io::Result<bool> {
        let mut arguments = vec!["check".to_owned(), FILE.to_owned()];
        arguments.extend(self.case.arguments.clone());
        let (ended, outcome) = self.flowsched(&arguments, self.limits, None, "")?;
        self.report.is_refused = outcome == Outcome::Refused;
        if ended.is_over_time {
            self.add("check does not end", "check was stopped after its processor time");
        }
        Ok(outcome == Outcome::Done)
    }

    /// Runs the case again with other threads and with trouble. Resumes a run that was cut short.
    fn second_run(&mut self, wall: Duration) -> io::Result<()> {
        let trouble = self.plan.trouble;
        let disturbance = trouble.signal(wall).map(|(signal, after)| Disturbance { signal, after });
        let limits = match trouble {
            Trouble::FullDisk(file) => Limits { file, ..self.limits },
            _ => self.limits,
        };
        let threads = self.plan.threads[1];
        let (_, mut outcome) = self.run("second", threads, limits, disturbance, &[])?;
        let is_cut_short =
            matches!(outcome, Outcome::Stopped | Outcome::Killed | Outcome::OutOfDisk);
        if is_cut_short && outcome != Outcome::Killed {
            self.judge_results("second", false)?;
        }
        if is_cut_short && self.subject.can_resume {
            (_, outcome) = self.run("second", threads, self.limits, None, &["--resume"])?;
            self.report.resumed += 1;
            if outcome != Outcome::Done {
                self.add("resume", format!("a run that was cut short became {outcome:?}"));
            }
        }
        if outcome == Outcome::Done {
            self.compare();
        }
        Ok(())
    }

    /// Runs `flowsched run` into the folder `out`.
    fn run(
        &mut self,
        out: &str,
        threads: u64,
        limits: Limits,
        disturbance: Option<Disturbance>,
        more: &[&str],
    ) -> io::Result<(Ended, Outcome)> {
        let mut arguments = vec!["run".to_owned(), FILE.to_owned()];
        arguments.extend(self.case.arguments.clone());
        arguments.extend(["--out", out, "--threads"].map(String::from));
        arguments.push(threads.to_string());
        arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
        let (ended, outcome) = self.flowsched(&arguments, limits, disturbance, out)?;
        self.report.runs.push(outcome);
        self.report.over_time += u64::from(ended.is_over_time);
        Ok((ended, outcome))
    }

    fn flowsched(
        &mut self,
        arguments: &[String],
        limits: Limits,
        disturbance: Option<Disturbance>,
        out: &str,
    ) -> io::Result<(Ended, Outcome)> {
        let written = match out {
            "" => self.program.folder.join("none"),
            out => self.program.folder.join(out),
        };
        let ended = self.program.run(arguments, limits, disturbance, &written)?;
        let command = format!("flowsched {}", arguments.join(" "));
        let (outcome, violations) = ending::judge(&ended, &command);
        let trouble = ended.sent.map(|signal| format!("  # {signal} after {:?}", ended.wall));
        self.report.commands.push(command + &trouble.unwrap_or_default());
        self.report.violations.extend(violations);
        Ok((ended, outcome))
    }

    /// Judges the folder `out` and lets `flowsched report` open it. If a command did not end well,
    /// its results may be missing. They may also be complete, if the command was stopped while it
    /// wrote the report.
    fn judge_results(&mut self, out: &str, ended_well: bool) -> io::Result<()> {
        let folder = self.program.folder.join(out);
        if !ended_well && !folder.join("summary.json").exists() {
            return Ok(());
        }
        match Study::read(&folder) {
            Ok(study) => {
                if ended_well && !study.is_complete {
                    self.add("completeness", "the command succeeded with incomplete results");
                }
                self.report.violations.extend(judge(&study));
            }
            Err(reason) => self.add("unreadable results", reason),
        }
        let arguments = ["report".to_owned(), out.to_owned()];
        let (_, outcome) = self.flowsched(&arguments, self.limits, None, out)?;
        if outcome != Outcome::Done {
            self.add("report", format!("flowsched report became {outcome:?}"));
        }
        Ok(())
    }

    /// Checks that both results have the same tables, byte for byte.
    fn compare(&mut self) {
        self.report.compared += 1;
        for table in TABLES {
            let [first, second] =
                ["first", "second"].map(|out| fs::read(self.program.folder.join(out).join(table)));
            let problem = match (first, second) {
                (Ok(first), Ok(second)) if first == second => continue,
                (Ok(_), Ok(_)) => "differs".to_owned(),
                (Err(error), _) | (_, Err(error)) => format!("cannot be read: {error}"),
            };
            let trouble = self.plan.trouble;
            self.add("other results", format!("{table} {problem}, with {trouble:?}"));
        }
    }

    fn add(&mut self, kind: &str, detail: impl Into<String>) {
        self.report.violations.push(Violation::new(kind, detail));
    }
}
