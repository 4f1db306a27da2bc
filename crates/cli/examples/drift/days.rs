//! Replays the days hour by hour: what the controller decides, and the FCTs under the frozen thresholds,
//! the controller's and the oracle's.

use std::error::Error;
use std::time::Duration;

use flowsched_controller::{Guard, Situation, Windows, decide};
use flowsched_units::Bytes;

use crate::simulate::{Fcts, Simulator};
use crate::traffic::{LINK, Laws, Traffic};

/// The guard rails' defaults.
const GUARD: Guard = Guard {
    every: Duration::from_secs(600),
    improvement: 0.02,
    interval: Duration::from_secs(3600),
    least_threshold: Bytes::new(1460),
    least_messages: 10_000,
};
/// The number of hours that the controller remembers.
const WINDOWS: usize = 24;
pub const DAYS: usize = 2;
/// Parts of the day, in their order.
pub const PARTS: [&str; 4] = ["morning", "ramp", "night", "step"];

/// Web search in the morning, a slow ramp to data mining, data mining at night, and a step back to web search
/// at a higher load.
fn day() -> Vec<(&'static str, Traffic)> {
    let hour = |part: usize, mining, load| (PARTS[part], Traffic { mining, load });
    let morning = (0..6).map(|_| hour(0, 0.0, 0.6));
    let ramp = (1..=8).map(|step| hour(1, f64::from(step) / 8.0, 0.6));
    let night = (0..5).map(|_| hour(2, 1.0, 0.6));
    let step = (0..5).map(|_| hour(3, 0.0, 0.8));
    morning.chain(ramp).chain(night).chain(step).collect()
}

/// The results for an hour.
pub struct Hour {
    pub day: usize,
    pub part: &'static str,
    pub traffic: Traffic,
    pub has_changed: bool,
    pub oracle: Fcts,
    pub frozen: Fcts,
    pub controller: Fcts,
    /// The mean FCTs that the model expects with the other thresholds, relative to the oracle's.
    pub frozen_expected: f64,
    pub controller_expected: f64,
}

/// Replays the days.
pub fn replay(
    laws: &Laws,
    simulator: &mut Simulator,
    queues: usize,
) -> Result<Vec<Hour>, Box<dyn Error>> {
    let day = day();
    let frozen = day[0].1.optimum(laws, queues)?;
    let (mut current, mut windows) = (frozen.clone(), Windows::default());
    let mut hours = Vec::new();
    for number in 0..DAYS {
        for (part, traffic) in &day {
            let situation = Situation {
                windows: &windows,
                link: LINK,
                current: &current,
                unchanged: None,
                guard: &GUARD,
            };
            let decision = decide(&situation);
            eprintln!("{queues} queues, day {}, {part}: {}", number + 1, decision.reason);
            let has_changed = decision.thresholds.is_some();
            current = decision.thresholds.unwrap_or(current);
            let oracle = traffic.optimum(laws, queues)?;
            let expected = |thresholds: &[Bytes]| -> Result<f64, Box<dyn Error>> {
                Ok(traffic.expected(laws, thresholds)? / traffic.expected(laws, &oracle)?)
            };
            hours.push(Hour {
                day: number,
                part,
                traffic: *traffic,
                has_changed,
                frozen_expected: expected(&frozen)?,
                controller_expected: expected(&current)?,
                oracle: simulator.run(traffic, &oracle)?,
                frozen: simulator.run(traffic, &frozen)?,
                controller: simulator.run(traffic, &current)?,
            });
            let excess = (windows.iter().count() + 1).saturating_sub(WINDOWS);
            let kept = windows.iter().skip(excess).cloned();
            windows = kept.chain([traffic.window(laws)]).collect();
        }
    }
    Ok(hours)
}
