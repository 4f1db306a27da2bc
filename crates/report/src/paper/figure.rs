//! The names of figures of a run's summary on an axis, and how their values are written.

use flowsched_papers::Kind;

use crate::format::{duration, short, size};
use crate::scale::Quantity;

/// The last words in the names of figures over several values. Titles begin with these words.
const STATISTICS: [&str; 7] = ["mean", "p50", "p95", "p99", "p999", "max", "min"];

/// The axis of a figure. For example, `parts.short.fct_us.p99` has the title `p99 FCT, short` and values in
/// units of time.
pub(super) fn quantity_of(figure: &str) -> Quantity {
    let (mut title, mut of) = (String::new(), String::new());
    let mut statistic = "";
    let mut words = figure.split('.');
    while let Some(word) = words.next() {
        match word {
            "parts" | "links" => of = words.next().unwrap_or_default().to_owned(),
            "all" | "small" | "medium" | "large" => of = format!("{word} flows"),
            word if STATISTICS.contains(&word) => statistic = word,
            word => title = [title, noun(word)].join(" ").trim().to_owned(),
        }
    }
    let title = [statistic, &title].join(" ").trim().to_owned();
    let title = if of.is_empty() { title } else { format!("{title}, {of}") };
    Quantity { title, column: figure.to_owned(), label: label(figure) }
}

/// The name of a figure without its unit.
fn noun(word: &str) -> String {
    match word {
        "fct_us" => "FCT".to_owned(),
        "query_us" => "query time".to_owned(),
        other => {
            let units = ["_us", "_bytes", "_gbps"];
            let bare = units.into_iter().find_map(|unit| other.strip_suffix(unit));
            bare.unwrap_or(other).replace('_', " ")
        }
    }
}

fn label(figure: &str) -> fn(f64) -> String {
    let has_unit = |unit: &str| figure.split('.').any(|word| word.ends_with(unit));
    match () {
        () if has_unit("_us") => |value| short(duration(value)),
        () if has_unit("_bytes") => |value| short(size(value)),
        () if has_unit("_gbps") => |value| format!("{} Gb/s", Kind::Value.in_words(value)),
        () => |value| Kind::Value.in_words(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_a_title_and_a_unit() {
        let said = |figure: &str| {
            let of = quantity_of(figure);
            (of.title, (of.label)(1500.0))
        };
        let expected = [
            ("fct_us.small.mean", "mean FCT, small flows", "1.5 ms"),
            ("parts.short.fct_us.p99", "p99 FCT, short", "1.5 ms"),
            ("parts.long.goodput_gbps.mean", "mean goodput, long", "1500 Gb/s"),
            ("queue_bytes.p99", "p99 queue", "1.5 KB"),
            ("links.card.utilisation", "utilisation, card", "1500"),
            ("packets.reordered", "packets reordered", "1500"),
            ("application_throughput", "application throughput", "1500"),
        ];
        for (figure, title, value) in expected {
            assert_eq!(said(figure), (title.to_owned(), value.to_owned()));
        }
    }
}
