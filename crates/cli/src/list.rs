//! `flowsched list`: what an experiment file can name.

use flowsched_schemes::{PARTS, PRESETS, Role};
use flowsched_schemes::preset::COMMON;
use flowsched_topology::{ROUTING, TOPOLOGIES};
use flowsched_units::Parameter;
use flowsched_workload::sizes::{BUILT_IN, FORMS};
use flowsched_workload::{PARAMETERS, PATTERNS};

use crate::arguments::Listing;

/// Everything fits this many columns.
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
        for (key, value) in preset.settings {
            paragraph(text, 6, &format!("{key} = {}", quoted(value)));
        }
    }
    title(text, "Keys of every [[scheme]] table");
    parameters(text, COMMON);
    for role in Role::ALL {
        title(text, &format!("Parts to exchange: {} = \"NAME\", and their keys", role.key()));
        let parts = || PARTS.iter().filter(move |part| part.role == role);
        for part in parts() {
            entry(text, part.name, part.about, part.source);
        }
        // Several parts may share a group of keys, which is shown once.
        let mut shown: Vec<*const [Parameter]> = Vec::new();
        for group in parts().flat_map(|part| part.parameters) {
            if shown.contains(&std::ptr::from_ref(*group)) {
                continue;
            }
            shown.push(*group);
            let owners: Vec<&str> = parts()
                .filter(|part| part.parameters.iter().any(|other| std::ptr::eq(*other, *group)))
                .map(|part| part.name)
                .collect();
            text.push_str(&format!("\n  Keys of {}:\n", owners.join(", ")));
            parameters(text, group);
        }
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
    entry(text, "FILE", "a CDF file: a pair of a size in bytes and a probability a line", "");
    title(text, "Patterns: pattern = \"NAME\"");
    for pattern in PATTERNS {
        entry(text, pattern.name, pattern.about, pattern.source);
        if !pattern.own_keys.is_empty() {
            paragraph(text, 6, &format!("has the keys {}", pattern.own_keys.join(", ")));
        }
    }
    title(text, "Keys of [workload]");
    parameters(text, PARAMETERS);
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
        text.push_str(&format!("    {}{}\n", parameter.name, default.unwrap_or_default()));
        let source = match parameter.source {
            "" => String::new(),
            source => format!(" [{source}]"),
        };
        let about = format!("{} {}.{source}", parameter.about, capitalised(&parameter.kind.allowed()));
        paragraph(text, 8, &about);
    }
}

/// A default as it would be written in a file.
pub fn default_of(parameter: &Parameter, text: &str) -> String {
    use flowsched_units::Kind;
    match parameter.kind {
        Kind::Count { .. } | Kind::Number { .. } | Kind::Flag => text.to_owned(),
        _ => quoted(text),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// With a capital first letter, unless that would change a word of a file.
fn capitalised(text: &str) -> String {
    match text.split_once(' ') {
        Some((article @ ("a" | "sizes" | "text" | "true"), rest)) => {
            format!("{}{} {rest}", article[..1].to_uppercase(), &article[1..])
        }
        _ => text.to_owned(),
    }
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
        for parameter in PARTS.iter().flat_map(|part| part.parameters()) {
            assert!(all.contains(&format!("\n    {}", parameter.name)), "{}", parameter.name);
        }
    }
}
