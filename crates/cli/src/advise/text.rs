//! Tells an operator what the simulation means. Schemes are compared on the same flows, seed by
//! seed.

use flowsched_experiment::Experiment;
use flowsched_experiment::results::{
    Change, ClassComparison, Distribution, Figure, OrderVerdict, PerClass, RunInMemory, RunSummary,
    SizeClass, compare_in_memory,
};
use flowsched_report::change_in_words;

use super::schemes::{MISMATCH, NOW, PIAS};
use crate::arguments::Advise;

/// A count of one run.
type Count = fn(&RunSummary) -> Option<u64>;

/// A row of the table: its name, the class of flows and the figure.
type Row = (&'static str, Option<SizeClass>, Figure);

const ROWS: [Row; 5] = [
    ("all flows, mean FCT", None, Figure::Mean),
    ("up to 100 KB, mean FCT", Some(SizeClass::Small), Figure::Mean),
    ("up to 100 KB, 99th percentile", Some(SizeClass::Small), Figure::P99),
    ("100 KB to 10 MB, mean FCT", Some(SizeClass::Medium), Figure::Mean),
    ("over 10 MB, mean FCT", Some(SizeClass::Large), Figure::Mean),
];

/// The advice.
pub fn advice(wanted: &Advise, experiment: &Experiment, runs: &[RunInMemory]) -> String {
    let hosts = experiment.scenes.first().and_then(|scene| scene.network().ok());
    let hosts = hosts.map_or(0, |network| network.host_count());
    let mut text = format!(
        "{} at load {} on {hosts} hosts, {} flows, {} seeds, {} queues\n\n",
        wanted.sizes, wanted.load, wanted.flows, wanted.seeds, wanted.queues
    );
    text.push_str(&table(wanted, runs));
    text.push_str(&risks(runs));
    text.push_str(&verdict(runs));
    text
}

fn table(wanted: &Advise, runs: &[RunInMemory]) -> String {
    let mut text = format!(
        "{:<32}{:>12}{:>12}{:>25}{:>25}\n",
        "gain", wanted.now, "pias", "change, 95% interval", "with wrong thresholds"
    );
    let [pias, wrong] = [PIAS, MISMATCH].map(|scheme| compare_in_memory(runs, NOW, scheme));
    for (name, class, figure) in ROWS {
        let mean = |scheme| mean_of(runs, scheme, |run| value(figure, run.fct_us.get(class)));
        let (Some(now), Some(after)) = (mean(NOW), mean(PIAS)) else { continue };
        let (now, after) = (microseconds(now), microseconds(after));
        let [pias, wrong] =
            [&pias, &wrong].map(|compared| change_in_words(&change(figure, compared.get(class))));
        text.push_str(&format!("{name:<32}{now:>12}{after:>12}{pias:>25}{wrong:>25}\n"));
    }
    text
}

fn value(figure: Figure, of: &Distribution) -> Option<f64> {
    match figure {
        Figure::Mean => of.mean,
        Figure::P99 => of.p99,
    }
}

fn change(figure: Figure, of: &ClassComparison) -> Change {
    match figure {
        Figure::Mean => of.mean,
        Figure::P99 => of.p99,
    }
}

/// The mean over seeds of a figure of a scheme's runs.
fn mean_of(
    runs: &[RunInMemory],
    scheme: &str,
    figure: impl Fn(&RunSummary) -> Option<f64>,
) -> Option<f64> {
    let of_scheme = runs.iter().map(|run| &run.summary).filter(|run| run.scheme == scheme);
    let values: Vec<f64> = of_scheme.filter_map(figure).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn risks(runs: &[RunInMemory]) -> String {
    let mut text = format!("\n{:<32}{:>12}{:>12}\n", "risk, a run", "now", "pias");
    let counts: [(&str, Count); 4] = [
        ("time-outs", |run| run.timeouts),
        ("repeated time-outs", |run| run.repeated_timeouts),
        ("connections ended by time-outs", |run| run.terminations),
        ("dropped packets", |run| run.drops),
    ];
    for (name, count) in counts {
        let mean = |scheme| mean_of(runs, scheme, |run| Some(count(run)? as f64)).unwrap_or(0.0);
        text.push_str(&format!("{name:<32}{:>12.1}{:>12.1}\n", mean(NOW), mean(PIAS)));
    }
    text
}

fn verdict(runs: &[RunInMemory]) -> String {
    let pias = compare_in_memory(runs, NOW, PIAS);
    let mut text = format!("\n{}", gain(&pias));
    if is_later(&compare_in_memory(runs, PIAS, MISMATCH).all) {
        text.push_str(
            "It depends on good thresholds: run the controller rather than fixed ones.\n",
        );
    }
    if is_later(&pias.large) {
        text.push_str("Flows over 10 MB pay for it: look at what depends on them.\n");
    }
    let ended = mean_of(runs, PIAS, |run| Some(run.terminations? as f64)).unwrap_or(0.0);
    if ended > 0.0 {
        text.push_str("Starved connections would be ended: lower the load, or use fewer queues.\n");
    }
    text
}

fn gain(pias: &PerClass<ClassComparison>) -> String {
    let share = pias.all.mean.change.map_or(0.0, |change| 100.0 * change.abs());
    match order(&pias.all) {
        OrderVerdict::Reversed => {
            format!("PIAS helps here: flows finish {share:.1}% sooner on average.\n")
        }
        OrderVerdict::Holds => {
            format!("PIAS does harm here: flows finish {share:.1}% later on average.\n")
        }
        OrderVerdict::Undecided => {
            "PIAS makes no statistically significant difference to the mean \
                                    FCT here. More --seeds narrow the interval.\n"
                .to_owned()
        }
    }
}

/// Whether the mean FCT is higher, as far as the runs can tell.
fn order(compared: &ClassComparison) -> OrderVerdict {
    OrderVerdict::from_change(&compared.mean, compared.nothing_is_random())
}

fn is_later(compared: &ClassComparison) -> bool {
    order(compared) == OrderVerdict::Holds
}

fn microseconds(value: f64) -> String {
    match value {
        value if value >= 10_000.0 => format!("{:.1} ms", value / 1000.0),
        value => format!("{value:.0} us"),
    }
}
