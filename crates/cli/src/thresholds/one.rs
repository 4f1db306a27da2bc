//! Thresholds for one workload at one load on one link.

use flowsched_thresholds::{
    ByClass, Deviation, Forecast, Loss, Other, Predicted, Solution, ThresholdComparison,
    ThresholdsError, compare, optimal_for, sensitivity, usual_deviations,
};
use serde::Serialize;

use super::text::{self, duration, heading, percent, row, setting};
use crate::arguments::Thresholds;

/// The answer to print, whatever the format.
#[derive(Serialize)]
pub struct Answer {
    workload: String,
    link: String,
    #[serde(flatten)]
    optimal: Solution,
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<Vec<Other>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sensitivity: Option<Vec<Loss>>,
}

/// Computes the thresholds.
pub fn answer(wanted: &Thresholds, forecast: &Forecast) -> Result<Answer, ThresholdsError> {
    let Thresholds { queues, model, objective, .. } = wanted;
    let workload = wanted.workload.join(", ");
    let (optimal, others, sensitivity) = if wanted.compare {
        let ThresholdComparison { optimal, others } =
            compare(forecast, Some(&workload), *queues, *model, objective)?;
        let deviations = usual_deviations(forecast.path.load());
        let losses = sensitivity(forecast, &optimal.thresholds(), *model, objective, &deviations)?;
        (optimal, Some(others), Some(losses))
    } else {
        (optimal_for(forecast, *queues, *model, objective)?, None, None)
    };
    let link = forecast.path.links.iter().map(|link| link.rate);
    Ok(Answer { workload, link: text::list(link), optimal, others, sensitivity })
}

impl Answer {
    fn forecast(&self) -> String {
        format!("{} at load {}", self.workload, self.optimal.load)
    }
}

/// A line for a `[[scheme]]` table or the host agent's configuration.
pub fn toml(wanted: &Thresholds, answer: &Answer) -> String {
    text::comment(wanted, &answer.forecast()) + &setting(&answer.optimal.thresholds_bytes)
}

/// A table to read.
pub fn table(wanted: &Thresholds, answer: &Answer) -> String {
    let mut text = heading(wanted, &answer.forecast());
    text.push_str("threshold            bytes  flows up to it\n");
    let optimal = &answer.optimal;
    let shares = optimal.thresholds_bytes.iter().zip(&optimal.thresholds_percentile);
    for (index, (bytes, percentile)) in shares.enumerate() {
        row(&mut text, &format!("{:>9} {bytes:>16}  {percentile:>13.2}%", index + 1));
    }
    if optimal.unused_queues > 0 {
        let unused = optimal.unused_queues;
        row(&mut text, &format!("{unused} of the {} queues are of no use here", wanted.queues));
    }
    predicted(&mut text, &answer.link, &optimal.predicted);
    if let Some(others) = &answer.others {
        text.push_str("\ncompared with            ");
        row(&mut text, &format!("{}  the best has less by", wanted.objective));
        for other in others {
            other_row(&mut text, wanted, other);
        }
    }
    if let Some(losses) = &answer.sensitivity {
        text.push_str("\nif traffic differs from forecast   above its own best\n");
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

fn predicted(text: &mut String, link: &str, predicted: &Predicted) {
    let classes = ["all", "small", "medium", "large"];
    let [all, small, medium, large] = classes;
    text.push('\n');
    let at = format!("predicted at {link}");
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

fn other_row(rows: &mut String, wanted: &Thresholds, other: &Other) {
    let value = match &other.solution {
        Some(solution) => text::value(wanted, solution.objective_value),
        None => "no steady state".into(),
    };
    let gain = other.gain.map_or(String::new(), percent);
    row(rows, &format!("  {:<16}{value:>18}  {gain:>8}   [{}]", other.name, other.source));
}
