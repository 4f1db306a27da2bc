//! A section's charts, which the reader can read, save, and save as data.

use maud::{Markup, PreEscaped, html};

use crate::chart::{Figure, Plot};
use crate::error::ReportError;

/// The charts side by side. The names of saved files begin with `study`.
pub(super) fn figures(study: &str, all: &[Figure]) -> Result<Markup, ReportError> {
    let all = all.iter().map(|figure| one(study, figure)).collect::<Result<Vec<_>, _>>()?;
    Ok(html! {
        @if all.is_empty() { p.empty { "There is nothing to draw." } }
        div.figures { @for figure in all { (figure) } }
    })
}

fn one(study: &str, figure: &Figure) -> Result<Markup, ReportError> {
    Ok(match &figure.plot {
        Ok(plot) => drawn(study, figure, plot)?,
        Err(why) => html! {
            figure {
                h3 { (figure.title) }
                p.empty { (why) }
                figcaption { (figure.caption) }
            }
        },
    })
}

fn drawn(study: &str, figure: &Figure, plot: &Plot) -> Result<Markup, ReportError> {
    let csv = plot.csv()?;
    let name = file_name(&[study, &figure.title, &figure.context].join(" "));
    let button = |kind: &str, text: &str| {
        let label = format!("Save {}: {} {}", text, figure.title, figure.context);
        html! {
            button type="button" data-save=(kind) aria-label=(label.trim()) { "Save " (text) }
        }
    };
    let width = plot.width_of_panels();
    Ok(html! {
        figure.wide[width.is_some()] style=[width.map(|width| format!("--width: {width:.0}px"))]
            data-name=(name) {
            div.drawing { (PreEscaped(plot.svg(figure))) }
            figcaption { (figure.caption) }
            div.save hidden { (button("svg", "SVG")) (button("csv", "CSV")) }
            template { (csv) }
        }
    })
}

/// A name that every file system takes: letters and digits, words joined by hyphens.
fn file_name(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '.');
    let words: Vec<&str> =
        words.map(|word| word.trim_matches('.')).filter(|w| !w.is_empty()).collect();
    words.join("-").chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_plain() {
        let text = "A/B: \"PIAS\", mean FCT ../ workload.load = 0.8";
        assert_eq!(file_name(text), "a-b-pias-mean-fct-workload.load-0.8");
    }
}
