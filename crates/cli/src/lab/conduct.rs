//! How late the lab was in each run: kept in the results folder until the summary has it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use flowsched_experiment::results::{LabRun, RunKey};
use flowsched_lab::conduct::Conduct;

/// The lab's file in the results folder.
const FILE: &str = "lab.json";

fn kept(key: RunKey, conduct: &Conduct) -> LabRun {
    LabRun {
        run: key.to_string(),
        point: key.point,
        scheme: key.scheme,
        seed: key.seed,
        valid: conduct.is_valid(),
        faults: conduct.faults(),
        packets: conduct.packets,
        priorities: conduct.priorities,
        late_us: [conduct.median, conduct.p99, conduct.most].map(|time| time.as_us_f64()),
        limit_us: conduct.limit.as_us_f64(),
        late_share: conduct.late_share,
        host_late_share: conduct.host_late_share,
        host_late_us: conduct.host_most.as_us_f64(),
        busiest_rate: conduct.pacing.map(|pacing| pacing.rate),
        busiest_delay_us: conduct
            .pacing
            .map(|pacing| [pacing.queueing, pacing.late].map(|time| time.as_us_f64())),
        read_late_share: conduct.read_late_share,
        longest_absence_us: conduct.longest_absence.as_us_f64(),
        latest_start_us: conduct.latest_start.as_us_f64(),
        late_starts: conduct.late_starts,
        server_wait: conduct.server_wait,
        overrun: conduct.overrun,
        refused: conduct.refused,
    }
}

/// The conduct of all runs of a folder, including those of an earlier attempt.
#[derive(Debug)]
pub struct Conducts {
    file: PathBuf,
    /// The record of each run.
    kept: Mutex<BTreeMap<String, LabRun>>,
}

impl Conducts {
    /// The conduct of runs in the results folder `dir`. Earlier runs are kept if the experiment is
    /// resumed.
    pub fn new(dir: &Path, is_resumed: bool) -> Conducts {
        let earlier = if is_resumed { read(dir) } else { Vec::new() };
        let kept = earlier.into_iter().map(|run| (run.run.clone(), run)).collect();
        Conducts { file: dir.join(FILE), kept: Mutex::new(kept) }
    }

    /// Adds a run, and writes all of them.
    pub fn note(&self, key: RunKey, conduct: &Conduct) -> io::Result<()> {
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let run = kept(key, conduct);
        all.insert(run.run.clone(), run);
        let runs: Vec<&LabRun> = all.values().collect();
        // The file is written whole or not at all: a damaged file would lose the records of all runs.
        let partial = self.file.with_extension("json.partial");
        fs::write(&partial, serde_json::to_string_pretty(&runs)? + "\n")?;
        fs::rename(partial, &self.file)
    }
}

/// The runs in the lab's file of the results folder `dir`; none if there is no such file
/// or it cannot be parsed.
pub fn read(dir: &Path) -> Vec<LabRun> {
    let text = fs::read_to_string(dir.join(FILE)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
