//! A day of changing traffic with frozen thresholds, with an oracle's and with the controller's. Prints
//! what each costs in FCT.
//!
//!     cargo run --release -p flowsched --features controller --example drift
//!
//! The controller is the one of production: the same bins, windows, optimiser and guard rails. Each
//! hour it decides on the hours before; the simulator then runs that hour's flows.

use std::error::Error;
use std::time::Duration;

use flowsched_controller::{Guard, Situation, Window, Windows, decide};
use flowsched_experiment::results::{PortFigures, RunSummary};
use flowsched_experiment::{Arguments, Experiment};
use flowsched_fleet::bins;
use flowsched_run::{Prepared, Progress, Simulation};
use flowsched_thresholds::{DEFAULT_MODEL, Forecast, Objective, Path, optimal_for};
use flowsched_units::{Bytes, Rate};
use flowsched_workload::sizes::{SizeDistribution, by_name};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

const LINK: Rate = Rate::from_gbps(10);
const QUEUES: usize = 8;
const FLOWS: u64 = 3000;
const SEEDS: u64 = 3;
/// Messages that agents count in an hour.
const MESSAGES: f64 = 1e6;

/// An hour's traffic.
struct Hour {
    name: &'static str,
    /// The share of flows whose sizes are data mining's; the others are web search's.
    mining: f64,
    load: f64,
}

/// Web search in the morning, a slow ramp to data mining, a step of the load, data mining at night.
fn day() -> Vec<Hour> {
    let hour = |name, mining, load| Hour { name, mining, load };
    let morning = (0..6).map(|_| hour("web search", 0.0, 0.6));
    let ramp = (1..=8).map(|step| hour("ramp", f64::from(step) / 8.0, 0.6));
    let night = (0..5).map(|_| hour("data mining", 1.0, 0.6));
    let step = (0..5).map(|_| hour("step to web search", 0.0, 0.8));
    morning.chain(ramp).chain(night).chain(step).collect()
}

impl Hour {
    /// The share of flows that are not larger.
    fn cdf(&self, bytes: f64, [search, mining]: &[SizeDistribution; 2]) -> f64 {
        (1.0 - self.mining) * search.cdf(bytes) + self.mining * mining.cdf(bytes)
    }

    /// The same as a file, at the knots of both.
    fn file(&self, laws: &[SizeDistribution; 2]) -> String {
        let mut sizes: Vec<f64> = laws.iter().flat_map(SizeDistribution::knots).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        let from = sizes.iter().rposition(|size| self.cdf(*size, laws) <= 0.0).unwrap_or(0);
        let to = sizes.iter().position(|size| self.cdf(*size, laws) >= 1.0);
        let to = to.unwrap_or(sizes.len() - 1);
        let line = |size: &f64| format!("{size} {}\n", self.cdf(*size, laws));
        sizes[from..=to].iter().map(line).collect()
    }

    /// What agents report of it.
    fn window(&self, laws: &[SizeDistribution; 2]) -> Window {
        let mut before = 0.0;
        let up_to = bins::bounds().map(|bound| self.cdf(bound as f64, laws)).chain([1.0]);
        let counts = up_to.map(|up_to| {
            let count = MESSAGES * (up_to - before);
            before = up_to;
            count
        });
        Window { seconds: 3600.0, bytes: self.load, capacity: 1.0, counts: counts.collect() }
    }

    fn optimum(&self, laws: &[SizeDistribution; 2]) -> Result<Vec<Bytes>, Box<dyn Error>> {
        let sizes = flowsched_workload::sizes::parse_cdf(&self.file(laws))?;
        let forecast = Forecast { sizes: &sizes, path: Path::of_link(LINK, self.load) };
        Ok(optimal_for(&forecast, QUEUES, DEFAULT_MODEL, &Objective::MeanFct)?.thresholds())
    }

