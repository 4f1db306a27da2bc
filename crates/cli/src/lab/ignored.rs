//! Warns of keys that real hosts ignore, while the simulation beside the lab obeys them.

use flowsched_experiment::{Experiment, Level, SchemeOfScene};
use flowsched_schemes::on_linux::{Ignored, RealHosts, ignored_keys};
use flowsched_units::Kind;

/// One key that is ignored.
struct Found {
    row: &'static Ignored,
    /// The key with its values, as a file has them.
    values: Vec<String>,
    schemes: Vec<String>,
}

/// One sentence for each key that the file, or the command line, sets to something that Linux does
/// not do.
pub fn warnings(experiment: &Experiment) -> Vec<String> {
    let mut found: Vec<Found> = Vec::new();
    for scheme in experiment.scenes.iter().flat_map(|scene| &scene.schemes) {
        for row in of_scheme(scheme) {
            let value = written(scheme, row);
            let is_of_row = |known: &Found| {
                known.row.parameter.name == row.parameter.name && known.row.instead == row.instead
            };
            let place = found.iter().position(is_of_row).unwrap_or_else(|| {
                found.push(Found { row, values: Vec::new(), schemes: Vec::new() });
                found.len() - 1
            });
            let known = &mut found[place];
            add(&mut known.values, value);
            add(&mut known.schemes, format!("\"{}\"", scheme.name));
        }
    }
    found.iter().map(sentence).collect()
}

fn of_scheme(scheme: &SchemeOfScene) -> Vec<&'static Ignored> {
    let hosts = match &scheme.level {
        Level::Packets(packets) => packets.on_linux().ok(),
        Level::Flows(_) => None,
    };
    let Some(RealHosts::Kernel(hosts)) = hosts else { return Vec::new() };
    let rows = ignored_keys(&hosts.control, &scheme.settings);
    rows.filter(|row| scheme.written.contains(row.parameter.name)).collect()
}

/// The key and its value, as a file has them.
fn written(scheme: &SchemeOfScene, row: &Ignored) -> String {
    let key = row.parameter.name;
    let value = scheme.settings.get(row.parameter).map(ToString::to_string).unwrap_or_default();
    match row.parameter.kind {
        Kind::Count { .. } | Kind::Flag => format!("`{key} = {value}`"),
        _ => format!("`{key} = \"{value}\"`"),
    }
}

fn add(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) {
        list.push(text);
    }
}

/// A warning: `schemes "a", "b": the lab ignores ...`
fn sentence(Found { row, values, schemes }: &Found) -> String {
    let word = if schemes.len() == 1 { "scheme" } else { "schemes" };
    let (schemes, values) = (schemes.join(", "), values.join(", "));
    format!(
        "{word} {schemes}: the lab ignores {values}, which only the simulation beside it obeys. {}.",
        capitalised(row.instead)
    )
}

/// The text with a capital letter at its beginning.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use flowsched_experiment::{Arguments, Source};

    use super::*;

    fn of_schemes(schemes: &str) -> Vec<String> {
        let text = format!(
            "topology = {{ kind = \"star\", hosts = 3 }}\n\
             workload = {{ sizes = \"fixed 10KB\", flows = 5, load = 0.5 }}\n\
             scheme = [{schemes}]\n"
        );
        let no_inputs = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let arguments = Arguments::default();
        warnings(&Experiment::parse(&Source::new("a.toml", text), &arguments, &no_inputs).unwrap())
    }

    #[test]
    fn a_key_that_schemes_set_to_what_linux_does_not_do_is_warned_of_once() {
        let warnings = of_schemes(
            "{ preset = \"tcp\", restart = \"every-flow\", ack_ratio = 2 }, \
             { preset = \"ecn-star\", restart = \"every-flow\", ack_ratio = 3 }",
        );
        assert_eq!(
            warnings,
            [
                "schemes \"tcp\", \"ecn-star\": the lab ignores `restart = \"every-flow\"`, which only the \
                 simulation beside it obeys. Linux reduces the window to `initial_window` after idle time-outs \
                 only.",
                "scheme \"ecn-star\": the lab ignores `ack_ratio = 3`, which only the simulation beside it \
                 obeys. Linux acknowledges every second packet, or each one with `ack_ratio = 1`.",
            ]
        );
    }

    #[test]
    fn defaults_and_hosts_over_udp_are_not_warned_of() {
        let warnings = of_schemes(
            "{ preset = \"dctcp\" }, { preset = \"pdq\", rto_min = \"5ms\" }, \
             { preset = \"tcp\", lab_senders = \"simulator\", ack_ratio = 4 }",
        );
        assert_eq!(warnings, [""; 0]);
    }
}
