//! What the simulation means for an operator.

use flowsched_experiment::Experiment;
use flowsched_experiment::results::{Distribution, PerClass, RunSummary};

use super::schemes::{MISMATCH, NOW, PIAS};
use crate::arguments::Advise;

/// A figure of one class of flows.
type Figure = fn(&PerClass<Distribution>) -> Option<f64>;

/// A count of one run.
type Count = fn(&RunSummary) -> u64;

const FIGURES: [(&str, Figure); 5] = [
    ("all flows, mean FCT", |fct| fct.all.mean),
    ("up to 100 KB, mean FCT", |fct| fct.small.mean),
    ("up to 100 KB, 99th percentile", |fct| fct.small.p99),
    ("100 KB to 10 MB, mean FCT", |fct| fct.medium.mean),
    ("over 10 MB, mean FCT", |fct| fct.large.mean),
];

/// The advice.
pub fn advice(wanted: &Advise, experiment: &Experiment, runs: &[(usize, RunSummary)]) -> String {
    let hosts = experiment.scenes.first().and_then(|scene| scene.network().ok());
    let hosts = hosts.map_or(0, |network| network.host_count());
    let mut text = format!(
        "{} at load {} on {hosts} hosts, {} flows, {} seeds, {} queues\n\n",
        wanted.sizes, wanted.load, wanted.flows, wanted.seeds, wanted.queues
    );
    text.push_str(&format!(
        "{:<32}{:>12}{:>12}{:>9}{:>24}\n",
        "gain", wanted.now, "pias", "less by", "with wrong thresholds"
    ));
    for (name, figure) in FIGURES {
        let mean = |scheme| mean_of(runs, scheme, |run| figure(&run.fct_us));
        let (Some(now), Some(pias)) = (mean(NOW), mean(PIAS)) else { continue };
        let wrong = mean(MISMATCH).map_or("-".into(), |wrong| less(now, wrong));
        let (a, b) = (microseconds(now), microseconds(pias));
        text.push_str(&format!("{name:<32}{a:>12}{b:>12}{:>9}{wrong:>24}\n", less(now, pias)));
    }
    text.push_str(&risks(runs));
    text.push_str(&verdict(runs));
    text
}

/// The mean over seeds of what runs of a scheme have.
fn mean_of(
    runs: &[(usize, RunSummary)],
    scheme: usize,
    figure: impl Fn(&RunSummary) -> Option<f64>,
) -> Option<f64> {
    let values: Vec<f64> =
        runs.iter().filter(|(of, _)| *of == scheme).filter_map(|(_, run)| figure(run)).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn risks(runs: &[(usize, RunSummary)]) -> String {
    let mut text = format!("\n{:<32}{:>12}{:>12}\n", "risk, a run", "now", "pias");
    let counts: [(&str, Count); 4] = [
        ("time-outs", |run| run.timeouts),
        ("repeated time-outs", |run| run.repeated_timeouts),
        ("connections ended by time-outs", |run| run.terminations),
        ("dropped packets", |run| run.drops),
    ];
    for (name, count) in counts {
        let mean = |scheme| mean_of(runs, scheme, |run| Some(count(run) as f64)).unwrap_or(0.0);
        text.push_str(&format!("{name:<32}{:>12.1}{:>12.1}\n", mean(NOW), mean(PIAS)));
    }
    text
}

/// Less than this is within what seeds differ by.
const WORTHWHILE: f64 = 0.03;

fn verdict(runs: &[(usize, RunSummary)]) -> String {
    let gain = |scheme, figure: Figure| {
        let mean = |of| mean_of(runs, of, |run| figure(&run.fct_us));
        Some(1.0 - mean(scheme)? / mean(NOW)?)
    };
    let all = gain(PIAS, FIGURES[0].1).unwrap_or(0.0);
    let mut text = String::from("\n");
    text.push_str(match all {
        gain if gain > WORTHWHILE => "PIAS helps here: flows finish sooner on average.\n",
        gain if gain < -WORTHWHILE => "PIAS does harm here: flows finish later on average.\n",
        _ => "PIAS makes little difference here.\n",
    });
    if gain(MISMATCH, FIGURES[0].1).is_some_and(|wrong| wrong < all - WORTHWHILE) {
        text.push_str(
            "It depends on good thresholds: run the controller rather than fixed ones.\n",
        );
    }
    if gain(PIAS, FIGURES[4].1).is_some_and(|large| large < -WORTHWHILE) {
        text.push_str("Flows over 10 MB pay for it: look at what depends on them.\n");
    }
    let ended = mean_of(runs, PIAS, |run| Some(run.terminations as f64)).unwrap_or(0.0);
    if ended > 0.0 {
        text.push_str("Starved connections would be ended: lower the load, or use fewer queues.\n");
    }
    text
}

fn less(before: f64, after: f64) -> String {
    format!("{:.1}%", 100.0 * (1.0 - after / before))
}

fn microseconds(value: f64) -> String {
    match value {
        value if value >= 10_000.0 => format!("{:.1} ms", value / 1000.0),
        value => format!("{value:.0} us"),
    }
}
