//! Prometheus's text format: families of samples, names and escapes. The families themselves are in
//! `page.rs`.

use std::fmt::{Display, Write};

/// The prefix of every name.
const PREFIX: &str = "flowsched_";

/// A page of metrics under construction.
#[derive(Default)]
pub(super) struct Page(String);

impl Page {
    /// Begins a family whose values only grow. By Prometheus's rules `name` ends in `_total`.
    pub(super) fn counter(&mut self, name: &'static str, help: &str) -> Family<'_> {
        self.family(name, help, "counter")
    }

    /// Begins a family whose values rise and fall.
    pub(super) fn gauge(&mut self, name: &'static str, help: &str) -> Family<'_> {
        self.family(name, help, "gauge")
    }

    /// Begins a family with samples `_bucket`, `_sum` and `_count`.
    pub(super) fn histogram(&mut self, name: &'static str, help: &str) -> Family<'_> {
        self.family(name, help, "histogram")
    }

    fn family(&mut self, name: &'static str, help: &str, kind: &str) -> Family<'_> {
        let help = help.replace('\\', r"\\").replace('\n', r"\n");
        // Writing to a string never fails.
        let _ = writeln!(self.0, "# HELP {PREFIX}{name} {help}");
        let _ = writeln!(self.0, "# TYPE {PREFIX}{name} {kind}");
        Family { text: &mut self.0, name }
    }

    /// The text.
    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// A family of samples under construction.
pub(super) struct Family<'a> {
    text: &'a mut String,
    name: &'static str,
}

impl Family<'_> {
    /// Adds a sample without labels.
    pub(super) fn value(&mut self, value: impl Display) -> &mut Self {
        self.sample("", &[], value)
    }

    /// Adds a sample with labels.
    pub(super) fn labelled(
        &mut self,
        labels: &[(&str, &dyn Display)],
        value: impl Display,
    ) -> &mut Self {
        self.sample("", labels, value)
    }

    /// Adds a sample whose name is that of the family with `suffix` at its end.
    pub(super) fn sample(
        &mut self,
        suffix: &str,
        labels: &[(&str, &dyn Display)],
        value: impl Display,
    ) -> &mut Self {
        let _ = write!(self.text, "{PREFIX}{}{suffix}", self.name);
        for (place, (label, content)) in labels.iter().enumerate() {
            let before = if place == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{before}{label}=\"{}\"", escaped(&content.to_string()));
        }
        let after = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.text, "{after} {value}");
        self
    }
}

fn escaped(content: &str) -> String {
    content.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n")
}

/// Converts nanoseconds to seconds without rounding. A float would lose digits of a counter that
/// runs for months.
pub(super) fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_and_labels_are_escaped() {
        let mut page = Page::default();
        page.gauge("odd", "A \\ and\na line").labelled(&[("a", &"\\ \"\n"), ("b", &7)], 1);
        let expected = "# HELP flowsched_odd A \\\\ and\\na line\n\
             # TYPE flowsched_odd gauge\n\
             flowsched_odd{a=\"\\\\ \\\"\\n\",b=\"7\"} 1\n";
        assert_eq!(page.finish(), expected);
    }

    #[test]
    fn seconds_are_exact() {
        assert_eq!(seconds(1), "0.000000001");
        assert_eq!(seconds(u64::MAX), "18446744073.709551615");
    }
}
