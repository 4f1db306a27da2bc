//! The texts that all kinds of answers share.

use std::fmt::Write;

use flowsched_units::Bytes;

use crate::arguments::Thresholds;

/// The question in one line. `forecast` says what the thresholds are for.
pub fn headline(wanted: &Thresholds, forecast: &str) -> String {
    let Thresholds { queues, model, objective, .. } = wanted;
    format!("{forecast}, {queues} queues: {objective} under {model}")
}

/// The headline of a table, with a description of the model.
pub fn heading(wanted: &Thresholds, forecast: &str) -> String {
    let model = format!("{}: {} [{}]", wanted.model, wanted.model.about(), wanted.model.source());
    let model = textwrap::fill(&model, textwrap::termwidth().min(100));
    format!("{}\n{model}\n\n", headline(wanted, forecast))
}

/// The comment at the head of a TOML text, without characters that would end it.
pub fn comment(wanted: &Thresholds, forecast: &str) -> String {
    let headline = headline(wanted, forecast);
    let headline: String = headline.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("# {headline}\n# In a [[scheme]] table they go with queues = {}.\n", wanted.queues)
}

/// The line with the thresholds for a `[[scheme]]` table.
pub fn setting(thresholds: &[u64]) -> String {
    let sizes: Vec<String> =
        thresholds.iter().map(|bytes| Bytes::new(*bytes).to_string()).collect();
    format!("thresholds = \"{}\"\n", sizes.join(" "))
}

/// The values, with commas between them.
pub fn list<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    let words: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    words.join(", ")
}

/// Adds a line to the text.
pub fn row(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", line.trim_end());
}

/// A value of the objective that was asked for, as text.
pub fn value(wanted: &Thresholds, value: f64) -> String {
    if wanted.objective.is_time() { duration(value) } else { format!("{value:.3}") }
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    // Adding 0 removes the sign of a negative zero.
    format!("{:.1}%", (1000.0 * share).round() / 10.0 + 0.0)
}

/// A time in microseconds, with a unit that suits it.
pub fn duration(us: f64) -> String {
    match us {
        _ if us < 1e3 => format!("{us:.1} us"),
        _ if us < 1e6 => format!("{:.2} ms", us / 1e3),
        _ => format!("{:.2} s", us / 1e6),
    }
}
