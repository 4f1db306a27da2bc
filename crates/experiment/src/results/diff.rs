//! Compares the results of two folders: settings, tables, and the same flows before and after.

use std::collections::BTreeMap;

use serde::Serialize;

use super::against::{Loaded, Placed, load};
use super::comparison::{ClassComparison, compare};
use super::in_order::in_order;
use super::outcomes::Outcomes;
use super::{Folder, PerClass, Point, Program, ResultsError};

/// The differences between the results of two folders.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// The programs that wrote them.
    pub programs: [Program; 2],
    /// Whether each folder has every run.
    pub complete: [bool; 2],
    /// The keys whose values differ in the resolved experiments. Schemes are called by name.
    pub keys: Vec<ChangedKey>,
    /// Whether the tables of flows are equal, byte for byte.
    pub same_flows: bool,
    /// Whether the tables of ports are equal, byte for byte.
    pub same_ports: bool,
    /// The comparison of each scheme at each point that both folders have.
    pub schemes: Vec<SchemeDiff>,
    /// The runs that only the first folder has, in words.
    pub only_before: Vec<String>,
    /// The runs that only the second folder has, in words.
    pub only_after: Vec<String>,
}

/// A key of the resolved experiments whose values differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedKey {
    /// The dotted key, `workload.load`.
    pub key: String,
    /// Its value in the first folder; `None` if the key is missing there.
    pub before: Option<String>,
    /// Its value in the second folder; `None` if the key is missing there.
    pub after: Option<String>,
}

/// A scheme at a point, before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SchemeDiff {
    /// The point of the sweep.
    pub point: Point,
    /// The scheme.
    pub scheme: String,
    /// Seeds whose runs have the same flows in both folders. Only these are compared.
    pub seeds: u64,
    /// Seeds whose flows differ, so that they cannot be paired.
    pub other_flows: u64,
    /// The change of FCT from the first folder to the second.
    pub fct: PerClass<ClassComparison>,
}

impl Diff {
    /// Compares `after` with `before`.
    ///
    /// # Errors
    /// If a folder cannot be read.
    pub fn new(before: &Folder, after: &Folder) -> Result<Diff, ResultsError> {
        let folders = [before, after];
        let [of_before, of_after] = [before, after].map(|folder| {
            let placed = Placed { folder, point: None };
            load(&placed)
        });
        let (of_before, of_after) = (of_before?, of_after?);
        let [summary, other] = folders.map(Folder::summary);
        Ok(Diff {
            programs: folders.map(|folder| folder.summary().program.clone()),
            complete: folders.map(|folder| folder.summary().complete),
            keys: changed_keys(before.experiment(), after.experiment()),
            same_flows: summary.tables.flows == other.tables.flows,
            same_ports: summary.tables.ports == other.tables.ports,
            schemes: schemes(&of_before, &of_after),
            only_before: only(&of_before, &of_after),
            only_after: only(&of_after, &of_before),
        })
    }

    /// Whether both folders have the same tables of flows and ports, byte for byte.
    pub fn is_same(&self) -> bool {
        self.same_flows && self.same_ports
    }
}

fn is_same_run(one: &Loaded, other: &Loaded) -> bool {
    (&one.run.point, &one.run.scheme, one.run.seed)
        == (&other.run.point, &other.run.scheme, other.run.seed)
}

/// The runs of `these` that `others` lack, in words.
fn only(these: &[Loaded], others: &[Loaded]) -> Vec<String> {
    let missing = these.iter().filter(|one| !others.iter().any(|other| is_same_run(one, other)));
    let in_words = |one: &Loaded| {
        let run = &one.run;
        let at = if run.point.is_empty() { String::new() } else { format!(" at {}", run.point) };
        format!("{} with seed {}{at}", run.scheme, run.seed)
    };
    missing.map(in_words).collect()
}

fn schemes(before: &[Loaded], after: &[Loaded]) -> Vec<SchemeDiff> {
    let pairs: Vec<(&Loaded, &Loaded)> = before
        .iter()
        .filter_map(|one| Some((one, after.iter().find(|other| is_same_run(one, other))?)))
        .filter(|(one, other)| one.run.complete && other.run.complete)
        .collect();
    let groups = in_order(pairs.iter().map(|(one, _)| (&one.run.point, one.run.scheme.as_str())));
    let diff = |(point, scheme): (&Point, &str)| {
        let of_group =
            pairs.iter().filter(|(one, _)| one.run.point == *point && one.run.scheme == scheme);
        let (same, others): (Vec<_>, Vec<_>) =
            of_group.partition(|(one, other)| one.flows == other.flows);
        let outcomes: Vec<(&Outcomes, &Outcomes)> =
            same.iter().map(|(one, other)| (&one.outcomes, &other.outcomes)).collect();
        SchemeDiff {
            point: point.clone(),
            scheme: scheme.to_owned(),
            seeds: same.len() as u64,
            other_flows: others.len() as u64,
            fct: PerClass::from_fn(|class| compare(&outcomes, class)),
        }
    };
    groups.into_iter().map(diff).collect()
}

fn changed_keys(before: &str, after: &str) -> Vec<ChangedKey> {
    let (before, after) = (keys(before), keys(after));
    let names: BTreeMap<&String, ()> = before.keys().chain(after.keys()).map(|k| (k, ())).collect();
    let changed = names.into_keys().filter(|key| before.get(*key) != after.get(*key));
    let values = |key: &String| ChangedKey {
        key: key.clone(),
        before: before.get(key).cloned(),
        after: after.get(key).cloned(),
    };
    changed.map(values).collect()
}

/// The dotted keys of a resolved experiment, with their values. Empty if the text is not TOML.
fn keys(experiment: &str) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    if let Ok(table) = experiment.parse::<toml::Table>() {
        add_keys("", &toml::Value::Table(table), &mut keys);
    }
    keys
}

fn add_keys(path: &str, value: &toml::Value, keys: &mut BTreeMap<String, String>) {
    let below = |name: &str| match path {
        "" => name.to_owned(),
        _ => format!("{path}.{name}"),
    };
    match value {
        toml::Value::Table(table) => {
            table.iter().for_each(|(name, value)| add_keys(&below(name), value, keys));
        }
        toml::Value::Array(items) if items.iter().all(toml::Value::is_table) => {
            for (index, item) in items.iter().enumerate() {
                let name = item.get("name").and_then(toml::Value::as_str);
                add_keys(&below(&name.map_or(index.to_string(), str::to_owned)), item, keys);
            }
        }
        toml::Value::String(text) => _ = keys.insert(path.to_owned(), text.clone()),
        other => _ = keys.insert(path.to_owned(), other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_by_the_names_of_schemes() {
        let before = "seeds = 2\n[workload]\nload = 0.5\n[[scheme]]\nname = \"a\"\nqueues = 2\n";
        let after = "seeds = 2\n[workload]\nload = 0.6\n[[scheme]]\nname = \"a\"\n";
        let changed = changed_keys(before, after);
        let texts: Vec<String> = changed
            .iter()
            .map(|one| format!("{}: {:?} {:?}", one.key, one.before, one.after))
            .collect();
        assert_eq!(
            texts,
            ["scheme.a.queues: Some(\"2\") None", "workload.load: Some(\"0.5\") Some(\"0.6\")"]
        );
    }
}
