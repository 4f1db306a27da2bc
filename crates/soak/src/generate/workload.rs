//! The `[workload]` tables, and the traces and CDF files that they name.

use flowsched_units::{Bytes, Parameter, Time};
use flowsched_workload::sizes::{self, BUILT_IN, FORMS};
use flowsched_workload::{
    DEADLINE_FORMS, LISTED_PARAMETERS, PARAMETERS, PART_NAME, PATTERNS, SHARE, TRACE_COLUMNS,
};

use super::table::Table;
use super::value;
use crate::draw::Draw;

/// The keys that are drawn before all others, or together.
const APART: &[&str] = &[
    "sizes",
    "load",
    "load_of",
    "at",
    "every",
    "stagger",
    "trace",
    "pattern",
    "flows",
    "warm_up_flows",
    "cool_down_flows",
    "degree",
    "receiver",
    "deadlines",
];
/// The most flows of a case.
const MOST_FLOWS: u64 = 3_000;
/// Most networks have at least this many hosts.
const HOSTS: u64 = 4;

/// Draws the tables. The flows should have at most `budget` bytes of payload. Adds the files that
/// the tables refer to to `inputs`.
pub fn tables(draw: &mut Draw, budget: u64, inputs: &mut Vec<(String, String)>) -> Vec<Table> {
    let mut whole = Table::new("[workload]", "workload.");
    let bytes = draw.magnitude(1_000, budget);
    match draw.count(0, 9) {
        0 => {
            whole.set_text("trace", "flows.csv");
            inputs.push(("flows.csv".into(), trace(draw, bytes)));
            vec![whole]
        }
        1 => std::iter::once(whole).chain(listed(draw, bytes)).collect(),
        2 => parts(draw, whole, bytes, inputs),
        _ => {
            drawn(draw, &mut whole, bytes, inputs);
            warm_up(draw, &mut whole);
            vec![whole]
        }
    }
}

/// Sets the keys of flows that are drawn at random.
fn drawn(draw: &mut Draw, table: &mut Table, bytes: u64, inputs: &mut Vec<(String, String)>) {
    let (text, mean) = size_distribution(draw, inputs);
    table.set(parameter("sizes"), text);
    let flows = ((bytes as f64 / mean) as u64).clamp(1, MOST_FLOWS);
    table.set(parameter("flows"), flows.to_string());
    let pattern = draw.pick(PATTERNS);
    table.set(parameter("pattern"), pattern.name);
    starts(draw, table);
    for parameter in PARAMETERS {
        let is_of_others = PATTERNS.iter().any(|one| one.own_keys.contains(&parameter.name))
            && !pattern.own_keys.contains(&parameter.name);
        if !APART.contains(&parameter.name)
            && !is_of_others
            && draw.chance(0.2)
            && let Some(value) = value::draw_value(draw, parameter)
        {
            table.set(parameter, value);
        }
    }
    if pattern.own_keys.contains(&"degree") {
        table.set(parameter("degree"), draw.magnitude(1, HOSTS).to_string());
    }
    if pattern.own_keys.contains(&"receiver") && draw.chance(0.5) {
        table.set(parameter("receiver"), draw.count(0, HOSTS - 1).to_string());
    }
    if draw.chance(0.3) {
        let form = draw.pick(DEADLINE_FORMS);
        table.set(
            parameter("deadlines"),
            filled(draw, form.usage, |ns| Time::from_ns(ns).to_string()),
        );
    }
}

/// Sets a load, or fixed start times.
fn starts(draw: &mut Draw, table: &mut Table) {
    if draw.chance(0.65) {
        table.set(parameter("load"), format!("{:.3}", draw.number(0.001, 1.0)));
        if draw.chance(0.2) {
            table.set(parameter("load_of"), draw.pick(&["hosts", "core"]));
        }
        return;
    }
    let at = draw.pick(&["0us", "0us", "0us", "1us", "10ms", "1s", "5000s"]);
    table.set(parameter("at"), at);
    for key in ["every", "stagger"] {
        if draw.chance(0.5) {
            table.set(parameter(key), value::time(draw));
        }
    }
}

/// Draws a warm-up and a cool-down, both so short that some flows are measured in most cases.
fn warm_up(draw: &mut Draw, table: &mut Table) {
    let flows = table.entries.iter().find(|entry| entry.key == "flows");
    let flows = flows.and_then(|entry| entry.value.parse().ok()).unwrap_or(3);
    for key in ["warm_up_flows", "cool_down_flows"] {
        if flows > 2 && draw.chance(0.1) {
            table.set(parameter(key), draw.magnitude(1, flows / 2).to_string());
        }
    }
}

