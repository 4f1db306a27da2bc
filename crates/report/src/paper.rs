//! A page of the book for each paper: every claim with its rows, its figure and its assumptions.

mod chart;
mod readings;

use std::fmt::Write;

use flowsched_papers::{Assumption, Bound, Claim, ExploredTable, Kind, Recorded, Row, how, totals};

pub use chart::claim_chart;
use readings::readings;

/// The page of a paper in Markdown.
///
/// `recorded` are the tables that the rows come from, each with the command that measured it, and
/// `explored` says what the readings of claims change.
pub fn paper_page(
    paper: &str,
    claims: &[&Claim],
    rows: &[Row],
    recorded: &[&Recorded],
    explored: Option<&ExploredTable>,
) -> String {
    let title = title(paper);
    let of_paper: Vec<Row> =
        rows.iter().filter(|row| claims.iter().any(|one| one.id == row.id)).cloned().collect();
    let mut text = format!("# {title}: published and measured\n\n{}\n\n", totals(&of_paper));
    text.push_str(
        "[The rules for verdicts](../how-to/reproduce.md#verdicts) are the same for all papers. Each \
         claim has its name, the section of the paper, and a table. Charts show published \
         numbers as red bars and measured ones as blue points, with the 95% interval. `flowsched reproduce NAME` \
         measures a claim again.\n\n",
    );
    for one in recorded {
        let _ = writeln!(
            text,
            "Measured on {} by flowsched {} (commit {}) with `{}` on {}.\n",
            one.date, one.program.version, one.program.commit, one.program.command, one.machine
        );
    }
    for claim in claims {
        let own: Vec<&Row> = of_paper.iter().filter(|row| row.id == claim.id).collect();
        text.push_str(&section(claim, &own));
        text.push_str(&explored.map_or(String::new(), |table| readings(&claim.id, table)));
    }
    text
}

fn title(paper: &str) -> &str {
    match paper {
        "pias" => "PIAS",
        "pdq" => "PDQ",
        "slytherin" => "Slytherin",
        "epn" => "EPN",
        other => other,
    }
}

fn section(claim: &Claim, rows: &[&Row]) -> String {
    let Claim { id, section, words, setting, metric, .. } = claim;
    let mut text = format!("## {id}\n\n> {words}\n\n*{section}.* {}: {metric}.\n\n", form(claim));
    let _ = writeln!(text, "Setting: {setting}.\n");
    text.push_str("| value | published | measured | verdict | scale | processor time |\n");
    text.push_str("|---|---|---|---|---|---|\n");
    for row in rows {
        let seeds =
            row.seeds.map_or(String::new(), |seeds| format!("{}, {seeds} seeds", row.scale));
        let cost = row.cpu_s.map_or(String::new(), |cost| format!("{cost:.0} s"));
        let cells = [&row.value, &row.published_in_words(), &row.measured_in_words()];
        let cells = cells.map(|cell| cell.replace('|', "/"));
        let verdict = row.verdict_in_words();
        let _ = writeln!(text, "| {} | {verdict} | {seeds} | {cost} |", cells.join(" | "));
    }
    text.push('\n');
    if let Some(figure) = claim_chart(rows) {
        let _ = writeln!(text, "{figure}\n");
    }
    text.push_str(&measured(claim));
    for open in &claim.assumptions {
        text.push_str(&assumption(id, open));
    }
    text
}

/// How the values are measured, each way once.
fn measured(claim: &Claim) -> String {
    let mut ways: Vec<(String, Vec<&str>)> = Vec::new();
    for value in claim.values.iter().filter(|value| value.measure.is_some()) {
        let way = how(value);
        match ways.iter_mut().find(|(known, _)| *known == way) {
            Some((_, names)) => names.push(&value.name),
            None => ways.push((way, vec![&value.name])),
        }
    }
    let mut text = String::new();
    for (way, names) in &ways {
        let names = names.join(", ");
        let of = if names.is_empty() { "Measured by".to_owned() } else { format!("{names}:") };
        let _ = writeln!(text, "- {of} {way}");
    }
    if !ways.is_empty() {
        text.push('\n');
    }
    text
}

fn assumption(id: &str, open: &Assumption) -> String {
    let readings: Vec<&str> = open.readings.iter().map(|one| one.name.as_str()).collect();
    format!(
        "**Assumption: {}.** {} Other readings: {}. `flowsched reproduce {id} --explore` runs them.\n\n",
        open.name,
        open.why,
        readings.join("; ")
    )
}

fn form(claim: &Claim) -> String {
    let kind = match claim.kind {
        Kind::Reduction => "Reduction (1 - ours/baseline)",
        Kind::Gap => "Gap (ours/baseline - 1)",
        Kind::Ratio => "Ratio (ours/baseline)",
        Kind::Value => "Value",
        Kind::Order => "Order",
        Kind::Property => "Property",
    };
    let bound = match claim.bound {
        None => "",
        Some(Bound::UpTo) => ", \"up to\"",
        Some(Bound::About) => ", \"about\"",
        Some(Bound::AtLeast) => ", at least",
        Some(Bound::AtMost) => ", at most",
    };
    format!("{kind}{bound}")
}
