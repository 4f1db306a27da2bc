//! `flowsched thresholds`: the best demotion thresholds for a workload, as a table, a line for a
//! file, or JSON.

use std::fmt::Write;
use std::fs;
use std::io;

use flowsched_experiment::{Mistake, Mistakes, Place, Source};
use flowsched_thresholds::{
    ByClass, Comparison, Deviation, Loss, Other, Path, Predicted, Scene, Solution, ThresholdsError,
    compare, optimal_for, sensitivity, usual_deviations,
};
use flowsched_units::Bytes;
use serde::Serialize;

use crate::arguments::{Thresholds, ThresholdsFormat};
use crate::failure::Failure;

/// What is printed, whatever the format.
#[derive(Serialize)]
struct Answer<'a> {
    workload: &'a str,
    link: String,
    #[serde(flatten)]
    optimal: Solution,
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<Vec<Other>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sensitivity: Option<Vec<Loss>>,
}

/// Works the thresholds out and prints them into a text.
pub fn thresholds(wanted: &Thresholds) -> Result<String, Failure> {
    let place = Place::Argument(format!("--workload {}", wanted.workload));
    let open = &mut |path: &str| io::Result::Ok(Source::new(path, fs::read_to_string(path)?));
    let sizes =
        flowsched_experiment::sizes(&wanted.workload, "", &place, open).map_err(Mistakes::from)?;
    let scene = Scene { sizes: &sizes, path: Path::of_link(wanted.link, wanted.load) };
    let answer = answer(wanted, &scene).map_err(|error| {
        Mistakes::from(Mistake::new(&Place::Argument("thresholds".into()), "", error.to_string()))
    })?;
    Ok(match wanted.format {
        ThresholdsFormat::Table => table(wanted, &answer),
        ThresholdsFormat::Toml => toml(wanted, &answer),
        ThresholdsFormat::Json => {
            let json = serde_json::to_string_pretty(&answer).map_err(io::Error::from)?;
            json + "\n"
        }
    })
}

fn answer<'a>(wanted: &'a Thresholds, scene: &Scene) -> Result<Answer<'a>, ThresholdsError> {
    let Thresholds { queues, model, objective, .. } = wanted;
    let (optimal, others, sensitivity) = if wanted.compare {
        let Comparison { optimal, others } =
            compare(scene, Some(&wanted.workload), *queues, *model, objective)?;
        let deviations = usual_deviations(wanted.load);
        let losses = sensitivity(scene, &optimal.thresholds(), *model, objective, &deviations)?;
        (optimal, Some(others), Some(losses))
    } else {
        (optimal_for(scene, *queues, *model, objective)?, None, None)
    };
    let (workload, link) = (wanted.workload.as_str(), wanted.link.to_string());
    Ok(Answer { workload, link, optimal, others, sensitivity })
}

fn headline(wanted: &Thresholds) -> String {
    let Thresholds { workload, load, queues, model, objective, .. } = wanted;
    format!("{workload} at load {load}, {queues} queues: {objective} under {model}")
}

/// A line for a `[[scheme]]` table or the host agent's configuration.
fn toml(wanted: &Thresholds, answer: &Answer<'_>) -> String {
    let sizes: Vec<String> = answer.optimal.thresholds().iter().map(Bytes::to_string).collect();
    let headline: String =
        headline(wanted).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!(
        "# {headline}\n# In a [[scheme]] table they go with queues = {}.\nthresholds = \"{}\"\n",
        wanted.queues,
        sizes.join(" "),
    )
}

fn table(wanted: &Thresholds, answer: &Answer<'_>) -> String {
    let mut text = headline(wanted) + "\n";
    let model = format!("{}: {} [{}]", wanted.model, wanted.model.about(), wanted.model.source());
    text.push_str(&textwrap::fill(&model, textwrap::termwidth().min(100)));
    text.push_str("\n\nthreshold            bytes  flows up to it\n");
    let optimal = &answer.optimal;
    let shares = optimal.thresholds_bytes.iter().zip(&optimal.thresholds_percentile);
    for (index, (bytes, percentile)) in shares.enumerate() {
        row(&mut text, &format!("{:>9} {bytes:>16}  {percentile:>13.2}%", index + 1));
    }
    if optimal.unused_queues > 0 {
        let unused = optimal.unused_queues;
        row(&mut text, &format!("{unused} of the {} queues are of no use here", wanted.queues));
    }
    predicted(&mut text, wanted, &optimal.predicted);
    if let Some(others) = &answer.others {
        text.push_str("\ncompared with            ");
        row(&mut text, &format!("{}  the best has less by", wanted.objective));
        for other in others {
            other_row(&mut text, wanted, other);
        }
    }
    if let Some(losses) = &answer.sensitivity {
        text.push_str("\nif traffic is other than thought   more than with its own best\n");
        for loss in losses {
            let what = match loss.deviation {
                Deviation::Load(load) => format!("load {load}"),
                Deviation::SizesTimes(factor) => format!("sizes {factor} times as large"),
            };
            let more = loss.loss.map_or("no steady state".into(), percent);
            row(&mut text, &format!("  {what:<31}  {more}"));
        }
    }
    text
}

fn predicted(text: &mut String, wanted: &Thresholds, predicted: &Predicted) {
    let classes = ["all", "small", "medium", "large"];
    let [all, small, medium, large] = classes;
    text.push('\n');
    let at = format!("predicted at {}", wanted.link);
    row(text, &format!("{at:<24}{all:>11}{small:>11}{medium:>11}{large:>11}"));
    let mut line = |name: &str, means: &ByClass, print: fn(f64) -> String| {
        let means = [means.all, means.small, means.medium, means.large];
        let means = means.map(|mean| mean.map_or("-".into(), print));
        let [all, small, medium, large] = means;
        row(text, &format!("{name:<24}{all:>11}{small:>11}{medium:>11}{large:>11}"));
    };
    match predicted {
        Predicted::Fct { fct_us, slowdown } => {
            line("mean FCT", fct_us, duration);
            line("mean slowdown", slowdown, |ratio| format!("{ratio:.3}"));
        }
        Predicted::PacketDelays { packet_delays_us } => {
            line("sum of packet delays", packet_delays_us, duration);
        }
    }
}

fn other_row(text: &mut String, wanted: &Thresholds, other: &Other) {
    let value = match &other.solution {
        Some(solution) if wanted.objective.is_time() => duration(solution.objective_value),
        Some(solution) => format!("{:.3}", solution.objective_value),
        None => "no steady state".into(),
    };
    let gain = other.gain.map_or(String::new(), percent);
    row(text, &format!("  {:<16}{value:>18}  {gain:>8}   [{}]", other.name, other.source));
}

fn row(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", line.trim_end());
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// A time in microseconds, with a unit that suits it.
fn duration(us: f64) -> String {
    match us {
        _ if us < 1e3 => format!("{us:.1} us"),
        _ if us < 1e6 => format!("{:.2} ms", us / 1e3),
        _ => format!("{:.2} s", us / 1e6),
    }
}
