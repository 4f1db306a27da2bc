//! Checks the keys of a table against the list of known keys.

use flowsched_schemes::combination::PRESET;
use flowsched_schemes::parts;
use flowsched_topology::TOPOLOGIES;
use flowsched_units::{Kind, Parameter, Settings};

use crate::document::{Document, Table};
use crate::mistake::{Mistake, Mistakes, Place};
use crate::parameters::KIND;

/// Copies the values of `table` to `settings`. Refuses keys that are not in `parameters`, and
/// values that are not of their kind. Returns whether all were right.
pub(crate) fn check(
    table: &Table,
    parameters: &[&Parameter],
    settings: &mut Settings,
    mistakes: &mut Mistakes,
) -> bool {
    let mut sound = true;
    for (key, entry) in &table.entries {
        let Some(parameter) = parameters.iter().find(|parameter| parameter.name == key) else {
            mistakes.add(unknown_key(table, key, &entry.key_place, parameters));
            sound = false;
            continue;
        };
        match parameter.kind.parse(&entry.text) {
            Ok(value) => settings.set(parameter.name, value),
            Err(problem) => {
                let (place, path) = (&entry.value_place, table.label_of(key));
                mistakes.add(match parameter.kind {
                    Kind::Choice(words) => {
                        Mistake::unknown(place, path, &entry.text, words.iter().copied())
                    }
                    _ => Mistake::new(place, path, problem),
                });
                sound = false;
            }
        }
    }
    sound
}

fn unknown_key(table: &Table, key: &str, place: &Place, parameters: &[&Parameter]) -> Mistake {
    let tables: &[&str] = if table.path.is_empty() { &Document::TABLES } else { &[] };
    let names = parameters.iter().map(|parameter| parameter.name).chain(tables.iter().copied());
    let mistake = Mistake::unknown(place, table.label_of(key), key, names);
    let problem = mistake.problem.replacen("found", "found the key", 1);
    let mistake = Mistake { problem, ..mistake };
    match home_of(key).filter(|_| table.path.is_empty()) {
        Some(home) => mistake.with_help(format!("did you mean {home}.{key}?")),
        None => mistake,
    }
}

/// The table that `key` belongs to.
fn home_of(key: &str) -> Option<&'static str> {
    let of_scheme = parts().any(|part| part.parameters().any(|p| p.name == key));
    let of_topology = || {
        let mut kinds = TOPOLOGIES.iter();
        key == KIND.name || kinds.any(|kind| kind.parameters.iter().any(|p| p.name == key))
    };
    let of_workload = || {
        ["part", "flow"].contains(&key)
            || flowsched_workload::PARAMETERS.iter().any(|p| p.name == key)
    };
    if of_scheme || key == PRESET.name {
        Some("scheme.NAME")
    } else if of_workload() {
        Some("workload")
    } else {
        of_topology().then_some("topology")
    }
}

/// Returns the word that `table` gives for `key`. Refuses a missing word, and a word that is not
/// one of `names`.
pub(crate) fn word<'a>(
    table: &Table,
    key: &str,
    names: &[&'a str],
    mistakes: &mut Mistakes,
) -> Option<&'a str> {
    let Some(entry) = table.entries.get(key) else {
        let path = table.label_of(key);
        mistakes.add(Mistake::found(&table.place, path, "nothing", names.join(", ")));
        return None;
    };
    let found = names.iter().copied().find(|name| *name == entry.text);
    if found.is_none() {
        let path = table.label_of(key);
        let names = names.iter().copied();
        mistakes.add(Mistake::unknown(&entry.value_place, path, &entry.text, names));
    }
    found
}