/// Draws a size distribution. Returns its name and its mean in bytes.
fn size_distribution(draw: &mut Draw, inputs: &mut Vec<(String, String)>) -> (String, f64) {
    let text = match draw.count(0, 9) {
        0 => {
            let (file, text) = ("sizes.cdf", cdf(draw));
            let mean = sizes::parse_cdf(&text).map_or(1e6, |sizes| sizes.mean());
            if inputs.iter().all(|(name, _)| name != file) {
                inputs.push((file.into(), text));
            }
            return (file.into(), mean);
        }
        1..4 => draw.pick(&BUILT_IN.iter().map(|one| one.name).collect::<Vec<_>>()).to_owned(),
        _ => {
            let form = draw.pick(&FORMS.iter().map(|form| form.usage).collect::<Vec<_>>());
            filled(draw, form, |bytes| Bytes::new(bytes).to_string())
        }
    };
    let mean = sizes::by_name(&text).map_or(1e6, |sizes| sizes.mean());
    (text, mean)
}

/// Replaces the words in capitals of a form with values. Values with a unit increase from one to
/// the next.
fn filled(draw: &mut Draw, usage: &str, unit: fn(u64) -> String) -> String {
    let mut low = 0;
    let word = |word: &str| match word {
        "SHAPE" => format!("{:.2}", draw.number(0.1, 3.0)),
        "SIGMA" => format!("{:.2}", draw.number(0.1, 2.5)),
        "SIZE" | "FROM" | "TO" | "MEAN" | "TIME" | "FLOOR" => {
            low = draw.magnitude(low + 1, (low + 2).max(1_000_000));
            unit(low)
        }
        other => other.to_owned(),
    };
    usage.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn cdf(draw: &mut Draw) -> String {
    let steps = draw.count(1, 5);
    let mut size = 0;
    let mut text = String::new();
    for step in 1..=steps {
        size += draw.magnitude(1, 1_000_000);
        text.push_str(&format!("{size} {}\n", step as f64 / steps as f64));
    }
    text
}

fn trace(draw: &mut Draw, bytes: u64) -> String {
    let flows = draw.magnitude(1, 300);
    let has_deadlines = draw.chance(0.3);
    let columns = if has_deadlines { &TRACE_COLUMNS[..] } else { &TRACE_COLUMNS[..4] };
    let mut text = columns.join(",") + "\n";
    let late = draw.pick(&[0.0, 0.0, 1.0, 9_999_999.0]);
    for _ in 0..flows {
        let (src, dst) = two_hosts(draw);
        let start = late + draw.number(0.0, 0.01);
        let size = draw.magnitude(1, (bytes / flows).max(2));
        text.push_str(&format!("{start:.9},{src},{dst},{size}"));
        if has_deadlines {
            text.push_str(&format!(",{:.9}", start + draw.number(1e-6, 0.01)));
        }
        text.push('\n');
    }
    text
}

fn two_hosts(draw: &mut Draw) -> (u64, u64) {
    let src = draw.count(0, HOSTS - 1);
    (src, (src + draw.count(1, HOSTS - 1)) % HOSTS)
}

fn listed(draw: &mut Draw, bytes: u64) -> Vec<Table> {
    let count = draw.count(1, 6);
    (0..count).map(|index| listed_flow(draw, index, bytes / count)).collect()
}

fn listed_flow(draw: &mut Draw, index: u64, bytes: u64) -> Table {
    let mut table = Table::new("[[workload.flow]]", format!("workload.flow.{index}."));
    let copies = draw.magnitude(1, 20);
    let start = Time::from_us(draw.magnitude(1, 10_000));
    let (src, dst) = two_hosts(draw);
    for parameter in LISTED_PARAMETERS {
        let value = match parameter.name {
            "start" => Some(start.to_string()),
            "src" => Some(src.to_string()),
            "dst" => Some(dst.to_string()),
            "size" => Some(Bytes::new(draw.magnitude(1, (bytes / copies).max(2))).to_string()),
            "copies" => Some(copies.to_string()),
            "deadline" => draw.chance(0.2).then(|| {
                start.saturating_add(Time::from_us(draw.magnitude(1, 100_000))).to_string()
            }),
            _ => None,
        };
        if let Some(value) = value {
            table.set(parameter, value);
        }
    }
    table
}

fn parts(
    draw: &mut Draw,
    mut whole: Table,
    bytes: u64,
    inputs: &mut Vec<(String, String)>,
) -> Vec<Table> {
    warm_up(draw, &mut whole);
    let count = draw.count(1, 3);
    let mut tables = vec![whole];
    for index in 0..count {
        let mut part = Table::new("[[workload.part]]", format!("workload.part.{index}."));
        part.set(&PART_NAME, format!("part {index}"));
        drawn(draw, &mut part, bytes / count, inputs);
        if part.entries.iter().any(|entry| entry.key == "load") {
            part.set(&SHARE, format!("{:.3}", draw.number(0.01, 1.0 / count as f64)));
        }
        tables.push(part);
    }
    if draw.chance(0.3) {
        tables.extend(listed(draw, bytes));
    }
    tables
}

/// The parameter of `[workload]` with this name.
///
/// # Panics
/// If there is no such parameter.
fn parameter(name: &str) -> &'static Parameter {
    PARAMETERS.iter().find(|parameter| parameter.name == name).expect("a key of a workload")
}
