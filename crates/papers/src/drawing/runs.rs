//! The runs that a drawing is of: at one point of a sweep, of one scheme or several.

use flowsched_experiment::results::{Point, RunKey, RunSummary, Summary};

use super::error::DrawingError;
use crate::drawn::Drawn;
use crate::measure::Measure;
use crate::setting::{has_values, pairs};

/// The runs that a drawing is of.
pub(super) struct Runs<'a> {
    pub point: &'a Point,
    /// The schemes that have curves.
    pub schemes: Vec<&'a str>,
    summary: &'a Summary,
}

impl<'a> Runs<'a> {
    pub fn new(
        drawn: &'a Drawn,
        measure: &'a Measure,
        summary: &'a Summary,
    ) -> Result<Runs<'a>, DrawingError> {
        let points: Vec<&Point> =
            summary.points().into_iter().filter(|point| has_values(point, &drawn.at)).collect();
        let [point] = points[..] else {
            return Err(DrawingError::lacks(format!(
                "the runs have {} points with {{{}}}. Let `at` name one point.",
                points.len(),
                pairs(&drawn.at)
            )));
        };
        let schemes = match &drawn.schemes[..] {
            [] => measure.schemes(),
            some => some.iter().map(String::as_str).collect(),
        };
        let known = summary.schemes();
        if let Some(scheme) = schemes.iter().find(|scheme| !known.contains(scheme)) {
            return Err(DrawingError::lacks(format!(
                "the runs have no scheme `{scheme}`, but {}.",
                known.join(", ")
            )));
        }
        Ok(Runs { point, schemes, summary })
    }

    /// The first scheme of the experiment.
    pub fn first_scheme(&self) -> &'a str {
        self.summary.schemes()[0]
    }

    /// Whether the run is at the point, with the first seed of its scheme.
    pub fn is_first(&self, run: &RunKey) -> bool {
        let mut all = self.summary.runs_of(self.point, &run.scheme);
        run.point == *self.point && all.next().is_some_and(|first| first.seed == run.seed)
    }

    /// The summary of a run at the point.
    pub fn summary_of(&self, run: &RunKey) -> Option<&'a RunSummary> {
        let is_run = |one: &&RunSummary| {
            one.point == run.point && one.scheme == run.scheme && one.seed == run.seed
        };
        self.summary.runs.iter().find(is_run).filter(|one| one.point == *self.point)
    }
}
