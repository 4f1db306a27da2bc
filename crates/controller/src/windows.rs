//! The traffic of a group in windows, such as the hours of a day. The oldest window is dropped. The
//! length of a window is observed time, so that a wrong clock does no harm.

use std::collections::VecDeque;
use std::time::Duration;

use flowsched_fleet::bins::{self, BINS};
use flowsched_units::Rate;
use flowsched_workload::sizes::SizeDistribution;
use serde::{Deserialize, Serialize};

/// The lowest and highest load that thresholds are computed for. Other loads are clamped: an idle
/// link needs no thresholds, and an overloaded one has no steady state.
const LOADS: (f64, f64) = (0.05, 0.95);

/// The traffic of one window.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct Window {
    /// Seconds that were observed.
    pub seconds: f64,
    /// Bytes that links carried.
    pub bytes: f64,
    /// Bytes that the links could have carried in that time.
    pub capacity: f64,
    /// Messages in each bin.
    pub counts: Vec<f64>,
}

impl Window {
    /// The number of messages that ended.
    pub fn messages(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// The mean load of the links, clamped to the range from 0.05 to 0.95.
    pub fn load(&self) -> f64 {
        let load = self.bytes / self.capacity;
        if load.is_finite() { load.clamp(LOADS.0, LOADS.1) } else { LOADS.0 }
    }

    /// The distribution of message sizes; `None` without messages.
    pub fn sizes(&self) -> Option<SizeDistribution> {
        bins::distribution(&self.counts)
    }

    /// Adds the traffic of one host over `seconds` of this window.
    pub fn add(&mut self, counts: &[u64], bytes: u64, link: Rate, seconds: f64) {
        self.counts.resize(BINS, 0.0);
        for (sum, count) in self.counts.iter_mut().zip(counts) {
            *sum += *count as f64;
        }
        self.bytes += bytes as f64;
        self.capacity += link.as_bytes_per_sec_f64() * seconds;
    }
}

/// The last windows, the newest last.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(transparent)]
pub struct Windows(VecDeque<Window>);

impl Windows {
    /// The window for the last `passed` seconds of traffic. Starts a new window when the newest one has
    /// reached `length`, and keeps at most `most` windows.
    pub fn current(&mut self, passed: f64, length: Duration, most: usize) -> &mut Window {
        if self.0.back().is_none_or(|window| window.seconds >= length.as_secs_f64()) {
            self.0.push_back(Window::default());
        }
        while self.0.len() > most {
            self.0.pop_front();
        }
        let last = self.0.len() - 1;
        self.0[last].seconds += passed;
        &mut self.0[last]
    }

    /// All windows, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Window> {
        self.0.iter()
    }
}

impl FromIterator<Window> for Windows {
    fn from_iter<I: IntoIterator<Item = Window>>(windows: I) -> Windows {
        Windows(windows.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_window_goes() {
        let mut windows = Windows::default();
        let hour = Duration::from_secs(3600);
        for step in 0..10 {
            let window = windows.current(1800.0, hour, 3);
            window.add(&[step], 450_000_000_000, Rate::from_gbps(10), 1800.0);
        }
        assert_eq!(windows.iter().count(), 3);
        let counts: Vec<f64> = windows.iter().map(Window::messages).collect();
        assert_eq!(counts, [4.0 + 5.0, 6.0 + 7.0, 8.0 + 9.0]);
        assert!((windows.iter().next().unwrap().load() - 0.2).abs() < 1e-9);
        let text = serde_json::to_string(&windows).unwrap();
        assert_eq!(serde_json::from_str::<Windows>(&text).unwrap(), windows);
    }

    #[test]
    fn a_load_has_thresholds() {
        let window = Window { bytes: 2.0, capacity: 1.0, ..Window::default() };
        assert_eq!(window.load(), 0.95);
        assert_eq!(Window::default().load(), 0.05);
    }
}
