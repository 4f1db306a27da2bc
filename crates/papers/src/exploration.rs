//! What the readings of a paper change: the row of every variant, and how far each reading moves
//! the figure.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::assumption::{Assumption, Reading, Variant, under, variants};
use crate::claim::{Claim, ClaimedValue};
use crate::row::Row;
use crate::runs::RunsOfStudies;
use crate::setting::Study;
use crate::share::Share;
use crate::verdict::Verdict;

/// A value's row under some readings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explored {
    /// The readings, each as `"assumption: reading"`; empty for the experiment as it is.
    pub readings: Vec<String>,
    /// The row.
    #[serde(flatten)]
    pub row: Row,
}

/// The studies that have to be run to explore a claim.
pub fn studies(claim: &Claim) -> Vec<Study> {
    let measured = || claim.values.iter().filter_map(|value| value.measure.as_ref());
    let study = |variant: &Variant<'_>| -> Vec<Study> {
        measured().map(|measure| under(variant, claim.kind, measure).1.study()).collect()
    };
    let mut all: Vec<Study> = variants(&claim.assumptions).iter().flat_map(study).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The rows of a measured value under all variants.
pub fn explore(
    claim: &Claim,
    value: &ClaimedValue,
    runs: &RunsOfStudies,
    scale: &str,
) -> Vec<Explored> {
    let row_under = |variant: &Variant<'_>| match (&value.measure, &value.share) {
        (Some(measure), _) => {
            let (kind, other) = under(variant, claim.kind, measure);
            Some(Row::under(claim, value, kind, Some(&other), runs, scale))
        }
        (_, Some(share)) => {
            let read =
                |share: Share, (_, reading): &(&Assumption, &Reading)| share.with(&reading.set);
            let other = variant.iter().fold(share.clone(), read);
            Some(Row::of_share(claim, value, &other, scale))
        }
        (None, None) => None,
    };
    let explored = variants(&claim.assumptions).into_iter().filter_map(|variant| {
        let readings = variant.iter();
        let readings = readings.map(|(open, reading)| format!("{}: {}", open.name, reading.name));
        Some(Explored { readings: readings.collect(), row: row_under(&variant)? })
    });
    explored.collect()
}

/// The widest bar of a tornado chart, in columns.
const WIDEST: usize = 30;

/// A value's variants as text: which readings give the published number, all figures, and a bar for
/// each single reading. The reading that moves the figure most comes first (a "tornado").
pub fn as_text(explored: &[Explored]) -> String {
    let Some(first) = explored.first() else { return String::new() };
    let mut text = format!("{}, published {}\n", first.row.name(), first.row.published_in_words());
    for one in explored {
        let readings = match &one.readings[..] {
            [] => "as the experiment has it".to_owned(),
            readings => readings.join("; "),
        };
        let (figure, verdict) = (one.row.measured_in_words(), one.row.verdict_in_words());
        let _ = writeln!(text, "  {readings}\n      {figure}  {verdict}");
    }
    text.push_str(&tornado(explored));
    let giving = explored.iter().filter(|one| one.row.verdict == Verdict::Reproduced).count();
    let _ = match giving {
        0 => writeln!(text, "  No reading reproduces the published value."),
        _ => writeln!(text, "  {giving} of {} variants reproduce it.", explored.len()),
    };
    text
}

/// A line for each single reading: how far it moves the figure, as a number and as a bar.
fn tornado(explored: &[Explored]) -> String {
    let Some(base) = explored.first().and_then(|one| one.row.measured) else {
        return String::new();
    };
    let moved = |one: &Explored| Some((one.readings[0].clone(), one.row.measured? - base));
    let single = explored.iter().filter(|one| one.readings.len() == 1);
    let mut moves: Vec<(String, f64)> = single.filter_map(moved).collect();
    moves.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
    let most = moves.first().map_or(0.0, |(_, by)| by.abs());
    let mut text = String::new();
    for (name, by) in moves {
        let length = (by.abs() / most * WIDEST as f64).round();
        let bar = if by < 0.0 { "-" } else { "+" }.repeat(length as usize);
        let by = explored[0].row.kind.in_words(by);
        let _ = writeln!(text, "  {name:<44} {by:>9} {bar}");
    }
    text
}
