//! Estimates the time that the rest of several experiments takes, from those that are finished.

use std::time::Duration;

/// The least time that an experiment takes, for reading it, writing its tables and starting its
/// threads.
const LEAST: Duration = Duration::from_millis(500);
/// The share of all work after which the measured pace counts as much as the estimates.
const PRIOR: f64 = 0.1;
const MINUTE: f64 = 60.0;

/// The work of several experiments in estimated seconds: all of it, and the part that is done.
pub struct TimeLeft {
    all: f64,
    done: f64,
}

impl TimeLeft {
    /// The time for experiments that have these estimates. The estimate of a finished experiment is
    /// zero.
    pub fn new(estimates: impl Iterator<Item = Duration>) -> TimeLeft {
        TimeLeft { all: estimates.map(work).sum(), done: 0.0 }
    }

    /// Counts an experiment that is done, and that was estimated to take this long.
    pub fn has_done(&mut self, estimate: Duration) {
        self.done += work(estimate);
    }

    /// The time left, such as `, about 12 min left`, if the experiments that are done took
    /// `elapsed` and the rest goes on at that pace.
    pub fn after(&self, elapsed: Duration) -> String {
        let prior = PRIOR * self.all;
        let pace = (elapsed.as_secs_f64() + prior) / (self.done + prior);
        let seconds = (self.all - self.done) * if pace.is_finite() { pace } else { 1.0 };
        match seconds / MINUTE {
            ..1.0 => ", less than a minute left".to_owned(),
            minutes @ ..100.0 => format!(", about {minutes:.0} min left"),
            minutes => format!(", about {:.1} hours left", minutes / 60.0),
        }
    }
}

fn work(estimate: Duration) -> f64 {
    if estimate.is_zero() { 0.0 } else { estimate.max(LEAST).as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_time_left_is_said_in_minutes_or_hours() {
        let said = |all: u64| TimeLeft::new([seconds(all)].into_iter()).after(Duration::ZERO);
        let expected = ["less than a minute", "less than a minute", "about 1 min", "about 99 min"];
        assert_eq!([0, 54, 84, 5940].map(said), expected.map(|time| format!(", {time} left")));
        assert_eq!(said(9000), ", about 2.5 hours left");
    }

    /// Thirty experiments that were estimated to take 2 s each take 6 s.
    #[test]
    fn the_time_left_shrinks_with_the_work_that_is_left() {
        let mut left = TimeLeft::new((0..30).map(|_| seconds(2)));
        let said: Vec<String> = (0..30)
            .map(|done| {
                let said = left.after(seconds(6 * done));
                left.has_done(seconds(2));
                said
            })
            .collect();
        assert_eq!(said[0], ", about 1 min left");
        assert_eq!(said[10], ", about 2 min left", "120 s are left");
        assert_eq!(said[20], ", less than a minute left".to_owned(), "{said:?}");
        assert!(said[24..].iter().all(|said| said == ", less than a minute left"), "{said:?}");
    }
}
