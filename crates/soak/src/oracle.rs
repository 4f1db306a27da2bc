//! Rules that hold for every run, whatever its experiment.
//!
//! What lives here: rules that follow from the meaning of the tables. What may not: figures of
//! particular schemes. If a change of the tables makes a rule wrong, the rule changes with them.

mod conservation;
pub mod ending;
mod flows;
mod ports;

use crate::study::Study;
use crate::violation::{Violation, Violations};

/// Returns everything that is wrong with the results of an experiment that has ended.
pub fn judge(study: &Study) -> Vec<Violation> {
    let mut found = Violations::default();
    let complete = study.runs.iter().filter(|run| run.summary.complete).count();
    let is_whole = complete == study.expected && study.runs.len() == study.expected;
    found.require(study.is_complete == is_whole, "completeness", || {
        format!("{complete} of {} runs, complete: {}", study.expected, study.is_complete)
    });
    for run in &study.runs {
        flows::judge(run, &mut found);
        ports::judge(run, &mut found);
        conservation::judge(run, &mut found);
    }
    found.into_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::RunView;

    #[test]
    fn runs_that_are_missing_make_an_experiment_incomplete() {
        let mut run = RunView::default();
        run.summary.complete = true;
        let study =
            |is_complete, expected| Study { is_complete, expected, runs: vec![run.clone()] };
        assert_eq!(judge(&study(true, 1)), []);
        assert_eq!(judge(&study(false, 2)), []);
        assert_eq!(judge(&study(true, 2))[0].kind, "completeness");
        assert_eq!(judge(&study(false, 1))[0].kind, "completeness");
    }
}
