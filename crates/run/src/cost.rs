//! What a run costs: processor, time and memory.

use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// What a run has cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// User CPU time of the thread, seconds.
    pub cpu_s: f64,
    /// Elapsed time, seconds.
    pub wall_s: f64,
    /// The largest resident memory of the process until now.
    pub peak_rss_bytes: u64,
}

/// Measures from when it is made, on the thread that makes it.
pub struct Meter {
    cpu_s: f64,
    start: Instant,
}

impl Meter {
    /// Starts measuring.
    pub fn start() -> Meter {
        Meter { cpu_s: thread_cpu_s(), start: Instant::now() }
    }

    /// What it has cost since; to be read on the thread that started it.
    pub fn read(&self) -> Cost {
        Cost {
            cpu_s: thread_cpu_s() - self.cpu_s,
            wall_s: self.start.elapsed().as_secs_f64(),
            peak_rss_bytes: peak_rss_bytes(),
        }
    }
}

fn thread_cpu_s() -> f64 {
    getrusage(UsageWho::RUSAGE_THREAD)
        .map_or(0.0, |usage| usage.user_time().num_microseconds() as f64 / 1e6)
}

/// From the kernel's `VmHWM`: `ru_maxrss` would include what the process's parent had in use
/// when it started this one.
fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|text| text.trim().strip_suffix("kB")?.trim().parse().ok());
    kib.map_or(0, |kib: u64| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_costs_time_and_memory() {
        let meter = Meter::start();
        let mut sum = 0u64;
        while meter.read().cpu_s < 0.02 {
            sum = (0..100_000).fold(sum, |sum, x| std::hint::black_box(sum ^ x));
        }
        let cost = meter.read();
        assert!(cost.wall_s > 0.0 && cost.peak_rss_bytes > 100_000, "{cost:?} {sum}");
    }
}
