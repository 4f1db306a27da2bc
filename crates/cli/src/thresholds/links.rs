//! Thresholds for each of several links, and the best common ones.

use flowsched_thresholds::{
    Forecast, LinkThresholds, ModelName, Objective, PerLink, Solution, ThresholdsError, per_link,
};
use serde::Serialize;

use super::question::Named;
use super::text::{self, heading, list, percent, row, setting};
use crate::arguments::Thresholds;

/// The answer to print, whatever the format.
#[derive(Serialize)]
pub struct Answer {
    workload: String,
    model: ModelName,
    objective: Objective,
    queues: usize,
    /// The common thresholds.
    thresholds_bytes: Vec<u64>,
    links: Vec<OfLink>,
}

/// The thresholds of one link.
#[derive(Serialize)]
struct OfLink {
    link: String,
    /// The relative excess of the objective with the common thresholds over its best value.
    loss_with_common: f64,
    #[serde(flatten)]
    own: Solution,
}

/// Computes the thresholds.
pub fn answer(wanted: &Thresholds, named: &[Named]) -> Result<Answer, ThresholdsError> {
    let Thresholds { queues, model, objective, .. } = wanted;
    let forecasts: Vec<(String, Forecast)> =
        named.iter().map(|named| (named.rate.to_string(), named.forecast.clone())).collect();
    let PerLink { links, common } = per_link(&forecasts, *queues, *model, objective)?;
    let of_link =
        |LinkThresholds { link, own, loss_with_common }| OfLink { link, loss_with_common, own };
    Ok(Answer {
        workload: list(&wanted.workload),
        model: *model,
        objective: objective.clone(),
        queues: *queues,
        thresholds_bytes: common.thresholds_bytes,
        links: links.into_iter().map(of_link).collect(),
    })
}

impl Answer {
    fn forecast(&self) -> String {
        format!("{} on {} links", self.workload, self.links.len())
    }
}

/// The common thresholds as a line for a `[[scheme]]` table, and a table for each link.
pub fn toml(wanted: &Thresholds, answer: &Answer) -> String {
    let mut text = text::comment(wanted, &answer.forecast());
    text.push_str("# For all links:\n");
    text.push_str(&setting(&answer.thresholds_bytes));
    for OfLink { link, own, .. } in &answer.links {
        let thresholds = setting(&own.thresholds_bytes);
        text.push_str(&format!("\n[[link]]\nrate = \"{link}\"\nload = {}\n{thresholds}", own.load));
    }
    text
}

/// A table to read.
pub fn table(wanted: &Thresholds, answer: &Answer) -> String {
    let mut text = heading(wanted, &answer.forecast());
    let head = |OfLink { link, own, .. }: &OfLink| format!("{link}, load {}", own.load);
    let heads: Vec<String> = answer.links.iter().map(head).collect();
    let line = |text: &mut String, name: &str, cells: Vec<String>, common: &str| {
        let cells = cells.iter().zip(&heads);
        let cells = cells.map(|(cell, head)| format!("  {cell:>0$}", head.chars().count().max(10)));
        row(text, &format!("{name:<20}{}  {common:>14}", cells.collect::<String>()));
    };
    line(&mut text, "threshold, bytes", heads.clone(), "all links");
    for (index, common) in answer.thresholds_bytes.iter().enumerate() {
        let own = answer.links.iter().map(|link| link.own.thresholds_bytes[index].to_string());
        line(&mut text, &format!("{:>16}", index + 1), own.collect(), &common.to_string());
    }
    text.push('\n');
    let values = answer.links.iter().map(|link| text::value(wanted, link.own.objective_value));
    line(&mut text, &wanted.objective.to_string(), values.collect(), "");
    let losses = answer.links.iter().map(|link| percent(link.loss_with_common));
    line(&mut text, "more with common", losses.collect(), "");
    text
}
