//! `flowsched search`: the largest value of a key at which enough flows meet their deadlines
//! (PDQ 2012, 5.2.1: "the number of concurrent flows at 99% application throughput").

use flowsched_experiment::results::{PortFigures, RunSummary};
use flowsched_experiment::{Arguments, Experiment, Mistake, Mistakes, Place, Run};
use flowsched_run::{Prepared, Progress, RunError, Simulation};
use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde_json::json;

use crate::arguments::{Format, Search};
use crate::failure::Failure;
use crate::output::print;
use crate::progress::say;
use crate::run::{failed, threads};

/// The result for one scheme at one point.
struct Found {
    point: String,
    scheme: String,
    /// The largest value, and the share of deadlines met there; `None` if there is none.
    largest: Option<(u64, f64)>,
}

/// Searches for every scheme at every point, and prints the results.
pub fn search(wanted: &Search) -> Result<(), Failure> {
    if wanted.from > wanted.to {
        let place = Place::Argument(format!("--from {} --to {}", wanted.from, wanted.to));
        return Err(refused(&place, "from", &wanted.from.to_string(), "a value up to --to"));
    }
    let seeds = usize::try_from(read(wanted, wanted.from)?.seeds).unwrap_or(usize::MAX);
    let threads = ThreadPoolBuilder::new().num_threads(threads(wanted.threads).min(seeds));
    let threads = threads.build().map_err(|error| Failure::System {
        what: "start threads".into(),
        source: std::io::Error::other(error),
    })?;
    let all = threads.install(|| search_all(wanted))?;
    print(&match wanted.format {
        Format::Table => table(wanted, &all),
        Format::Json => as_json(wanted, &all),
    })
}

/// The result for every scheme at every point. The runs of a probe go side by side on the threads
/// of the pool that this is called in.
fn search_all(wanted: &Search) -> Result<Vec<Found>, Failure> {
    let smallest = read(wanted, wanted.from)?;
    let mut all = Vec::new();
    for (place, scene) in smallest.scenes.iter().enumerate() {
        for (scheme, known) in scene.schemes.iter().enumerate() {
            let mut failure = None;
            let mut share = |value| {
                let share = share_met(wanted, place, scheme, value);
                share.unwrap_or_else(|error| {
                    failure.get_or_insert(error);
                    0.0
                })
            };
            let largest =
                largest(wanted.from, wanted.to, wanted.application_throughput, &mut share);
            if let Some(failure) = failure {
                return Err(failure);
            }
            let (point, scheme) = (scene.point.to_string(), known.name.clone());
            all.push(Found { point, scheme, largest });
        }
    }
    Ok(all)
}

/// The experiment with the key at `value`.
fn read(wanted: &Search, value: u64) -> Result<Experiment, Failure> {
    let file = &wanted.experiment;
    let mut set = file.set.clone();
    set.push(format!("{}={value}", wanted.key));
    let arguments = Arguments { set, vary: file.vary.clone(), seed: file.seed, quick: file.quick };
    Ok(Experiment::read(&file.file, &arguments)?)
}

/// The share of deadlines that the scheme meets with the key at `value`, over all seeds.
fn share_met(wanted: &Search, scene: usize, scheme: usize, value: u64) -> Result<f64, Failure> {
    let experiment = read(wanted, value)?;
    let is_asked = |run: &Run| run.scene == scene && run.scheme == scheme;
    let runs: Vec<Run> = experiment.runs().into_iter().filter(is_asked).collect();
    let progress = Progress::default();
    let summary_of = |run: Run| {
        let run = Prepared::new(&experiment.scenes[run.scene], run)?;
        let simulator = |run: Simulation<'_>| Ok(run.run()?);
        let record = run.simulate(&simulator, &progress)?;
        Ok(RunSummary::new(&record, &PortFigures::default()))
    };
    let summaries: Result<Vec<RunSummary>, RunError> =
        runs.into_par_iter().map(summary_of).collect();
    let file = &wanted.experiment.file;
    let (mut flows, mut met) = (0, 0);
    for summary in summaries.map_err(|error| failed(file, error))? {
        flows += summary.deadline_flows;
        met += summary.deadlines_met;
    }
    if flows == 0 {
        let place = Place::Argument(file.display().to_string());
        let allowed = "a workload with deadlines, such as deadlines = \"exponential 20ms 3ms\"";
        return Err(refused(&place, "workload.deadlines", "no flow that has one", allowed));
    }
    let share = met as f64 / flows as f64;
    let Experiment { scenes, .. } = &experiment;
    let name = &scenes[scene].schemes[scheme].name;
    say(&format!("{name}: {} = {value}: {:.2}% of deadlines met", wanted.key, 100.0 * share));
    Ok(share)
}

fn refused(place: &Place, key: &str, found: &str, allowed: &str) -> Failure {
    Mistakes::from(Mistake::found(place, key, found, allowed)).into()
}

/// The largest value from `from` to `to` whose share is at least `enough`, with its share. This is
/// a binary search, which assumes that shares never rise.
fn largest(
    from: u64,
    to: u64,
    enough: f64,
    share: &mut dyn FnMut(u64) -> f64,
) -> Option<(u64, f64)> {
    let (mut low, mut high) = (from, to);
    let mut best = None;
    while low <= high {
        let middle = low + (high - low) / 2;
        let there = share(middle);
        if there >= enough {
            best = Some((middle, there));
            low = middle + 1;
        } else if middle == from {
            break;
        } else {
            high = middle - 1;
        }
    }
    best
}

fn table(wanted: &Search, all: &[Found]) -> String {
    let percent = 100.0 * wanted.application_throughput;
    let mut text = format!("Largest {} with {percent}% of deadlines met\n", wanted.key);
    let width = all.iter().map(|found| found.scheme.len()).max().unwrap_or_default();
    for found in all {
        let largest = match found.largest {
            Some((value, share)) if value == wanted.to => {
                format!("{value} or more ({:.2}%)", 100.0 * share)
            }
            Some((value, share)) => format!("{value} ({:.2}%)", 100.0 * share),
            None => format!("less than {}", wanted.from),
        };
        let line = format!("  {:<width$}  {largest}  {}", found.scheme, found.point);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn as_json(wanted: &Search, all: &[Found]) -> String {
    let found: Vec<_> = all
        .iter()
        .map(|found| {
            json!({
                "point": found.point,
                "scheme": found.scheme,
                "largest": found.largest.map(|(value, _)| value),
                "application_throughput": found.largest.map(|(_, share)| share),
            })
        })
        .collect();
    format!("{:#}\n", json!({ "key": wanted.key, "found": found }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_value_is_found_wherever_it_is() {
        for limit in 0..=20 {
            let mut tries = 0;
            let found = largest(3, 17, 0.99, &mut |value| {
                assert!((3..=17).contains(&value));
                tries += 1;
                if value <= limit { 1.0 } else { 0.5 }
            });
            let expected = (limit >= 3).then_some((limit.min(17), 1.0));
            assert_eq!(found, expected, "{limit}");
            assert!(tries <= 5, "{tries}");
        }
    }
}
