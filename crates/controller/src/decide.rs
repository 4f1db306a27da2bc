//! Decides whether a group gets new thresholds, and why. A pure function of the collected data:
//! it reads no clock, no file and no network.

use std::fmt;

use flowsched_thresholds::{
    DEFAULT_MODEL, Forecast, Objective, Path, Regret, Solution, ThresholdsError, optimal_for,
    robust,
};
use flowsched_units::{Bytes, Rate};
use flowsched_workload::sizes::SizeDistribution;
use serde::{Deserialize, Serialize};

use crate::config::Guard;
use crate::windows::Windows;

/// The input of a decision.
#[derive(Clone, Debug)]
pub struct Situation<'a> {
    /// The group's traffic.
    pub windows: &'a Windows,
    /// The rate of a host's link.
    pub link: Rate,
    /// The thresholds in force.
    pub current: &'a [Bytes],
    /// Seconds since the last change; `None` if there was no change.
    pub unchanged: Option<u64>,
    /// The limits on changes.
    pub guard: &'a Guard,
}

/// The output of a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The new thresholds; `None` if the current ones stay.
    pub thresholds: Option<Vec<Bytes>>,
    /// Why.
    pub reason: Reason,
}

/// Why thresholds change or stay.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// There was no decision yet.
    NoDecision,
    /// Too few messages have ended.
    FewMessages {
        /// Messages that have ended.
        found: u64,
        /// Messages that a decision needs.
        least: u64,
    },
    /// The last change is too recent.
    TooSoon {
        /// Seconds until the next change is allowed.
        seconds: u64,
    },
    /// The best thresholds would not improve the mean FCT enough.
    NoGain {
        /// The predicted relative improvement of the mean FCT.
        gain: f64,
        /// The improvement that a change needs.
        least: f64,
    },
    /// The best thresholds improve the mean FCT enough.
    Gain {
        /// The predicted relative improvement of the mean FCT.
        gain: f64,
    },
    /// A trial passed.
    TrialPassed,
    /// A trial was rolled back, and why.
    RolledBack(String),
    /// The optimiser or the collection failed, and why.
    Failed(String),
}

impl Reason {
    /// The reason as one word, for a metric's label.
    pub fn word(&self) -> &'static str {
        match self {
            Reason::NoDecision => "no_decision",
            Reason::FewMessages { .. } => "few_messages",
            Reason::TooSoon { .. } => "too_soon",
            Reason::NoGain { .. } => "no_gain",
            Reason::Gain { .. } => "gain",
            Reason::TrialPassed => "trial_passed",
            Reason::RolledBack(_) => "rolled_back",
            Reason::Failed(_) => "failed",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NoDecision => f.write_str("nothing was decided yet"),
            Reason::FewMessages { found, least } => {
                write!(f, "only {found} messages have ended, {least} are needed")
            }
            Reason::TooSoon { seconds } => {
                write!(f, "the last change is too recent, the next may be in {seconds} s")
            }
            Reason::NoGain { gain, least } => write!(
                f,
                "the mean FCT would improve by {:.1}%, a change needs {:.1}%",
                100.0 * gain,
                100.0 * least
            ),
            Reason::Gain { gain } => {
                write!(f, "the predicted mean FCT improves by {:.1}%", 100.0 * gain)
            }
            Reason::TrialPassed => f.write_str("the trial went well"),
            Reason::RolledBack(why) => write!(f, "the trial was rolled back: {why}"),
            Reason::Failed(why) => write!(f, "no thresholds were found: {why}"),
        }
    }
}

/// Decides whether the thresholds change.
pub fn decide(situation: &Situation) -> Decision {
    let keep = |reason| Decision { thresholds: None, reason };
    let guard = situation.guard;
    let messages: f64 = situation.windows.iter().map(|window| window.messages()).sum();
    if messages < guard.least_messages.max(1) as f64 {
        let (found, least) = (messages as u64, guard.least_messages.max(1));
        return keep(Reason::FewMessages { found, least });
    }
    let interval = guard.interval.as_secs();
    if let Some(unchanged) = situation.unchanged.filter(|unchanged| *unchanged < interval) {
        return keep(Reason::TooSoon { seconds: interval - unchanged });
    }
    match best(situation, messages) {
        Err(error) => keep(Reason::Failed(error.to_string())),
        Ok((gain, _)) if gain <= guard.improvement => {
            keep(Reason::NoGain { gain, least: guard.improvement })
        }
        Ok((gain, thresholds)) => {
            Decision { thresholds: Some(thresholds), reason: Reason::Gain { gain } }
        }
    }
}

/// Windows with a smaller share of all messages are ignored: they say little about the traffic.
const LEAST_SHARE: f64 = 0.002;

/// The relative improvement of the mean FCT by the best thresholds, and these thresholds. No
/// threshold is below [`Guard::least_threshold`].
fn best(situation: &Situation, messages: f64) -> Result<(f64, Vec<Bytes>), ThresholdsError> {
    let sizes: Vec<(SizeDistribution, f64, f64)> = situation
        .windows
        .iter()
        .filter(|window| window.messages() >= LEAST_SHARE * messages)
        .filter_map(|window| Some((window.sizes()?, window.load(), window.messages())))
        .collect();
    let forecasts: Vec<Forecast> = sizes
        .iter()
        .map(|(sizes, load, _)| Forecast { sizes, path: Path::of_link(situation.link, *load) })
        .collect();
    let (queues, objective) = (situation.current.len() + 1, Objective::MeanFct);
    let found = match forecasts.as_slice() {
        [one] => optimal_for(one, queues, DEFAULT_MODEL, &objective)?.thresholds_bytes,
        several => {
            robust(several, queues, DEFAULT_MODEL, &objective, Regret::Mean)?.thresholds_bytes
        }
    };
    let least = situation.guard.least_threshold;
    let found: Vec<Bytes> = found.into_iter().map(|bytes| Bytes::new(bytes).max(least)).collect();
    let mean = |thresholds: &[Bytes]| -> Result<f64, ThresholdsError> {
        let mut sum = 0.0;
        for (forecast, (_, _, weight)) in forecasts.iter().zip(&sizes) {
            let solution = Solution::evaluate(forecast, DEFAULT_MODEL, &objective, thresholds)?;
            sum += weight * solution.objective_value;
        }
        Ok(sum)
    };
    let after = mean(&found)?;
    // The current thresholds may have no steady state. Any that have one are then a full gain.
    let gain = mean(situation.current).map_or(1.0, |before| 1.0 - after / before);
    Ok((gain, found))
}

#[cfg(test)]
mod tests;
