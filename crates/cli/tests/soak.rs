//! Runs a few random experiments, as `make soak` does for an hour, so that the tool itself is kept
//! working.

use std::path::Path;
use std::time::Duration;

use flowsched_soak::trial::CaseReport;
use flowsched_soak::{Soak, Subject};

/// The seed of the first of these experiments.
const FIRST_SEED: u64 = 3_007;
/// The number of experiments. About half of them are refused.
const CASES: u64 = 12;
/// Processor time after which a run is stopped.
const CPU: Duration = Duration::from_secs(1);

#[test]
fn random_experiments_end_in_results_or_errors() {
    let binary = Path::new(env!("CARGO_BIN_EXE_flowsched"));
    let failures = tempfile::tempdir().unwrap();
    let soak = Soak {
        subject: Subject::new(binary, CPU).unwrap(),
        first_seed: FIRST_SEED,
        time: Duration::MAX,
        cases: CASES,
        side_by_side: 2,
        failures: failures.path().into(),
    };
    let show = |seed, report: &CaseReport| {
        report.violations.iter().for_each(|violation| eprintln!("seed {seed}: {violation}"));
    };
    let tally = soak.run(&show).unwrap();
    let page = tally.page("", "", 0);
    assert!(!tally.has_failures(), "{page}");
    assert_eq!(tally.cases(), CASES);
    assert!(!page.contains("| completed | 0 |"), "{page}");
}
