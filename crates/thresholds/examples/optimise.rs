//! The optimiser's thresholds, their value and the CPU time they took, for the workloads and
//! models that can be compared with other solvers. `--json` prints it for programs, with the
//! points of the distributions.

use flowsched_thresholds::{Forecast, ModelName, Objective, optimal_for};
use flowsched_workload::sizes::by_name;
use serde_json::json;

const WORKLOADS: [&str; 3] = ["web-search-packets", "web-search-bytes", "data-mining-bytes"];
const MODELS: [ModelName; 3] =
    [ModelName::PiasMm1, ModelName::MultilevelFcfs, ModelName::MultilevelPs];
const LOAD: f64 = 0.8;
/// Microseconds that a full packet takes at 10 Gbps.
const PACKET_US: f64 = 1.2;

/// Milliseconds that this process has run on a CPU (Linux).
fn cpu_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
    nanoseconds.unwrap_or(f64::NAN) / 1e6
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let as_json = std::env::args().any(|argument| argument == "--json");
    let mut results = Vec::new();
    if !as_json {
        println!("workload             model            queues  candidates  CPU ms  packet times");
    }
    for workload in WORKLOADS {
        let sizes = by_name(workload)?;
        let points: Vec<[f64; 2]> = sizes.knots().iter().map(|at| [*at, sizes.cdf(*at)]).collect();
        for model in MODELS {
            for queues in [2, 4, 8] {
                let start = cpu_ms();
                let forecast = Forecast::new(&sizes, LOAD);
                let found = optimal_for(&forecast, queues, model, &Objective::MeanFct)?;
                let cpu_ms = cpu_ms() - start;
                let (value, candidates) = (found.objective_value / PACKET_US, found.candidates);
                if !as_json {
                    let candidates = candidates.unwrap_or(0);
                    println!(
                        "{workload:20} {model:16} {queues:6} {candidates:11} {cpu_ms:7.1} {value:13.5}",
                        model = model.as_str(),
                    );
                }
                results.push(json!({
                    "workload": workload, "model": model, "queues": queues, "load": LOAD,
                    "candidates": candidates, "cpu_ms": cpu_ms, "value": value,
                    "thresholds_bytes": found.thresholds_bytes, "cdf": points,
                }));
            }
        }
    }
    if as_json {
        println!("{}", serde_json::to_string(&results)?);
    }
    Ok(())
}
