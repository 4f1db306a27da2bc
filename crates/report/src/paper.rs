//! A page of the book for each paper: every claim with its rows, its figure and its assumptions.

mod across;
mod chart;
mod curve;
mod drawn;
mod figure;
mod panel;
mod readings;
mod sources;

use std::collections::BTreeMap;
use std::fmt::Write;

use flowsched_papers::{
    Assumption, Claim, ExploredTable, Kind, Row, Scale, Tables, how, how_in_lab, totals,
};

use chart::claim_chart;
use curve::{Of, curve_chart, scheme_chart};
use drawn::drawn_chart;
use readings::readings;
use sources::Sources;

/// The page of a paper in Markdown.
///
/// `tables` have the rows, each table with the command that measured it. `explored` says what the readings of
/// claims change. `about` has what the experiments' files say of themselves, by the names of the experiments.
pub fn paper_page(
    paper: &str,
    claims: &[&Claim],
    tables: &Tables,
    explored: &[ExploredTable],
    about: &BTreeMap<String, String>,
) -> String {
    let title = title(paper);
    let of_claims: Vec<Row> = claims.iter().flat_map(|claim| rows(claim, tables)).collect();
    let beside = of_claims.iter().filter_map(|row| beside(row, tables));
    let sources = Sources::new(tables, of_claims.iter().chain(beside));
    let mut text = format!("# {title}: published and measured\n\n{}\n\n", totals(&of_claims));
    text.push_str(
        "[The rules for verdicts](../how-to/reproduce.md#verdicts) are the same for all papers. Each \
         claim has its name, the section of the paper, and a table. Charts show published \
         numbers in red and measured ones as blue points, with the 95% interval. Of an order, the red area has the gaps that \
         agree with the paper. Where the paper's figure is a curve, \
         red lines are the least and the most that the paper states of it. Charts with a legend show the measured figure of \
         each scheme that the claim compares: lines along the varied key, or bars where nothing varies. Curves over time are of the \
         first seed, and distributions are over all seeds. `flowsched reproduce NAME` measures a claim again.\n\n",
    );
    let list = sources.list();
    if !list.is_empty() {
        let lead = "The number in brackets in the column *scale* says which of these commands measured the row:";
        let _ = writeln!(text, "{lead}\n\n{list}");
    }
    for claim in claims {
        let rows = rows(claim, tables);
        text.push_str(&section(claim, &rows, tables, &sources));
        text.push_str(&readings(&claim.id, &claim.assumptions, &rows, explored));
    }
    text.push_str(&experiments(about));
    text
}

/// The chart of the figures of the schemes that a claim compares. `None` if no row has them.
pub fn front_chart(claim: &Claim, tables: &Tables) -> Option<String> {
    let rows = rows(claim, tables);
    scheme_chart(claim, &rows.iter().collect::<Vec<_>>(), Of::Row)
}

/// The section on the experiments: what they are, and where they differ from the paper's.
fn experiments(about: &BTreeMap<String, String>) -> String {
    let mut text = "## The experiments\n\nWhat each file says of itself: what it measures, what the paper leaves \
                    open, and where it differs from the paper's setting.\n\n"
        .to_owned();
    for (name, said) in about {
        let _ = writeln!(text, "### {name}\n\n{}\n", as_markdown(said));
    }
    text
}

