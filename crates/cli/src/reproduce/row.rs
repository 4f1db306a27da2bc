//! A row of the table: a published value, what was measured, and the verdict.

use std::collections::BTreeMap;
use std::fmt::Write;

use flowsched_experiment::results::Summary;
use flowsched_papers::{Claim, ClaimedValue, Kind, Measured, Published, Verdict};
use serde_json::json;

use crate::arguments::Scale;

/// What is known of one published value.
pub struct Row<'a> {
    claim: &'a Claim,
    value: &'a ClaimedValue,
    measured: Option<Measured>,
    verdict: Verdict,
    /// Why nothing was measured.
    reason: Option<&'a str>,
    /// What the experiment's runs took, in seconds of one processor.
    cpu_s: Option<f64>,
}

impl<'a> Row<'a> {
    /// The row of a claim's value, given the summaries of the experiments that were run.
    pub fn new(
        claim: &'a Claim,
        value: &'a ClaimedValue,
        summaries: &BTreeMap<String, Summary>,
    ) -> Row<'a> {
        let summary = value.measure.as_ref().and_then(|one| summaries.get(&one.experiment));
        let measure = value.measure.as_ref().zip(summary);
        let measured = measure.and_then(|(one, summary)| one.of_runs(claim.kind, summary));
        let verdict = match (value.published, &measured) {
            (Some(published), Some(found)) => {
                Verdict::new(claim.kind, claim.bound, published, found)
            }
            _ if value.needs_the_lab => Verdict::NeedsTheLab,
            _ => Verdict::NotRun,
        };
        let reason = match verdict {
            Verdict::NotRun => {
                Some(value.not_run.as_deref().unwrap_or("the runs do not have the figure"))
            }
            _ => None,
        };
        let cpu_s = summary.map(|summary| summary.runs.iter().map(|run| run.cpu_s).sum());
        Row { claim, value, measured, verdict, reason, cpu_s }
    }

    fn name(&self) -> String {
        match self.value.name.as_str() {
            "" => self.claim.id.clone(),
            name => format!("{}: {name}", self.claim.id),
        }
    }
}

/// All rows as lines of at most `width` columns, and how many there are of each verdict.
pub fn as_table(rows: &[Row<'_>], scale: Scale, width: usize) -> String {
    let mut text = String::new();
    for row in rows {
        let published =
            row.value.published.map_or(String::new(), |one| number(row.claim.kind, one));
        let measured = row.measured.map_or(String::new(), |one| figure(row.claim.kind, &one));
        let verdict = match row.reason {
            Some(reason) => format!("{}: {reason}", row.verdict.words()),
            None => row.verdict.words().to_owned(),
        };
        let line = format!("{:<47} {published:>16} {measured:>27}  {verdict}", row.name());
        match line.chars().count() <= width {
            true => writeln!(text, "{}", line.trim_end()),
            false => writeln!(text, "{}\n    {published}  {measured}  {verdict}", row.name()),
        }
        .unwrap_or_default();
    }
    let _ = writeln!(text, "\n{}", totals(rows, scale));
    text
}

/// `Of 133 published values, 10 reproduced, ...`
fn totals(rows: &[Row<'_>], scale: Scale) -> String {
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let counted = Verdict::ALL.map(|verdict| format!("{} {}", count(verdict), verdict.words()));
    format!("Of {} published values at {scale} scale: {}.", rows.len(), counted.join(", "))
}

fn number(kind: Kind, published: Published) -> String {
    match published {
        Published::Number(number) => in_words(kind, number),
        Published::Range([low, high]) => {
            format!("{} to {}", in_words(kind, low), in_words(kind, high))
        }
    }
}

fn figure(kind: Kind, measured: &Measured) -> String {
    let interval = measured.interval.map_or(String::new(), |(low, high)| {
        format!(" [{}, {}]", in_words(kind, low), in_words(kind, high))
    });
    format!("{}{interval}", in_words(kind, measured.figure))
}

fn in_words(kind: Kind, number: f64) -> String {
    match kind {
        Kind::Reduction | Kind::Gap => format!("{:.1}%", number * 100.0),
        _ if number.abs() >= 100.0 => format!("{number:.0}"),
        _ if number != 0.0 && number.abs() < 0.01 => format!("{number:.1e}"),
        _ => format!("{number:.3}").trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

/// All rows as one JSON object.
pub fn as_json(rows: &[Row<'_>], scale: Scale) -> String {
    let claims: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "id": row.claim.id,
                "value": row.value.name,
                "kind": row.claim.kind,
                "bound": row.claim.bound,
                "published": row.value.published,
                "measured": row.measured.map(|one| one.figure),
                "interval": row.measured.and_then(|one| one.interval),
                "verdict": row.verdict,
                "reason": row.reason,
                "scale": scale.to_string(),
                "seeds": row.measured.map(|one| one.seeds),
                "cpu_s": row.cpu_s,
            })
        })
        .collect();
    format!("{:#}\n", json!({ "claims": claims }))
}

/// A claim in words: what the paper states and how it is measured.
pub fn explanation(claim: &Claim) -> String {
    let Claim { id, paper, section, setting, metric, .. } = claim;
    let mut text = format!("{id} ({paper}, {section})\nSetting: {setting}\nMetric: {metric}\n");
    for value in &claim.values {
        let name = if value.name.is_empty() { "value" } else { &value.name };
        let published = value.published.map_or("holds".to_owned(), |one| number(claim.kind, one));
        let _ = writeln!(text, "  {name}: {published}; {}", how(value));
    }
    text
}

fn how(value: &ClaimedValue) -> String {
    let Some(measure) = &value.measure else {
        let lab = || "needs the lab".to_owned();
        return value.not_run.as_ref().map_or_else(lab, |reason| format!("not run: {reason}"));
    };
    let against = measure.baseline.as_ref().map_or(String::new(), |one| format!(" against {one}"));
    let over = measure.over.map_or("", |over| match over {
        flowsched_papers::Over::Least => ", the least over all points",
        flowsched_papers::Over::Most => ", the most over all points",
    });
    let at: Vec<String> = measure.at.iter().map(|(key, at)| format!(", {key} = {at}")).collect();
    format!(
        "experiments/{}.toml, {} of {}{against}{}{over}",
        measure.experiment,
        measure.figure,
        measure.scheme,
        at.concat()
    )
}
