//! A claim in words: what the paper states, what it leaves open, how it is measured, and with which
//! parameters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::claim::{Claim, ClaimedValue};
use crate::measure::{Measure, Over};
use crate::row::Row;
use crate::scale::Scale;
use crate::setting::{Study, pairs};

/// Describes the claim in words, with its known rows.
pub fn explanation(claim: &Claim, rows: &[Row]) -> String {
    let Claim { id, paper, section, words, setting, metric, .. } = claim;
    let mut text = format!("{id} ({paper}, {section})\n");
    let _ = writeln!(text, "The paper: \"{words}\"\nSetting: {setting}\nMetric: {metric}");
    for value in &claim.values {
        let of_value = rows.iter().filter(|row| row.id == claim.id && row.value == value.name);
        let name = if value.name.is_empty() { "value" } else { &value.name };
        let published = of_value.clone().next().map_or(String::new(), Row::published_in_words);
        let _ = writeln!(text, "  {name}: {published}; {}", how(value));
        if let Some(how) = how_in_lab(value) {
            let _ = writeln!(text, "    with real packets (`--lab`): {how}");
        }
        for row in of_value.filter(|row| row.measured.is_some()) {
            let (figure, verdict) = (row.measured_in_words(), row.verdict_in_words());
            let how = if row.is_computed() {
                "computed".to_owned()
            } else {
                format!("measured {}", row.scale_in_words())
            };
            let _ = writeln!(text, "    {how}: {figure}, {verdict}");
            if let Some(hash) = &row.experiment_hash {
                let _ = writeln!(text, "      from the experiment with the hash {hash}");
            }
        }
    }
    for open in &claim.assumptions {
        let readings: Vec<&str> = open.readings.iter().map(|one| one.name.as_str()).collect();
        let _ = writeln!(text, "Assumption: {}. {}", open.name, open.why);
        let _ = writeln!(text, "  Other readings: {}.", readings.join("; "));
    }
    text
}

/// An experiment that measures a claim, at some scale.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The experiment.
    pub study: Study,
    /// The scale.
    pub scale: Scale,
    /// Whether it runs with real packets.
    pub in_lab: bool,
    /// All of its parameters.
    pub text: String,
    /// The hash of the experiment, as in the rows that it gives.
    pub hash: String,
}

/// The parameters of the experiments that measure a claim. Lists all of them the first time that a file is used, and
/// later only those that differ because of other settings.
pub fn parameters(resolved: &[Resolved]) -> String {
    let mut text = String::new();
    let mut first: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Resolved { study, scale, in_lab, text: all, hash } in resolved {
        let _ =
            write!(text, "\nParameters of experiments/{}.toml at {scale} scale", study.experiment);
        if *in_lab {
            text.push_str(" with real packets (needs `--lab`)");
        }
        if !study.set.is_empty() {
            let _ = write!(text, " with {}", pairs(&study.set));
        }
        let _ = write!(text, ", hash {hash}");
        match first.get(study.experiment.as_str()) {
            None => {
                let _ = write!(text, ":\n{all}");
                first.insert(&study.experiment, all.lines().collect());
            }
            Some(known) => {
                text.push_str(", where they differ:\n");
                let others = all.lines().filter(|line| !known.contains(line));
                others.for_each(|line| text.extend([line, "\n"]));
            }
        }
    }
    text
}

/// How a value is measured, or why it is not.
pub fn how(value: &ClaimedValue) -> String {
    match (&value.measure, &value.share, &value.not_run) {
        (Some(measure), ..) => measured(measure),
        (_, Some(share), _) => share.to_string(),
        (.., Some(reason)) => format!("not run: {reason}"),
        (None, None, None) => "needs the lab".to_owned(),
    }
}

/// How a value is measured with real packets, if it is.
pub fn how_in_lab(value: &ClaimedValue) -> Option<String> {
    value.lab.as_ref().map(measured)
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
    if let Some(other) = &measure.equals {
        let _ = write!(text, " equals {other} in every run");
    }
    if let Some(key) = &measure.grows_along {
        let _ = write!(text, ", the change of this ratio from each {key} to the next");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_said_once() {
        let study = |experiment: &str, set: &[(&str, &str)]| Study {
            experiment: experiment.to_owned(),
            set: set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        };
        let resolved = |study: Study, scale, in_lab, text: &str| Resolved {
            study,
            scale,
            in_lab,
            text: text.to_owned(),
            hash: format!("{:04}", text.len()),
        };
        let resolved = [
            resolved(study("fig1", &[]), Scale::Quick, false, "load = 0.5\nseeds = 5\n"),
            resolved(
                study("fig1", &[("load", "0.8")]),
                Scale::Quick,
                false,
                "load = 0.8\nseeds = 5\n",
            ),
            resolved(study("fig2", &[]), Scale::Paper, true, "load = 0.5\n"),
        ];
        let expected = "\nParameters of experiments/fig1.toml at quick scale, hash 0021:\nload = 0.5\nseeds = 5\n\
                        \nParameters of experiments/fig1.toml at quick scale with load = 0.8, hash 0021, where they differ:\nload = 0.8\n\
                        \nParameters of experiments/fig2.toml at paper scale with real packets (needs `--lab`), hash 0011:\nload = 0.5\n";
        assert_eq!(parameters(&resolved), expected);
    }
}
