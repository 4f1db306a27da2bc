//! Whether an experiment fits this machine: a warning where it is large, a refusal where it cannot
//! be run.

use flowsched_experiment::{Estimate, Experiment};

use thiserror::Error;

use crate::machine::memory_of_machine;

/// Packet-hops per second and core, for estimates of time (benches/results.md).
const HOPS_PER_SECOND: f64 = 15e6;
/// Time-outs that a run handles per second and core: 13.8 million took 2.0 s.
const TIMEOUTS_PER_SECOND: f64 = 7e6;
/// Rows of port samples that a run takes and writes per second and core.
const ROWS_PER_SECOND: f64 = 4e6;
/// With more losses, time-outs take up most of a run's time.
const MUCH_LOSS: f64 = 0.1;
/// Experiments that take more seconds than this get a warning.
const LONG: f64 = 3600.0;
/// More rows of port samples get a warning: about a hundred megabytes on the disk.
const MANY_ROWS: f64 = 1e8;
/// More rows are refused: days of sampling, for a table that nothing can read.
const MOST_ROWS: f64 = 1e10;

/// The experiment does not fit this machine.
#[derive(Debug, Error)]
#[error("{reason}")]
pub struct TooLarge {
    /// The estimate, what there is, and what to change.
    pub reason: String,
}

/// The estimated size of an experiment, and the machine that it runs on.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    estimate: Estimate,
    /// Runs at a time.
    threads: usize,
    /// Bytes of memory that the machine has.
    machine: f64,
}

impl Size {
    /// Estimates `experiment` with up to `threads` runs at a time.
    ///
    /// # Errors
    /// If its flows cannot be drawn.
    pub fn new(
        experiment: &Experiment,
        threads: usize,
    ) -> Result<Size, flowsched_units::SettingError> {
        let threads = threads.min(experiment.runs().len()).max(1);
        Ok(Size { estimate: experiment.estimate()?, threads, machine: memory_of_machine() })
    }

    /// Bytes of memory that the runs need at a time.
    pub fn memory(&self) -> f64 {
        self.estimate.largest.memory() * self.threads as f64
    }

    /// Elapsed seconds that the runs take.
    pub fn seconds(&self) -> f64 {
        let Estimate { packet_hops, timeouts, port_rows, building, .. } = self.estimate;
        let simulating = packet_hops / HOPS_PER_SECOND + timeouts / TIMEOUTS_PER_SECOND;
        let sampling = port_rows / ROWS_PER_SECOND;
        (building.as_secs_f64() + simulating + sampling) / self.threads as f64
    }

    /// Refuses what cannot be run, and returns warnings of what is large.
    ///
    /// # Errors
    /// [`TooLarge`] with the estimate.
    pub fn check(&self) -> Result<Vec<String>, TooLarge> {
        match self.refusal() {
            Some(reason) => Err(TooLarge { reason }),
            None => Ok(self.warnings()),
        }
    }

    fn refusal(&self) -> Option<String> {
        if self.memory() > self.machine {
            return Some(self.too_much_memory());
        }
        let estimate = &self.estimate;
        (estimate.port_rows > MOST_ROWS).then(|| {
            let rows = count(estimate.port_rows);
            format!(
                "the experiment gives about {rows} rows of port samples; raise `sample_interval`, \
                 or set it to \"0us\" for one sample at the end"
            )
        })
    }

    /// The message on too much memory: what needs it, and the one change that makes it less.
    fn too_much_memory(&self) -> String {
        let Size { estimate: Estimate { largest, .. }, machine, threads } = self;
        let advice = if largest.memory_of_network() > *machine {
            "make the network of `[topology]` smaller"
        } else if largest.memory() > *machine {
            "lower `workload.flows`"
        } else {
            "lower --threads"
        };
        let (needed, has) = (gigabytes(self.memory()), gigabytes(*machine));
        let (ports, flows) = (counted(largest.ports, "port"), counted(largest.flows, "flow"));
        let runs = counted(*threads as f64, "run");
        format!(
            "the experiment needs about {needed} of memory for a network of {ports} and {flows}, \
             {runs} at a time, and {has} are there; {advice}"
        )
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.memory() > self.machine / 2.0 {
            let (needed, has) = (gigabytes(self.memory()), gigabytes(self.machine));
            warnings.push(format!(
                "the experiment needs about {needed} of memory, and {has} are there"
            ));
        }
        if self.estimate.port_rows > MANY_ROWS {
            let rows = count(self.estimate.port_rows);
            warnings.push(format!(
                "the experiment gives about {rows} rows of port samples; a longer `sample_interval` \
                 gives fewer"
            ));
        }
        if self.estimate.loss > MUCH_LOSS {
            let percent = 100.0 * self.estimate.loss;
            warnings.push(format!(
                "links lose {percent:.0}% of packets: time-outs, which no estimate here includes, make \
                 runs far longer and give far more rows of port samples; set `until` to bound them"
            ));
        }
        if self.seconds() > LONG {
            let hours = self.seconds() / 3600.0;
            warnings.push(format!("the experiment takes about {hours:.1} hours"));
        }
        warnings
    }
}

