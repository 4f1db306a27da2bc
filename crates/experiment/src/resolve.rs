//! Writes the experiment back as a file with every default filled in.
//!
//! A key is written if it has the same value at all points. A key with several values is left out:
//! it varies, or its default depends on a key that varies, and reading the file computes its values
//! again.

use std::fmt::Write;

use flowsched_units::{Parameter, Settings, Value};
use flowsched_workload::LISTED_PARAMETERS;
use flowsched_workload::parameters::{SIZES, TRACE};

use crate::document::{Document, Table};
use crate::experiment::Scene;
use crate::inputs::Inputs;
use crate::parameters::{NAME, PARAMETERS};
use crate::parts::{self, WorkloadParts};
use crate::probe::PROBE;
use crate::scheme;
use crate::vary::Variation;
use crate::workload::{self, Traffic};

pub(crate) struct Resolver<'a> {
    /// The file with the changes of the command line, except variations.
    pub document: &'a Document,
    pub variations: &'a [Variation],
    pub inputs: &'a Inputs<'a>,
}

/// The keys whose values may be file names.
const PATHS: [&str; 2] = [SIZES.name, TRACE.name];

/// A table at one point: its keys and their values.
type TableAtPoint<'a> = (Vec<&'a Parameter>, &'a Settings);

impl Resolver<'_> {
    /// The file's text. `top` has the keys before the first table.
    pub fn resolve(&self, name: &str, top: &Settings, scenes: &[Scene]) -> String {
        let mut text = String::new();
        let mut top = top.clone();
        top.set(&NAME, Value::Text(name.to_owned()));
        for parameter in PARAMETERS.iter().filter(|parameter| !self.varies(parameter.name)) {
            if let Some(value) = top.get(parameter) {
                self.line(&mut text, parameter.name, value);
            }
        }
        text.push_str("\n[topology]\n");
        let topologies = scenes
            .iter()
            .map(|scene| (scene.topology.parameters().collect(), &scene.topology.settings));
        self.table(&mut text, &self.document.topology, topologies.collect(), scenes);
        text.push_str("\n[workload]\n");
        let workloads = scenes
            .iter()
            .map(|scene| (workload::relevant(&scene.workload), &scene.workload.settings));
        self.table(&mut text, &self.document.workload, workloads.collect(), scenes);
        self.parts(&mut text, scenes);
        for (index, table) in self.document.schemes.iter().enumerate() {
            text.push_str("\n[[scheme]]\n");
            let schemes = scenes.iter().map(|scene| {
                let settings = &scene.schemes[index].settings;
                let combination = scheme::combination_of(settings);
                let parameters = combination.map(|combination| scheme::parameters(&combination));
                (parameters.unwrap_or_default(), settings)
            });
            self.table(&mut text, table, schemes.collect(), scenes);
        }
        if let Some(table) = &self.document.probe {
            text.push_str("\n[probe]\n");
            let probes = scenes.iter().filter_map(|scene| scene.probe.as_ref());
            let probes = probes.map(|probe| (PROBE.iter().collect(), &probe.settings));
            self.table(&mut text, table, probes.collect(), scenes);
        }
        if !self.variations.is_empty() {
            text.push_str("\n[vary]\n");
        }
        for variation in self.variations {
            let name = variation.path.rsplit('.').next().unwrap_or_default();
            let values: Vec<&str> =
                variation.values.iter().map(|value| self.text_or_path(name, value)).collect();
            self.line(&mut text, &variation.key, &Value::Text(values.join(",")));
        }
        text
    }

    fn parts(&self, text: &mut String, scenes: &[Scene]) {
        let all_parts: Vec<&WorkloadParts> = scenes
            .iter()
            .filter_map(|scene| match &scene.workload.traffic {
                Traffic::Parts(parts) => Some(parts),
                _ => None,
            })
            .collect();
        for (index, table) in self.document.parts.iter().enumerate() {
            text.push_str("\n[[workload.part]]\n");
            let points = all_parts.iter().map(|parts| {
                let part = &parts.parts[index];
                let keys = parts::relevant(part).into_iter();
                // A key that the part takes from `[workload]` is left out if it varies there.
                let is_own = |key: &str| {
                    table.entries.contains_key(key) || !self.varies(&format!("workload.{key}"))
                };
                (keys.filter(|key| is_own(key.name)).collect(), &part.settings)
            });
            self.table(text, table, points.collect(), scenes);
        }
        for (index, table) in self.document.listed.iter().enumerate() {
            text.push_str("\n[[workload.flow]]\n");
            let points = all_parts
                .iter()
                .map(|parts| (LISTED_PARAMETERS.iter().collect(), &parts.listed_settings[index]));
            self.table(text, table, points.collect(), scenes);
        }
    }

    fn table(
        &self,
        text: &mut String,
        given: &Table,
        points: Vec<TableAtPoint<'_>>,
        scenes: &[Scene],
    ) {
        let mut keys: Vec<&str> = Vec::new();
        for (parameters, _) in &points {
            for parameter in parameters {
                if !keys.contains(&parameter.name) {
                    keys.push(parameter.name);
                }
            }
        }
        for key in keys {
            let values: Vec<Option<&Value>> = points
                .iter()
                .map(|(parameters, settings)| {
                    let has_key = parameters.iter().any(|parameter| parameter.name == key);
                    has_key.then(|| settings.named(key)).flatten()
                })
                .collect();
            if self.varies(&given.path_of(key)) || values.iter().all(Option::is_none) {
                continue;
            }
            match (values[0], given.text(key)) {
                (Some(value), _) if values.iter().all(|other| *other == Some(value)) => {
                    self.line(text, key, value);
                }
                (_, word) => {
                    let mut told: Vec<&Value> = Vec::new();
                    for (value, scene) in values.iter().zip(scenes) {
                        if let Some(value) = value.filter(|value| !told.contains(value)) {
                            told.push(value);
                            // Writing to a string cannot fail.
                            let _ = writeln!(text, "# {}", comment(key, value, scene));
                        }
                    }
                    if let Some(word) = word {
                        self.line(text, key, &Value::Text(word.to_owned()));
                    }
                }
            }
        }
    }

    fn varies(&self, path: &str) -> bool {
        self.variations.iter().any(|variation| variation.path == path)
    }

    /// The text, or the path in the folder of inputs if the text names a file.
    fn text_or_path<'b>(&'b self, key: &str, text: &'b str) -> &'b str {
        if PATHS.contains(&key) { self.inputs.resolved(text) } else { text }
    }

    fn line(&self, text: &mut String, key: &str, value: &Value) {
        let value = match value {
            Value::Count(count) => match i64::try_from(*count) {
                Ok(count) => toml::Value::Integer(count),
                Err(_) => toml::Value::String(count.to_string()),
            },
            Value::Number(number) => toml::Value::Float(*number),
            Value::Flag(flag) => toml::Value::Boolean(*flag),
            Value::Text(word) => toml::Value::String(self.text_or_path(key, word).to_owned()),
            other => toml::Value::String(other.to_string()),
        };
        let table = toml::Table::from_iter([(key.to_owned(), value)]);
        text.push_str(&table.to_string());
    }
}

/// A comment, on one line, about the value of a key at one of several points.
fn comment(key: &str, value: &Value, scene: &Scene) -> String {
    let comment = format!("{key}, first at {}: {value}", scene.point);
    comment.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
