//! How late the lab was in each run: kept in the results folder, shown, and warned of.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use flowsched_experiment::results::RunKey;
use flowsched_lab::conduct::Conduct;
use serde::{Deserialize, Serialize};

use crate::progress::say;

/// What the results folder has of the lab.
const FILE: &str = "lab.json";

/// How well the lab kept to real time in one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// Which run.
    pub run: String,
    scheme: String,
    seed: u64,
    pub valid: bool,
    packets: u64,
    /// Packets that hosts sent, by priority, the highest first.
    priorities: [u64; 8],
    /// Lateness in microseconds: of half of the packets, of 99%, of all.
    late_us: [f64; 3],
    limit_us: f64,
    late_share: f64,
    /// Of the busiest host: its rate while its port was busy, relative to the link's.
    busiest_rate: Option<f64>,
    /// The mean queueing delay of its full packets, and their mean lateness.
    busiest_delay_us: Option<[f64; 2]>,
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
            busiest_rate: conduct.pacing.map(|pacing| pacing.rate),
            busiest_delay_us: conduct
                .pacing
                .map(|pacing| [pacing.queueing, pacing.late].map(|time| time.as_us_f64())),
            longest_absence_us: conduct.longest_absence.as_us_f64(),
            latest_start_us: conduct.latest_start.as_us_f64(),
            overrun: conduct.overrun,
            refused: conduct.refused,
        }
    }
}

/// The conduct of all runs of a folder, those of an earlier attempt included.
#[derive(Debug)]
pub struct Conducts {
    file: PathBuf,
    /// By run.
    kept: Mutex<BTreeMap<String, Kept>>,
}

impl Conducts {
    /// Of the results folder `dir`. Earlier runs are kept if the experiment is resumed.
    pub fn new(dir: &Path, is_resumed: bool) -> Conducts {
        let earlier = if is_resumed { read(dir) } else { Vec::new() };
        let kept = earlier.into_iter().map(|run| (run.run.clone(), run)).collect();
        Conducts { file: dir.join(FILE), kept: Mutex::new(kept) }
    }

    /// Adds a run, and writes all of them.
    pub fn note(&self, key: RunKey, conduct: &Conduct) -> io::Result<()> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let run = Kept::new(key, conduct);
        kept.insert(run.run.clone(), run);
        let runs: Vec<&Kept> = kept.values().collect();
        // Whole or not at all: a run whose record is lost would count as punctual.
        let partial = self.file.with_extension("json.partial");
        fs::write(&partial, serde_json::to_string_pretty(&runs)? + "\n")?;
        fs::rename(partial, &self.file)
    }
}

/// The runs that the results folder `dir` has; none if its file is not one of the lab's.
pub fn read(dir: &Path) -> Vec<Kept> {
    let text = fs::read_to_string(dir.join(FILE)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// The same as JSON.
pub fn to_value(runs: &[Kept]) -> serde_json::Value {
    serde_json::to_value(runs).unwrap_or_default()
}

/// Warns of runs that do not count.
pub fn warn(kept: &[Kept]) {
    for run in kept.iter().filter(|run| !run.valid) {
        let share = 100.0 * run.late_share;
        say(&format!(
            "warning: the lab was late in the run of {}: {share:.1}% of its packets \
             by more than {:.0} us. Do not trust its times: run it with lower rates, or on a \
             machine that does nothing else.",
            run.run, run.limit_us
        ));
    }
}

/// What lateness adds to a queueing delay, both in microseconds, as text.
fn delay([queueing, late]: [f64; 2]) -> String {
    format!("+{:.2}%", 100.0 * late / queueing)
}

/// The lateness of each run, as text.
pub fn table(kept: &[Kept], dir: &Path) -> String {
    let head = ["", "seed", "packets", "late p50", "p99", "most", "late", "rate", "delay", "valid"];
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
            run.busiest_rate.map_or("-".to_owned(), |rate| format!("{:.2}%", 100.0 * rate)),
            run.busiest_delay_us
                .filter(|[queueing, _]| *queueing > 0.0)
                .map_or("-".to_owned(), delay),
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
        "Late: packets that reached their hosts more than {:.0} us after they were due.\nRate \
         and delay: of the host that received most. Its rate while its port was busy, relative to the \
         link's,\nand what lateness adds to the mean queueing delay of full packets.\nAll figures: {}\n",
        kept.first().map_or(0.0, |run| run.limit_us),
        dir.join(FILE).display()
    )
}
