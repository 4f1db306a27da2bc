//! `flowsched list`: what an experiment file can name.

use flowsched_schemes::combination::{COMMON, Combination};
use flowsched_schemes::discipline::DISCIPLINES;
use flowsched_schemes::flow_level::FlowLevel;
use flowsched_schemes::port::parameters::QUEUES;
use flowsched_schemes::preset::Changed;
use flowsched_schemes::tagger::THRESHOLDS;
use flowsched_schemes::{PRESETS, Preset, Role, parts};
use flowsched_topology::{LOSS, ROUTING, TOPOLOGIES};
use flowsched_units::{Bytes, Kind, Parameter, Value};
use flowsched_workload::sizes::{BUILT_IN, FORMS};
use flowsched_workload::{
    DEADLINE_FORMS, LISTED_PARAMETERS, PARAMETERS, PART_NAME, PATTERNS, SHARE,
};

use crate::arguments::Listing;

/// The number of columns that everything fits.
const WIDTH: usize = 100;

/// The list as text.
pub fn list(what: Listing) -> String {
    let mut text = String::new();
    match what {
        Listing::Schemes => schemes(&mut text),
        Listing::Workloads => workloads(&mut text),
        Listing::Topologies => topologies(&mut text),
    }
    text
}

fn schemes(text: &mut String) {
    title(text, "Presets: a [[scheme]] table starts from one of them, preset = \"NAME\"");
    for preset in PRESETS {
        entry(text, preset.name, preset.about, preset.source);
        let parts: Vec<String> = Role::ALL
            .iter()
            .zip(preset.parts)
            .map(|(role, part)| format!("{} = \"{part}\"", role.key()))
            .collect();
        paragraph(text, 6, &parts.join(", "));
        let settings = settings_of(preset);
        if !settings.is_empty() {
            paragraph(text, 6, &settings.join(", "));
        }
        paragraph(text, 6, &format!("as fluid: {}", as_fluid(preset)));
    }
    title(text, "Keys of every [[scheme]] table");
    parameters(text, COMMON);
    title(text, "Disciplines of fluid flows: discipline = \"NAME\"");
    for discipline in DISCIPLINES {
        entry(text, discipline.name, discipline.about, discipline.source);
    }
    for role in Role::ALL {
        title(text, &format!("Parts to exchange: {} = \"NAME\", and their keys", role.key()));
        for part in parts().filter(|part| part.role == role) {
            entry(text, part.name, part.about, part.source);
        }
        for (owners, keys) in groups(role) {
            text.push_str(&format!("\n  Keys of {}:\n", owners.join(", ")));
            parameters(text, keys);
        }
    }
}

/// What a preset becomes if flows are fluids, or why it is refused.
pub fn as_fluid(preset: &Preset) -> String {
    let level = Combination::new(preset.name, [None; 4]).and_then(|combination| {
        let mut settings = combination.defaults("none");
        if let Some(Value::Text(_)) = settings.get(&THRESHOLDS) {
            // Any thresholds will do: their values do not matter here.
            let thresholds = vec![Bytes::ZERO; settings.count(&QUEUES) as usize - 1];
            settings.set(&THRESHOLDS, Value::Sizes(thresholds));
        }
        FlowLevel::from_settings(&settings)
    });
    match level {
        Ok(level) => level.about(),
        Err(error) => format!("refused: {error}"),
    }
}

