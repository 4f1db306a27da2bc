//! `flowsched lab`: an experiment with real packets, into a results folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use flowsched_experiment::results::RunKey;
use flowsched_experiment::{Experiment, Level};
use flowsched_lab::conduct::Conduct;
use flowsched_lab::namespaces::owner;
use flowsched_lab::run::Lab;
use flowsched_run::{Outcome, RunError, SettingError, Simulation, no_packets};
use serde::{Deserialize, Serialize};

use crate::arguments::{self, Format, LabRun};
use crate::failure::Failure;
use crate::output;
use crate::progress::say;
use crate::run::{folder_of, run_by, unforeseen};

/// What the results folder has of the lab.
const FILE: &str = "lab.json";

/// How well the lab kept to real time in one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    /// Which run.
    run: String,
    scheme: String,
    seed: u64,
    valid: bool,
    packets: u64,
    /// Packets that hosts sent, by priority, the highest first.
    priorities: [u64; 8],
    /// Lateness in microseconds: of half of the packets, of 99%, of all.
    late_us: [f64; 3],
    limit_us: f64,
    late_share: f64,
    longest_absence_us: f64,
    latest_start_us: f64,
    overrun: u64,
    refused: u64,
}

impl Kept {
    fn new(key: RunKey, conduct: &Conduct) -> Kept {
        Kept {
            run: key.to_string(),
            scheme: key.scheme,
            seed: key.seed,
            valid: conduct.is_valid(),
            packets: conduct.packets,
            priorities: conduct.priorities,
            late_us: [conduct.median, conduct.p99, conduct.most].map(|time| time.as_us_f64()),
            limit_us: conduct.limit.as_us_f64(),
            late_share: conduct.late_share,
            longest_absence_us: conduct.longest_absence.as_us_f64(),
            latest_start_us: conduct.latest_start.as_us_f64(),
            overrun: conduct.overrun,
            refused: conduct.refused,
        }
    }
}

/// Carries out a command of the lab.
pub fn lab(command: &arguments::Lab) -> Result<(), Failure> {
    match command {
        arguments::Lab::Run(wanted) => run(wanted),
        arguments::Lab::Down => {
            let removed = owner::clean_up(Path::new(owner::FOLDER)).map_err(world)?;
            let what = if removed == 1 { "folder" } else { "folders" };
            output::print(&format!("removed {removed} {what} of ended labs\n"))
        }
    }
}

fn run(wanted: &LabRun) -> Result<(), Failure> {
    let LabRun { experiment, out, resume, format } = wanted;
    let folder = out.clone().unwrap_or_else(|| folder_of(&experiment.file));
    let file = folder.join(FILE);
    let kept: Arc<Mutex<Vec<Kept>>> = Arc::default();
    let (notes, place) = (kept.clone(), file.clone());
    let earlier = if *resume { read_earlier(&file) } else { Vec::new() };
    let simulator = move |run: Simulation<'_>| -> Result<Outcome, RunError> {
        let key = run.key();
        let (job, scheme, mut watch) = run.into_packets()?;
        let ran = lab_here().run(&job, scheme, &mut watch);
        let (outcome, conduct) = ran.map_err(|error| RunError::World(error.into()))?;
        let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push(Kept::new(key, &conduct));
        write(&place, &earlier, &notes).map_err(|error| RunError::World(error.into()))?;
        Ok(outcome)
    };
    let read = output::read(experiment)?;
    check(&read).map_err(|error| unforeseen(&experiment.file, &error))?;
    let one = std::num::NonZeroUsize::MIN;
    let arguments = arguments::Run {
        experiment: experiment.clone(),
        out: out.clone(),
        resume: *resume,
        threads: Some(one),
        format: *format,
    };
    let done = run_by(&arguments, read, Box::new(simulator));
    let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if *format == Format::Table && !kept.is_empty() {
        output::print(&table(&kept, &file))?;
    }
    for run in kept.iter().filter(|run| !run.valid) {
        let share = 100.0 * run.late_share;
        say(&format!(
            "warning: the lab was late in the run of {}: {share:.1}% of its packets \
             by more than {:.0} us. Do not trust its times: run it with lower rates, or on a \
             machine that does nothing else.",
            run.run, run.limit_us
        ));
    }
    done
}

/// Refuses what has no form on real packets, before anything runs.
fn check(experiment: &Experiment) -> Result<(), SettingError> {
    for scene in &experiment.scenes {
        Lab::check_hosts(&scene.network()?)?;
        if scene.workload.has_application_rates() {
            return Err(no_application_rates());
        }
        if scene.probe.is_some() {
            let problem = "The lab records nothing over time. Remove `[probe]`, or run the file with \
                           `flowsched run`.";
            return Err(SettingError::sentence("probe", problem));
        }
        for scheme in &scene.schemes {
            match &scheme.level {
                Level::Packets(scheme) => scheme.on_linux().map(|_| ())?,
                Level::Flows(_) => return Err(no_packets()),
            }
        }
    }
    Ok(())
}

fn no_application_rates() -> SettingError {
    let problem = "`application_rate` is of simulated flows only: in the lab each flow is handed to TCP at \
                   once. Remove it.";
    SettingError::sentence("workload.application_rate", problem.to_owned())
}

/// The lab, with this program as its agent where that is built in.
fn lab_here() -> Lab {
    let lab = Lab::default();
    match std::env::current_exe() {
        Ok(program) if cfg!(feature = "agent") => lab.with_agent(program),
        _ => lab,
    }
}

fn world(error: flowsched_lab::LabError) -> Failure {
    Failure::World(error.into())
}

/// The runs that were there before; none if the file is not one of the lab's.
fn read_earlier(file: &Path) -> Vec<Kept> {
    let text = fs::read_to_string(file).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn write(file: &PathBuf, earlier: &[Kept], new: &[Kept]) -> std::io::Result<()> {
    let all = earlier.iter().chain(new).map(|run| (&run.run, run));
    let runs: Vec<&Kept> = all.collect::<BTreeMap<&String, &Kept>>().into_values().collect();
    fs::write(file, serde_json::to_string_pretty(&runs)? + "\n")
}

fn table(kept: &[Kept], file: &Path) -> String {
    let head = ["", "seed", "packets", "late p50", "p99", "most", "late", "valid"];
    let mut lines = vec![head.map(str::to_owned)];
    for run in kept {
        let [median, p99, most] = run.late_us.map(|us| format!("{us:.0} us"));
        lines.push([
            run.scheme.clone(),
            run.seed.to_string(),
            run.packets.to_string(),
            median,
            p99,
            most,
            format!("{:.2}%", 100.0 * run.late_share),
            if run.valid { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = "\nThe lab, in real time\n".to_owned();
    for line in &lines {
        let cells =
            line.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
                0 => format!("  {cell:width$}"),
                _ => format!("  {cell:>width$}"),
            });
        text += cells.collect::<String>().trim_end();
        text.push('\n');
    }
    text + &format!(
        "Late: packets that reached their hosts more than {:.0} us after they were due.\nAll \
         figures: {}\n",
        kept.first().map_or(0.0, |run| run.limit_us),
        file.display()
    )
}
