//! A claim in words: what the paper states, what it leaves open, and how it is measured.

use std::fmt::Write;

use crate::claim::{Claim, ClaimedValue};
use crate::measure::{Measure, Over};
use crate::row::Row;
use crate::setting::Setting;

/// The claim in words, with the rows that are known of it.
pub fn explanation(claim: &Claim, rows: &[Row]) -> String {
    let Claim { id, paper, section, setting, metric, .. } = claim;
    let mut text = format!("{id} ({paper}, {section})\nSetting: {setting}\nMetric: {metric}\n");
    for value in &claim.values {
        let row = rows.iter().find(|row| row.id == claim.id && row.value == value.name);
        let name = if value.name.is_empty() { "value" } else { &value.name };
        let published = row.map_or(String::new(), Row::published_in_words);
        let published = if published.is_empty() { "holds" } else { &published };
        let _ = writeln!(text, "  {name}: {published}; {}", how(value));
        if let Some(row) = row.filter(|row| row.measured.is_some()) {
            let (figure, verdict) = (row.measured_in_words(), row.verdict_in_words());
            let _ = writeln!(text, "    measured at {} scale: {figure}, {verdict}", row.scale);
        }
    }
    for open in &claim.assumptions {
        let readings: Vec<&str> = open.readings.iter().map(|one| one.name.as_str()).collect();
        let _ = writeln!(text, "Assumption: {}. {}", open.name, open.why);
        let _ = writeln!(text, "  Other readings: {}.", readings.join("; "));
    }
    text
}

/// How a value is measured, or why it is not.
pub fn how(value: &ClaimedValue) -> String {
    match (&value.measure, &value.not_run) {
        (Some(measure), _) => measured(measure),
        (None, Some(reason)) => format!("not run: {reason}"),
        (None, None) => "needs the lab".to_owned(),
    }
}

fn measured(measure: &Measure) -> String {
    let mut text = format!("experiments/{}.toml", measure.experiment);
    if !measure.set.is_empty() {
        let _ = write!(text, " with {}", pairs(&measure.set));
    }
    if let Some(reach) = &measure.reach {
        let _ = write!(text, ", the {} up to which", reach.key);
    }
    let unit = if measure.unit == 1.0 { String::new() } else { format!(" / {}", measure.unit) };
    let _ = write!(text, ", {}{unit} of {}", measure.figure, measure.scheme);
    if let Some(reach) = &measure.reach {
        let _ = write!(text, " is at least {}", reach.least);
    }
    if let Some(baseline) = &measure.baseline {
        let _ = write!(text, " against {baseline}");
    }
    if !measure.baseline_at.is_empty() {
        let _ = write!(text, " at {}", pairs(&measure.baseline_at));
    }
    if !measure.at.is_empty() {
        let _ = write!(text, ", {}", pairs(&measure.at));
    }
    text + match measure.over {
        None => "",
        Some(Over::Least) => ", the least over all points",
        Some(Over::Most) => ", the most over all points",
        Some(Over::Mean) => ", the mean over all points",
    }
}

fn pairs(setting: &Setting) -> String {
    let pairs: Vec<String> =
        setting.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    pairs.join(", ")
}