/// Escapes text, so that only what is between backticks has a meaning in Markdown.
fn as_markdown(text: &str) -> String {
    let escape =
        |plain: &str| plain.replace('*', "\\*").replace('<', "&lt;").replace("--", "\\-\\-");
    let parts = text.split('`').enumerate();
    let parts =
        parts.map(|(place, part)| if place % 2 == 0 { escape(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

/// The rows of a claim's values.
fn rows(claim: &Claim, tables: &Tables) -> Vec<Row> {
    claim.values.iter().map(|value| tables.row_of(claim, value)).collect()
}

/// The row with real packets that is shown below a simulated one.
fn beside<'a>(row: &Row, tables: &'a Tables) -> Option<&'a Row> {
    tables.in_lab(&row.id, &row.value).filter(|_| !row.is_in_lab())
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

fn section(claim: &Claim, rows: &[Row], tables: &Tables, sources: &Sources<'_>) -> String {
    let Claim { id, section, words, setting, metric, .. } = claim;
    let mut text = format!("## {id}\n\n> {words}\n\n*{section}.* {}: {metric}.\n\n", form(claim));
    let _ = writeln!(text, "Setting: {setting}.\n");
    text.push_str("| value | published | measured | verdict | scale | processor time |\n");
    text.push_str("|---|---|---|---|---|---|\n");
    for row in rows {
        text.push_str(&line(row, sources));
        text.push_str(&beside(row, tables).map_or(String::new(), |row| line(row, sources)));
    }
    text.push('\n');
    let (curved, rest): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.curve.is_some());
    let all: Vec<&Row> = rows.iter().collect();
    // Tables of earlier versions have no curves.
    let quick = |is_without: fn(&Row) -> bool| -> Vec<&Row> {
        let without = rows.iter().filter(|row| is_without(row));
        without.filter_map(|row| tables.at_scale(id, &row.value, Scale::Quick)).collect()
    };
    let charts = [
        claim_chart(&rest),
        curve_chart(claim, &curved, Of::Row),
        curve_chart(claim, &quick(|row| row.curve.is_none()), Of::Quick),
        scheme_chart(claim, &all, Of::Row),
        scheme_chart(claim, &quick(|row| row.schemes.is_empty()), Of::Quick),
        drawn_chart(claim, &all, Of::Row),
        drawn_chart(claim, &quick(|row| row.drawings.is_empty()), Of::Quick),
    ];
    for figure in charts.into_iter().flatten() {
        let _ = writeln!(text, "{figure}\n");
    }
    text.push_str(&measured(claim, tables));
    for open in &claim.assumptions {
        text.push_str(&assumption(id, open));
    }
    text
}

/// A row as a line of the claim's table, with the number of the table that it is from.
fn line(row: &Row, sources: &Sources<'_>) -> String {
    let cells = [row.value.clone(), row.published_in_words(), row.measured_in_words()];
    let cells = cells.map(|cell| cell.replace('|', "/")).join(" | ");
    let (verdict, runs, cost) = (row.verdict_in_words(), row.runs_in_words(), row.cost_in_words());
    let source = sources.mark(row);
    format!("| {cells} | {verdict} | {runs}{source} | {cost} |\n")
}

/// The ways in which the values are measured, each once. A way with real packets is listed if the tables have
/// its row.
fn measured(claim: &Claim, tables: &Tables) -> String {
    let simulated =
        claim.values.iter().filter(|value| value.measure.is_some() || value.share.is_some());
    let in_lab = claim.values.iter().filter(|one| tables.in_lab(&claim.id, &one.name).is_some());
    let of_lab = |value| Some((value, how_in_lab(value)? + ", with real packets"));
    let all = simulated.map(|value| (value, how(value))).chain(in_lab.filter_map(of_lab));
    let mut ways: Vec<(String, Vec<&str>)> = Vec::new();
    for (value, way) in all {
        match ways.iter_mut().find(|(known, _)| *known == way) {
            Some((_, names)) => names.push(&value.name),
            None => ways.push((way, vec![&value.name])),
        }
    }
    let mut text = String::new();
    for (way, names) in &ways {
        let names = names.join(", ");
        let of = if names.is_empty() { "Measured by".to_owned() } else { format!("{names}:") };
        let _ = writeln!(text, "- {of} {}", with_link(way));
    }
    if !ways.is_empty() {
        text.push('\n');
    }
    text
}

/// A way to measure a value, with a link to what the page says of its experiment.
fn with_link(way: &str) -> String {
    let file = way.split([' ', ',']).next().unwrap_or_default();
    let name = file.strip_prefix("experiments/").and_then(|rest| rest.strip_suffix(".toml"));
    name.map_or(way.to_owned(), |name| way.replacen(file, &format!("[{file}](#{name})"), 1))
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

fn form(claim: &Claim) -> &'static str {
    match claim.kind {
        Kind::Reduction => "Reduction (1 - ours/baseline)",
        Kind::Gap => "Gap (ours/baseline - 1)",
        Kind::Ratio => "Ratio (ours/baseline)",
        Kind::Value => "Value",
        Kind::Order => "Order",
        Kind::Property => "Property",
    }
}

#[cfg(test)]
mod tests {
    use flowsched_experiment::results::Program;
    use flowsched_papers::{Claims, Recorded, Verdict};

    use super::*;

    #[test]
    fn an_experiment_is_described_and_linked_to() {
        let way = "experiments/fig3.toml with load = 0.8, drops of pias";
        let expected = "[experiments/fig3.toml](#fig3) with load = 0.8, drops of pias";
        assert_eq!(with_link(way), expected);
        let said = "ECN* with --set load=1, or `run --quick *`, if a < b.".to_owned();
        let text = experiments(&BTreeMap::from([("fig3".to_owned(), said)]));
        let plain = "### fig3\n\nECN\\* with \\-\\-set load=1, or `run --quick *`, if a &lt; b.\n";
        assert!(text.contains(plain), "{text}");
    }

    #[test]
    fn rows_cite_the_tables_that_they_are_from() {
        let text = "[[claim]]\nid = \"a.b\"\npaper = \"a\"\nsection = \"1\"\nwhere = \"sim\"\nwords = \"\"\n\
                    setting = \"\"\nmetric = \"\"\nkind = \"value\"\n\
                    [[claim.value]]\nname = \"x\"\npublished = 1\nnot_run = \"so\"\n\
                    [[claim.value]]\nname = \"y\"\npublished = 1\nnot_run = \"so\"\n";
        let claims = Claims::parse(text).unwrap();
        let claim = &claims.all[0];
        let row = |value: usize, scale: &str| Row {
            measured: Some(1.0),
            verdict: Verdict::Reproduced,
            seeds: Some(2),
            ..Row::new(claim, &claim.values[value], &BTreeMap::new(), scale)
        };
        let table = |command: &str, claims: Vec<Row>| {
            let program = Program { command: command.to_owned(), ..Program::default() };
            let recorded =
                Recorded { date: String::new(), program, machine: String::new(), claims };
            (command.to_owned(), recorded)
        };
        let tables = Tables::new(vec![
            table("superseded", vec![row(0, "quick")]),
            table("one", vec![row(0, "paper")]),
            table("two", vec![row(1, "quick")]),
        ]);
        let page = paper_page("a", &[claim], &tables.unwrap(), &[], &BTreeMap::new());
        for line in [
            "| paper, 2 seeds [1] |",
            "| quick, 2 seeds [2] |",
            "\n1. Scale \"paper\"",
            "with `two`",
        ] {
            assert!(page.contains(line), "{line}: {page}");
        }
        assert!(!page.contains("superseded"), "{page}");
    }
}
