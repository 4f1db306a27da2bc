//! Runs with real packets whose figures decide nothing, because the lab could not keep to real time.

use std::collections::BTreeMap;

/// The number of late runs of each scheme in a study.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LateRuns(BTreeMap<String, u64>);

impl LateRuns {
    /// Counts a late run of a scheme.
    pub fn note(&mut self, scheme: &str) {
        *self.0.entry(scheme.to_owned()).or_default() += 1;
    }

    /// How many runs of these schemes were late, as a sentence without its full stop; `None` if none was.
    pub(crate) fn of(&self, schemes: &[&str]) -> Option<String> {
        let late: Vec<(&str, u64)> =
            schemes.iter().filter_map(|scheme| Some((*scheme, *self.0.get(*scheme)?))).collect();
        let runs: u64 = late.iter().map(|(_, runs)| runs).sum();
        let names: Vec<&str> = late.iter().map(|(scheme, _)| *scheme).collect();
        let plural = if runs == 1 { "run" } else { "runs" };
        (runs > 0)
            .then(|| format!("the lab was late in {runs} {plural} of {}", names.join(" and ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_runs_of_the_schemes_that_a_figure_is_from_count() {
        let mut late = LateRuns::default();
        assert_eq!(late.of(&["pdq", "rcp"]), None);
        late.note("rcp");
        assert_eq!(late.of(&["pdq"]), None);
        assert_eq!(late.of(&["pdq", "rcp"]).unwrap(), "the lab was late in 1 run of rcp");
        late.note("rcp");
        late.note("pdq");
        let both = late.of(&["pdq", "rcp"]).unwrap();
        assert_eq!(both, "the lab was late in 3 runs of pdq and rcp");
    }
}
