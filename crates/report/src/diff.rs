//! The differences of two results folders as text for a terminal.

use flowsched_experiment::results::{ChangedKey, ClassComparison, Diff, Point, SizeClass};

use crate::format::{change, count, interval};
use crate::overview::{CLASSES, class_title};
use crate::text::{aligned, wrap};

/// How two results folders differ, in lines of at most `width` columns: what wrote them, which keys
/// differ, whether the tables are the same, and the changes of FCT over the same flows.
pub fn diff(diff: &Diff, width: usize) -> String {
    let mut lines = Vec::new();
    let mut say = |text: &str| lines.extend(wrap(text, width));
    let [before, after] = diff.programs.each_ref().map(|program| match &program.commit[..] {
        "" => program.version.clone(),
        commit => format!("{} ({commit})", program.version),
    });
    match before == after {
        true => say(&format!("Both are written by flowsched {before}.")),
        false => say(&format!("Before: flowsched {before}. After: flowsched {after}.")),
    }
    for (complete, which) in diff.complete.iter().zip(["before", "after"]) {
        if !complete {
            say(&format!("The folder {which} is incomplete."));
        }
    }
    say(if diff.keys.is_empty() { "The experiments are the same." } else { "Keys that differ:" });
    for ChangedKey { key, before, after } in &diff.keys {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        say(&format!("  {key}: {} -> {}", value(before), value(after)));
    }
    say(match (diff.same_flows, diff.same_ports) {
        (true, true) => "Flows and ports are the same to the byte.",
        (true, false) => "Flows are the same to the byte; samples of ports differ.",
        (false, true) => "Samples of ports are the same to the byte; flows differ.",
        (false, false) => "Flows and samples of ports differ.",
    });
    for (runs, which) in [(&diff.only_before, "before"), (&diff.only_after, "after")] {
        if !runs.is_empty() {
            say(&format!("Only {which}: {}.", runs.join("; ")));
        }
    }
    if !diff.same_flows {
        lines.extend(changes(diff, width));
    }
    lines.join("\n") + "\n"
}

/// The changes of FCT at each point, and what could not be paired.
fn changes(diff: &Diff, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut points: Vec<&Point> = diff.schemes.iter().map(|scheme| &scheme.point).collect();
    points.dedup();
    for point in points {
        lines.push(String::new());
        if !point.is_empty() {
            lines.push(point.to_string());
        }
        let heading = ["", "flows", "mean", "[95%]", "p99", "[95%]"];
        let mut table = vec![heading.map(str::to_owned).to_vec()];
        for class in CLASSES {
            table.extend(of_class(diff, point, class));
        }
        lines.extend(aligned(&table, width));
    }
    let unpaired: u64 = diff.schemes.iter().map(|scheme| scheme.other_flows).sum();
    if unpaired > 0 {
        let note = format!(
            "Left out, as their flows are others before and after: {} runs.",
            count(unpaired)
        );
        lines.extend(wrap(&note, width));
    }
    lines.extend(wrap("Changes of FCT after against before, of the same flows.", width));
    lines
}

fn of_class(diff: &Diff, point: &Point, class: Option<SizeClass>) -> Vec<Vec<String>> {
    let schemes = diff.schemes.iter().filter(|scheme| scheme.point == *point);
    let compared: Vec<(&str, &ClassComparison)> = schemes
        .map(|scheme| (scheme.scheme.as_str(), scheme.fct.get(class)))
        .filter(|(_, compared)| compared.pairs > 0)
        .collect();
    if compared.is_empty() {
        return Vec::new();
    }
    let mut rows = vec![vec![class_title(class)]];
    rows.extend(compared.into_iter().map(|(scheme, compared)| {
        let mut cells = vec![format!("  {scheme}"), count(compared.pairs)];
        for one in [&compared.mean, &compared.p99] {
            cells.push(one.change.map(change).unwrap_or_default());
            cells.push(interval(one).unwrap_or_default());
        }
        cells
    }));
    rows
}
