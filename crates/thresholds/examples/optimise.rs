//! Prints the CPU time of the optimiser: `cargo run --release -p flowsched-thresholds --example
//! optimise`.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e6
}
fn main() {
    use flowsched_thresholds::*;
    use flowsched_workload::sizes::by_name;
    for name in
        ["web-search-packets", "web-search-bytes", "data-mining-packets", "data-mining-bytes"]
    {
        let sizes = by_name(name).unwrap();
        for model in [
            ModelName::PiasMm1,
            ModelName::MultilevelFcfs,
            ModelName::MultilevelPs,
            ModelName::PiasMm1Bound,
        ] {
            for queues in [1, 2, 4, 8] {
                let start = cpu();
                match optimal_for(&Scene::new(&sizes, 0.8), queues, model, &Objective::MeanFct) {
                    Ok(s) => println!(
                        "{name} {model} {queues}: {:.1} ms n {} {:.6} pkt {:?}",
                        cpu() - start,
                        s.candidates.unwrap(),
                        s.objective_value / 1.2,
                        s.thresholds_bytes.iter().map(|t| t / 1460).collect::<Vec<_>>()
                    ),
                    Err(e) => println!("{name} {model} {queues}: {:.1} ms {e}", cpu() - start),
                }
            }
        }
    }
}