fn workloads(text: &mut String) {
    title(text, "Flow sizes: sizes = \"NAME\"");
    for built_in in BUILT_IN {
        entry(text, built_in.name, built_in.about, built_in.source);
    }
    for form in FORMS {
        entry(text, form.usage, form.about, "");
    }
    entry(
        text,
        "FILE",
        "a CDF file: one size in bytes and its cumulative probability per line",
        "",
    );
    title(text, "Deadlines: deadlines = \"FORM\"");
    for form in DEADLINE_FORMS {
        entry(text, form.usage, form.about, "");
    }
    title(text, "Patterns: pattern = \"NAME\"");
    for pattern in PATTERNS {
        entry(text, pattern.name, pattern.about, pattern.source);
        if !pattern.own_keys.is_empty() {
            paragraph(text, 6, &format!("has the keys {}", pattern.own_keys.join(", ")));
        }
    }
    title(text, "Keys of [workload]");
    parameters(text, PARAMETERS);
    title(text, "Keys of [[workload.part]], beside those of [workload]");
    parameters(text, &[PART_NAME, SHARE]);
    title(text, "Keys of [[workload.flow]]");
    parameters(text, LISTED_PARAMETERS);
}

fn topologies(text: &mut String) {
    title(text, "Topologies: kind = \"NAME\", and their keys");
    for kind in TOPOLOGIES {
        entry(text, kind.name, kind.about, kind.source);
        parameters(text, kind.parameters);
        text.push('\n');
    }
    title(text, "Keys of every [topology] table");
    parameters(text, &[ROUTING]);
    parameters(text, LOSS);
}

fn title(text: &mut String, title: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(title);
    text.push('\n');
}

fn entry(text: &mut String, name: &str, about: &str, source: &str) {
    text.push_str(&format!("  {name}\n"));
    let source = if source.is_empty() { String::new() } else { format!(" [{source}]") };
    paragraph(text, 6, &format!("{about}{source}"));
}

fn parameters(text: &mut String, parameters: &[Parameter]) {
    for parameter in parameters {
        let default = parameter.default.map(|text| format!(" = {}", default_of(parameter, text)));
        let default = default.unwrap_or_default();
        let allowed = parameter.kind.allowed();
        paragraph(text, 4, &format!("{}{default}  ({allowed})", parameter.name));
        paragraph(text, 8, &format!("{} [{}]", parameter.about, parameter.source));
    }
}

/// The groups of keys that parts of `role` have, each once, with the names of the parts that have
/// it.
pub fn groups(role: Role) -> Vec<(Vec<&'static str>, &'static [Parameter])> {
    let same = |one: &[Parameter], other: &[Parameter]| {
        one.iter().map(|key| key.name).eq(other.iter().map(|key| key.name))
    };
    let mut groups: Vec<(Vec<&str>, &[Parameter])> = Vec::new();
    for part in parts().filter(|part| part.role == role) {
        for keys in part.parameters {
            match groups.iter_mut().find(|(_, known)| same(known, keys)) {
                Some((owners, _)) => owners.push(part.name),
                None => groups.push((vec![part.name], keys)),
            }
        }
    }
    groups
}

/// The settings in which a preset differs from its parts' defaults, as a file would have them.
pub fn settings_of(preset: &Preset) -> Vec<String> {
    let written = |(parameter, value): &Changed| {
        format!("{} = {}", parameter.name, default_of(parameter, value))
    };
    preset.settings.iter().map(written).collect()
}

/// A default as it would be written in a file.
pub fn default_of(parameter: &Parameter, text: &str) -> String {
    match parameter.kind {
        Kind::Count { .. } | Kind::Number { .. } | Kind::Flag => text.to_owned(),
        _ => quoted(text),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

fn paragraph(text: &mut String, indent: usize, content: &str) {
    let indent = " ".repeat(indent);
    let options = textwrap::Options::new(WIDTH)
        .initial_indent(&indent)
        .subsequent_indent(&indent)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    text.push_str(&textwrap::fill(content, options));
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_fit_and_name_everything() {
        let all = [Listing::Schemes, Listing::Workloads, Listing::Topologies].map(list).concat();
        for line in all.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        for preset in PRESETS {
            assert!(all.contains(&format!("\n  {}\n", preset.name)));
        }
        for parameter in parts().flat_map(|part| part.parameters()) {
            assert!(all.contains(&format!("\n    {}", parameter.name)), "{}", parameter.name);
        }
    }
}
