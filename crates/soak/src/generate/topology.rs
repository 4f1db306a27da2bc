//! The `[topology]` table.

use std::fmt::Write;

use flowsched_experiment::KIND;
use flowsched_topology::{LOSS, ROUTING, TOPOLOGIES};
use flowsched_units::{Kind, Parameter};

use super::table::Table;
use super::value;
use crate::draw::Draw;

/// Draws a network. Fluid flows keep to one path, so the fluid engine gets no spraying.
pub fn table(draw: &mut Draw, is_fluid: bool) -> Table {
    let mut table = Table::new("[topology]", "topology.");
    let kind = draw.pick(TOPOLOGIES);
    table.set(&KIND, kind.name);
    if kind.name == "custom" {
        custom(draw, &mut table);
    }
    for parameter in kind.parameters {
        let is_size = matches!(parameter.kind, Kind::Count { .. });
        let is_set = draw.chance(if is_size { 0.8 } else { 0.35 });
        if is_set && let Some(value) = network_value(draw, parameter) {
            table.set(parameter, value);
        }
    }
    if !is_fluid && draw.chance(0.15) {
        table.set(&ROUTING, "spray");
    }
    if draw.chance(0.3) {
        table.set(&LOSS[0], loss(draw));
        table.set(&LOSS[1], draw.pick(&["all", "hosts", "core"]));
    }
    table
}

/// Draws values that fit each other in most cases. Counts are mostly small.
fn network_value(draw: &mut Draw, parameter: &Parameter) -> Option<String> {
    match (parameter.name, parameter.kind) {
        ("k", Kind::Count { from: 2, .. }) => Some(draw.pick(&[2, 4, 4, 6, 8, 10]).to_string()),
        ("k", _) => Some(draw.pick(&[0, 1, 1, 2, 3]).to_string()),
        ("n", _) => Some(draw.pick(&[2, 2, 3, 4, 5]).to_string()),
        ("ports", _) => Some(draw.count(4, 12).to_string()),
        ("degree", _) => Some(draw.count(2, 4).to_string()),
        (_, Kind::Count { from: 1, .. }) if draw.chance(0.9) => {
            Some(draw.magnitude(2, 12).to_string())
        }
        ("graph_seed", _) => Some(draw.count(0, 100).to_string()),
        ("hosts", Kind::Count { from: 0, .. }) => Some("0".into()),
        _ => value::draw_value(draw, parameter),
    }
}

/// A loss probability, in most cases so low that flows end within the time of a test.
fn loss(draw: &mut Draw) -> String {
    match draw.count(0, 9) {
        0 => "0".into(),
        1 => format!("{:.2}", draw.number(0.3, 0.99)),
        _ => format!("{:.4}", draw.number(0.0001, 0.1)),
    }
}

/// A random tree of switches with a few more links, and hosts at random switches.
fn custom(draw: &mut Draw, table: &mut Table) {
    let (hosts, switches) = (draw.magnitude(2, 12), draw.magnitude(1, 6));
    let names: Vec<String> = (0..hosts).map(|host| format!("h{host}")).collect();
    let mut links = String::new();
    let mut link = |draw: &mut Draw, one: String, other: String| {
        let _ = write!(links, "{one} {other}");
        if draw.chance(0.3) {
            let _ = write!(links, " {} {}", value::rate(draw), value::time(draw));
        }
        links.push_str("; ");
    };
    for name in &names {
        let switch = draw.count(0, switches - 1);
        link(draw, name.clone(), format!("s{switch}"));
    }
    for switch in 1..switches {
        let before = draw.count(0, switch - 1);
        link(draw, format!("s{switch}"), format!("s{before}"));
    }
    for _ in 0..draw.count(0, switches - 1) {
        let (one, other) = (draw.count(0, switches - 1), draw.count(0, switches - 1));
        if one != other {
            link(draw, format!("s{one}"), format!("s{other}"));
        }
    }
    table.set_text("hosts", names.join(" "));
    table.set_text("links", links);
}