    /// The mean FCT in microseconds under each of these thresholds, over the same flows.
    fn simulate(
        &self,
        laws: &[SizeDistribution; 2],
        thresholds: &[Vec<Bytes>; 3],
    ) -> Result<[f64; 3], Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("sizes.cdf"), self.file(laws))?;
        let mut text = format!(
            "name = \"drift\"\nseeds = {SEEDS}\n[topology]\nkind = \"star\"\nhosts = 8\n\
             [workload]\nsizes = \"sizes.cdf\"\nload = {}\nflows = {FLOWS}\n",
            self.load
        );
        for (name, thresholds) in ["frozen", "oracle", "controller"].iter().zip(thresholds) {
            let list: Vec<String> =
                thresholds.iter().map(|bytes| format!("{}B", bytes.get())).collect();
            text.push_str(&format!(
                "[[scheme]]\nname = \"{name}\"\npreset = \"pias\"\nqueues = {QUEUES}\n\
                 thresholds = \"{}\"\n",
                list.join(" ")
            ));
        }
        let file = folder.path().join("drift.toml");
        std::fs::write(&file, text)?;
        let experiment =
            Experiment::read(&file, &Arguments::default()).map_err(|e| format!("{e}"))?;
        let one = |run: flowsched_experiment::Run| -> Result<(usize, f64), String> {
            let prepared =
                Prepared::new(&experiment.scenes[run.scene], run).map_err(|e| e.to_string())?;
            let simulator = |run: Simulation<'_>| Ok(run.run()?);
            let record =
                prepared.simulate(&simulator, &Progress::default()).map_err(|e| e.to_string())?;
            let summary = RunSummary::new(&record, &PortFigures::default());
            Ok((run.scheme, summary.fct_us.all.mean.unwrap_or(f64::NAN)))
        };
        let all: Vec<(usize, f64)> =
            experiment.runs().into_par_iter().map(one).collect::<Result<_, _>>()?;
        let mut means = [0.0; 3];
        for (scheme, mean) in all {
            means[scheme] += mean / SEEDS as f64;
        }
        Ok(means)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let law = |name| by_name(name).map_err(|e| e.to_string());
    let laws = [law("web-search-bytes")?, law("data-mining-bytes")?];
    let guard = Guard {
        every: Duration::from_secs(600),
        improvement: 0.02,
        interval: Duration::from_secs(3600),
        least_threshold: Bytes::new(1460),
        least_messages: 10_000,
    };
    let day = day();
    let frozen = day[0].optimum(&laws)?;
    let (mut current, mut seen, mut changes) = (frozen.clone(), Vec::new(), 0);
    let mut sums = [0.0; 3];
    println!("| hour | traffic | load | oracle, mean FCT | frozen | controller |");
    println!("|---|---|---|---|---|---|");
    for (number, hour) in day.iter().enumerate() {
        let windows: Windows = seen.iter().rev().take(24).rev().cloned().collect();
        let decision = decide(&Situation {
            windows: &windows,
            link: LINK,
            current: &current,
            unchanged: None,
            guard: &guard,
        });
        if let Some(thresholds) = decision.thresholds {
            (current, changes) = (thresholds, changes + 1);
        }
        let thresholds = [frozen.clone(), hour.optimum(&laws)?, current.clone()];
        let [frozen, oracle, controller] = hour.simulate(&laws, &thresholds)?;
        let more = |mean: f64| format!("{:+.1}%", 100.0 * (mean / oracle - 1.0));
        for (sum, mean) in sums.iter_mut().zip([frozen, oracle, controller]) {
            *sum += mean / oracle / day.len() as f64;
        }
        println!(
            "| {number} | {}, {:.0}% data mining | {} | {oracle:.0} us | {} | {} |",
            hour.name,
            100.0 * hour.mining,
            hour.load,
            more(frozen),
            more(controller)
        );
        seen.push(hour.window(&laws));
    }
    let [frozen, _, controller] = sums.map(|sum| format!("{:+.1}%", 100.0 * (sum - 1.0)));
    println!("| mean | | | | {frozen} | {controller} |");
    println!("\nThe controller changed thresholds {changes} times.");
    Ok(())
}
