//! The page's section on the lab: beside the simulation, in real time, and its scale.

use flowsched_experiment::results::Summary;
use maud::{Markup, html};

use crate::beside;
use crate::lab::{TITLE, legend, table};

/// The section for the lab's results.
pub(super) fn lab(summary: &Summary) -> Markup {
    html! {
        section #lab {
            h2 { "The lab beside the simulation" }
            @for point in summary.points() {
                @if !point.is_empty() { h3 { code { (point) } } }
                (as_table("The lab beside the simulation", &beside::table(summary, point)))
            }
            h2 { (TITLE) }
            (as_table(TITLE, &table(summary)))
            p.note { (legend(summary)) }
            h2 { "Scale" }
            ul { @for line in &summary.scale { li { (line) } } }
        }
    }
}

/// Rows of cells, the header first. A row of one cell is a title.
fn as_table(label: &str, rows: &[Vec<String>]) -> Markup {
    let Some((head, rows)) = rows.split_first() else { return html! {} };
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table aria-label=(label) {
                thead { tr { @for cell in head { th scope="col" { (cell) } } } }
                tbody {
                    @for row in rows {
                        @match row.as_slice() {
                            [title] => tr.class { th colspan=(head.len()) scope="rowgroup" { (title) } },
                            [first, cells @ ..] => tr {
                                th scope="row" { (first.trim()) }
                                @for cell in cells { td { (cell) } }
                            },
                            [] => {}
                        }
                    }
                }
            }
        }
    }
}
