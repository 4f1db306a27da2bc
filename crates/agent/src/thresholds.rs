//! Demotion thresholds from the sizes of this host's own messages.

use flowsched_thresholds::{DEFAULT_MODEL, Objective, optimal};
use flowsched_workload::sizes::{SizeDistribution, parse_cdf};

use crate::args::ThresholdsArgs;
use crate::bpf::LEVELS;
use crate::error::AgentError;
use crate::histogram::Histogram;
use crate::pins::Places;
use crate::stats::{self, Snapshot};

/// Runs `flowsched agent histogram`.
pub(crate) fn histogram(places: &Places) -> Result<(), AgentError> {
    print!("{}", enough(places, 1)?.distribution());
    Ok(())
}

/// Runs `flowsched agent thresholds`: prints a line for the configuration file.
pub(crate) fn run(places: &Places, wanted: &ThresholdsArgs) -> Result<(), AgentError> {
    let histogram = enough(places, wanted.least)?;
    let levels = match wanted.levels {
        Some(levels) => levels,
        None => Snapshot::read(places)?.levels,
    };
    if !(2..=LEVELS).contains(&levels) {
        return Err(AgentError::setting("--levels", levels, format!("2 to {LEVELS}")));
    }
    let sizes = distribution(&histogram)?;
    let thresholds = optimal(&sizes, wanted.load, levels, DEFAULT_MODEL, &Objective::MeanFct)
        .map_err(|e| AgentError::Missing(e.to_string()))?;
    let thresholds: Vec<String> = thresholds.iter().map(ToString::to_string).collect();
    println!(
        "# for {} messages of this host, at load {}, {levels} levels",
        histogram.messages(),
        wanted.load
    );
    println!("thresholds = \"{}\"", thresholds.join(" "));
    Ok(())
}

fn enough(places: &Places, least: u64) -> Result<Histogram, AgentError> {
    let histogram = stats::histogram(places)?;
    if histogram.messages() < least {
        return Err(AgentError::Missing(format!(
            "only {} messages have ended so far, at least {least} are needed",
            histogram.messages()
        )));
    }
    Ok(histogram)
}

/// The histogram as experiments read its distribution file.
fn distribution(histogram: &Histogram) -> Result<SizeDistribution, AgentError> {
    parse_cdf(&histogram.distribution())
        .map_err(|e| AgentError::kernel("read the histogram as a distribution", e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::{BUCKETS, bucket_of};

    #[test]
    fn the_distribution_file_is_read_as_it_was_counted() {
        let mut counts = vec![0; BUCKETS];
        (counts[100], counts[bucket_of(50_000)], counts[bucket_of(9_000_000)]) = (50, 30, 20);
        let histogram = Histogram::new(counts);
        let sizes = distribution(&histogram).unwrap();
        assert_eq!(sizes.cdf(100.0), 0.5);
        let mean = 0.5 * 100.0 + 0.3 * 50_000.0 + 0.2 * 9_000_000.0;
        assert!((sizes.mean() / mean - 1.0).abs() < 0.01, "{} instead of {mean}", sizes.mean());
        assert!(optimal(&sizes, 0.8, 4, DEFAULT_MODEL, &Objective::MeanFct).is_ok());
    }
}
