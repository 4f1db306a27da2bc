//! The table of slowdown by flow size, as papers on transport print it.

use flowsched_experiment::results::{Point, SizeBin, SlowdownOfBin, Summary};
use maud::{Markup, html};

use crate::format::{count, short, size};

/// The slowdowns of each scheme at one point, in bins of equally many flows.
pub(super) fn size_bins(summary: &Summary, bins: &[SizeBin], point: &Point) -> Markup {
    let bins: Vec<&SizeBin> = bins.iter().filter(|bin| bin.point == *point).collect();
    let schemes = summary.schemes();
    html! {
        @if bins.is_empty() { p.empty { "No flow finished." } } @else {
            p.note {
                "FCT over the FCT of the same flow alone on the idle network, of all seeds together. Bins \
                 have equally many flows."
            }
            div.scroll tabindex="0" role="region" aria-label="Slowdown by flow size" {
                table aria-label="Slowdown by flow size and scheme" {
                    thead {
                        tr {
                            th scope="col" rowspan="2" { "Flow size" }
                            th scope="col" rowspan="2" { "Flows" }
                            @for scheme in &schemes { th scope="colgroup" colspan="3" { (scheme) } }
                        }
                        tr {
                            @for _ in &schemes {
                                th scope="col" { "Median" }
                                th scope="col" { "95th" }
                                th scope="col" { "99th" }
                            }
                        }
                    }
                    tbody {
                        @for bin in bins {
                            tr {
                                th scope="row" { (range(bin)) }
                                td { (count(bin.schemes.iter().map(|one| one.flows).max().unwrap_or(0))) }
                                @for one in &bin.schemes { (cells(one)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cells(one: &SlowdownOfBin) -> Markup {
    let cell = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    html! { @for value in [one.p50, one.p95, one.p99] { td { (cell(value)) } } }
}

fn range(bin: &SizeBin) -> String {
    let text = |bytes: u64| short(size(bytes as f64));
    match bin.from_bytes == bin.to_bytes {
        true => text(bin.to_bytes),
        false => format!("{} to {}", text(bin.from_bytes), text(bin.to_bytes)),
    }
}