/// `about 41.8 million packet-hops, 5.4 thousand rows of port samples, 0.1 GB of memory, 3 s`.
impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "about ")?;
        if self.estimate.packet_hops > 0.0 {
            write!(f, "{} packet-hops, ", count(self.estimate.packet_hops))?;
        }
        if self.estimate.timeouts > self.estimate.packet_hops {
            write!(f, "{} time-outs of flows that wait, ", count(self.estimate.timeouts))?;
        }
        let (rows, memory) = (count(self.estimate.port_rows), gigabytes(self.memory()));
        let threads = counted(self.threads as f64, "thread");
        let seconds = self.seconds().ceil();
        write!(f, "{rows} rows of port samples, {memory} of memory, ")?;
        write!(f, "{seconds:.0} s on {threads}")
    }
}

fn count(number: f64) -> String {
    let units = [(1e9, "billion"), (1e6, "million"), (1e3, "thousand")];
    match units.into_iter().find(|(unit, _)| number >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", number / unit),
        None => format!("{number:.0}"),
    }
}

/// `1 flow`, `2.1 million flows`.
fn counted(number: f64, thing: &str) -> String {
    let end = if number == 1.0 { "" } else { "s" };
    format!("{} {thing}{end}", count(number))
}

fn gigabytes(bytes: f64) -> String {
    format!("{:.1} GB", bytes / 1e9)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flowsched_experiment::Largest;

    use super::*;

    fn size(flows: f64, port_rows: f64) -> Size {
        let largest = Largest { ports: 10.0, flows };
        let estimate =
            Estimate { flows, port_rows, packet_hops: 1e9, largest, ..Estimate::default() };
        Size { estimate, threads: 2, machine: 8e9 }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_estimate() {
        let refusal = size(1e8, 1e4).refusal().unwrap();
        assert!(refusal.contains("120.0 GB of memory"), "{refusal}");
        assert!(refusal.contains("100.0 million flows, 2 runs at a time"), "{refusal}");
        assert!(refusal.contains("8.0 GB are there; lower `workload.flows`"), "{refusal}");
        let refusal = size(10.0, 2e10).refusal().unwrap();
        assert!(refusal.contains("20.0 billion rows") && refusal.contains("sample_interval"));
        assert_eq!(size(1e6, 1e6).refusal(), None);
    }

    #[test]
    fn a_refusal_advises_what_helps() {
        let refusal = size(8e6, 1e4).refusal().unwrap();
        assert!(refusal.ends_with("lower --threads"), "one run fits: {refusal}");
        let alone = Size { threads: 1, ..size(2e7, 1e4) };
        let refusal = alone.refusal().unwrap();
        assert!(refusal.ends_with("lower `workload.flows`"), "{refusal}");
        let largest = Largest { ports: 3e6, flows: 1.0 };
        let estimate = Estimate { largest, ..alone.estimate };
        let refusal = Size { estimate, ..alone }.refusal().unwrap();
        let network = "a network of 3.0 million ports and 1 flow, 1 run at a time";
        assert!(refusal.contains(network) && refusal.ends_with("smaller"), "{refusal}");
    }

    #[test]
    fn what_is_large_is_warned_of() {
        assert_eq!(size(1e6, 1e6).warnings(), [""; 0]);
        assert_eq!(size(5e6, 1e6).warnings().len(), 1);
        assert_eq!(size(1.0, 1e9).warnings().len(), 1);
        let lossy = Estimate { loss: 0.99, ..size(1.0, 1.0).estimate };
        assert_eq!(Size { estimate: lossy, ..size(1.0, 1.0) }.warnings().len(), 1);
        let long = Estimate { packet_hops: 1e12, ..size(1.0, 1.0).estimate };
        assert_eq!(Size { estimate: long, ..size(1.0, 1.0) }.warnings().len(), 1);
    }

    #[test]
    fn samples_take_time_too() {
        assert!(size(1.0, 4e9).seconds() > size(1.0, 4.0).seconds() + 400.0);
    }

    #[test]
    fn networks_and_timeouts_take_time_too() {
        let small = size(1.0, 1.0);
        let building = Estimate { building: Duration::from_secs(60), ..small.estimate };
        let building = Size { estimate: building, ..small };
        assert!(building.seconds() > small.seconds() + 29.0, "60 s on two threads");
        let timeouts = Size { estimate: Estimate { timeouts: 1e10, ..small.estimate }, ..small };
        assert!(timeouts.seconds() > small.seconds() + 100.0);
        assert!(timeouts.to_string().contains("10.0 billion time-outs"), "{timeouts}");
    }
}
