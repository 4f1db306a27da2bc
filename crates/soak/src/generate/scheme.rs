//! The `[[scheme]]` tables.

use flowsched_schemes::combination::{COMMON, Combination};
use flowsched_schemes::port::parameters::QUEUES;
use flowsched_schemes::{PRESETS, Role, catalogue};
use flowsched_units::{Kind, Parameter, Settings};

use super::table::Table;
use super::value;
use crate::draw::Draw;

/// One to three schemes.
pub fn tables(draw: &mut Draw, is_fluid: bool) -> Vec<Table> {
    (0..draw.pick(&[1, 1, 2, 3])).map(|index| table(draw, index, is_fluid)).collect()
}

fn table(draw: &mut Draw, index: usize, is_fluid: bool) -> Table {
    let preset = draw.pick(PRESETS);
    let mut parts = [None; 4];
    for (part, role) in parts.iter_mut().zip(Role::ALL) {
        if draw.chance(0.06) {
            let others: Vec<&'static str> = catalogue::parts()
                .filter(|other| other.role == role)
                .map(|other| other.name)
                .collect();
            *part = Some(draw.pick(&others));
        }
    }
    let mut table = Table::new("[[scheme]]", format!("scheme.{index}."));
    table.set_text("preset", preset.name);
    table.set_text("name", format!("{}-{index}", preset.name));
    for (part, role) in parts.iter().zip(Role::ALL) {
        if let Some(part) = part {
            table.set_text(role.key(), *part);
        }
    }
    if let Ok(combination) = Combination::new(preset.name, parts) {
        settings(draw, &mut table, &combination, is_fluid);
    }
    table
}

/// Adds some of the keys that the combination's parts know.
fn settings(draw: &mut Draw, table: &mut Table, combination: &Combination, is_fluid: bool) {
    let of_all = COMMON.iter().filter(|parameter| parameter.kind != Kind::Text);
    let of_all = of_all.filter(|parameter| is_fluid || parameter.name != "discipline");
    let mut parameters: Vec<&Parameter> = of_all.collect();
    for parameter in combination.parameters() {
        if parameters.iter().all(|known| known.name != parameter.name) {
            parameters.push(parameter);
        }
    }
    let is_changed = draw.chance(0.7);
    let mut queues = default_queues(&combination.defaults("none"));
    let mut is_other_count = false;
    for parameter in parameters {
        let follows = matches!(parameter.name, "thresholds" | "weights") && is_other_count;
        let is_set = follows || is_changed && draw.chance(0.12);
        if !is_set {
            continue;
        }
        let value = match (parameter.name, parameter.kind) {
            ("queues", _) => {
                let count = draw.pick(&[1, 2, 3, 4, 8, 64]);
                is_other_count = count != queues;
                queues = count;
                Some(count.to_string())
            }
            ("weights", _) => Some(weights(draw, queues)),
            (_, Kind::Sizes { words, .. }) => Some(value::sizes(draw, words, queues - 1)),
            _ => value::draw_value(draw, parameter),
        };
        if let Some(value) = value {
            table.set(parameter, value);
        }
    }
}

/// The number of queues of a port if the file does not set it.
fn default_queues(defaults: &Settings) -> u64 {
    defaults.get(&QUEUES).map_or(1, |_| defaults.count(&QUEUES))
}

fn weights(draw: &mut Draw, queues: u64) -> String {
    let weights: Vec<String> = (0..queues).map(|_| draw.magnitude(1, 200).to_string()).collect();
    weights.join(" ")
}
