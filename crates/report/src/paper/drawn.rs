//! Charts of a claim's figures over time and of distributions, from the tables of the runs, with the published numbers.

use flowsched_papers::{Area, Claim, Distribution, Drawing, DrawnOf, OverTime, Row, Series};
use maud::{Markup, html};

use super::curve::{Of, place_in};
use super::panel::{
    PANEL, PUBLISHED, WIDTH, axes, height_of, in_columns, numbers, published, title_of_panel,
    upright_ends,
};
use crate::charts::over_time::ends;
use crate::charts::{bytes, microseconds, percent, plain, quantity, times};
use crate::curves::{Steps, corners};
use crate::scale::{Axis, Quantity, Scale};
use crate::style::Look;
use crate::svg::{Anchor, Frame, curve, drawing, text};
use crate::ticks::level_ticks;

/// Height of the lower axis's numbers and title, and their places below the plot.
const LABELS: f64 = 40.0;
const NUMBERS: f64 = 11.0;
const TITLE: f64 = 28.0;

/// The drawings of a claim's rows, with a panel for each. Published numbers are red. `None` if no row has a drawing
/// that the claim names.
pub(super) fn drawn_chart(claim: &Claim, rows: &[&Row], of: Of) -> Option<String> {
    let mut names: Vec<(String, usize)> = Vec::new();
    let all = rows.iter().flat_map(|row| row.drawings.iter().map(move |drawing| (*row, drawing)));
    let panels: Vec<Panel<'_>> =
        all.filter_map(|(row, drawing)| Panel::new(claim, row, drawing, &mut names)).collect();
    if panels.is_empty() {
        return None;
    }
    let mut legend: Vec<(String, usize)> =
        names.into_iter().map(|(name, place)| (name, look(place))).collect();
    if panels.iter().any(|panel| !panel.published.is_empty()) {
        legend.push(("published".to_owned(), PUBLISHED));
    }
    let caption = "Measured curves, over time with the first seed and of distributions over all seeds. \
                   Published numbers as red bars or lines.";
    let frame = Frame { title: &claim.id, context: of.context(), caption, legend };
    Some(drawing(&frame, WIDTH, in_columns(panels.iter().map(Panel::draw))))
}

/// A drawing over its axes, and what was published of it.
struct Panel<'a> {
    title: &'a str,
    of: DrawnOf,
    x: Axis,
    y: Axis,
    /// The curves, each with the place of its name.
    curves: Vec<(usize, &'a Series)>,
    published: Vec<Area>,
}

/// The place of the look of a curve. Published numbers have a look of their own.
fn look(place: usize) -> usize {
    if place < PUBLISHED { place } else { place + 1 }
}

impl<'a> Panel<'a> {
    /// The panel of a row's drawing. `None` if the claim does not name the drawing, or if it has no curve.
    fn new(
        claim: &Claim,
        row: &Row,
        drawing: &'a Drawing,
        names: &mut Vec<(String, usize)>,
    ) -> Option<Panel<'a>> {
        let published = claim.areas(&row.value, &drawing.title)?;
        // A recorded file can hold anything.
        let drawn = drawing.curves.iter().filter(|curve| curve.points().count() > 1);
        let curves: Vec<(usize, &Series)> =
            drawn.map(|curve| (place_in(names, &curve.name), curve)).collect();
        if curves.is_empty() {
            return None;
        }
        let (x, y) = axes_of(drawing.of, &curves, &published);
        Some(Panel { title: &drawing.title, of: drawing.of, x, y, curves, published })
    }

    /// The height of the panel without its title, and the panel.
    fn draw(&self) -> (f64, Markup) {
        let (wide, high) = PANEL;
        let across = |value: f64| wide * self.x.fraction(value);
        let places = |series: &Series| -> Vec<(f64, f64)> {
            let places: Vec<(f64, f64)> =
                series.points().map(|(x, y)| (across(x), height_of(&self.y, y))).collect();
            match self.of {
                DrawnOf::OverTime(OverTime::QueuePackets) => places,
                _ => corners(&places, Steps::UntilTheNext),
            }
        };
        let plot = html! {
            (title_of_panel(self.title))
            (numbers(&self.y))
            @for tick in level_ticks(&self.x, wide) {
                (text(across(tick), high + NUMBERS, Anchor::Middle, &self.x.text(tick)))
            }
            (text(wide / 2.0, high + TITLE, Anchor::Middle, &self.x.title))
            (axes(&self.y))
            @for (place, series) in &self.curves {
                (curve(&places(series), Look::at(look(*place))))
            }
            @for area in &self.published { (published(area, across, &self.y)) }
        };
        (high + LABELS, plot)
    }
}

/// The lower and the upright axis of these curves.
fn axes_of(of: DrawnOf, curves: &[(usize, &Series)], published: &[Area]) -> (Axis, Axis) {
    let points = || curves.iter().flat_map(|(_, curve)| curve.points());
    let lower = published.iter().flat_map(lower_ends);
    let lower: Vec<f64> = points().map(|(x, _)| x).chain(lower).collect();
    let upright = points().map(|(_, y)| y).chain(published.iter().flat_map(upright_ends));
    let (x, y) = quantities(of);
    match of {
        DrawnOf::OverTime(_) => (
            Axis::between(x, Scale::Linear, ends(lower.into_iter())),
            Axis::holding(y, Scale::Linear, upright),
        ),
        DrawnOf::Distribution(_) => {
            (Axis::holding(x, Scale::Linear, lower), Axis::between(y, Scale::Linear, (0.0, 1.0)))
        }
    }
}

/// The ends of a published number on the lower axis.
fn lower_ends(area: &Area) -> impl Iterator<Item = f64> {
    let ends = match *area {
        Area::Lower { ends, .. } => Some(ends),
        Area::Upright { x, .. } => x,
    };
    ends.into_iter().flat_map(|(least, most)| [least, most])
}

/// What the lower and the upright axis measure.
fn quantities(of: DrawnOf) -> (Quantity, Quantity) {
    let time = || quantity("Time", "time_us", microseconds);
    let share = |title: &str| quantity(title, "share", percent);
    match of {
        DrawnOf::OverTime(OverTime::RateGbps) => {
            (time(), quantity("Rate (Gbit/s)", "rate_gbps", plain))
        }
        DrawnOf::OverTime(OverTime::Utilisation) => {
            (time(), quantity("Utilisation", "utilisation", percent))
        }
        DrawnOf::OverTime(OverTime::QueuePackets) => {
            (time(), quantity("Queue (packets)", "queue_packets", plain))
        }
        DrawnOf::Distribution(Distribution::FctRatio) => {
            (quantity("Ratio of FCTs", "fct_ratio", times), share("Share of flows"))
        }
        DrawnOf::Distribution(Distribution::QueueBytes) => {
            (quantity("Queue", "queue_bytes", bytes), share("Share of samples"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use flowsched_papers::Claims;

    use super::*;

    /// A claim whose queue of 5 to 10 packets is drawn, and whose other value is a share of flows.
    const CLAIM: &str = r#"
[[claim]]
id = "a.b"
paper = "a"
section = "1"
where = "sim"
words = ""
setting = ""
metric = ""
kind = "value"
[[claim.value]]
name = "queue"
published = [5, 10]
measure = { experiment = "e", figure = "drops", scheme = "s" }
[[claim.value.drawn]]
title = "Figure 7, queue"
of = { over_time = "queue_packets" }
links = "a: b to c"
mark = [{ x = [10000, 19000] }]
[[claim.value]]
name = "halved"
published = 0.4
measure = { experiment = "e", figure = "one_by_one.halved", scheme = "s" }
[[claim.value.drawn]]
title = "Figure 8"
of = { distribution = "fct_ratio" }
mark = [{ x = 0.5 }]
"#;

    fn series(name: &str, points: &[(f64, f64)]) -> Series {
        let (x, y) = points.iter().copied().unzip();
        Series { name: name.to_owned(), x, y }
    }

    /// The claim's rows, with these curves of the two drawings.
    fn rows(claims: &Claims, queue: Vec<Series>, shares: Vec<Series>) -> Vec<Row> {
        let claim = &claims.all[0];
        let of = [
            DrawnOf::OverTime(OverTime::QueuePackets),
            DrawnOf::Distribution(Distribution::FctRatio),
        ];
        let values = claim.values.iter().zip(of).zip([queue, shares]);
        let row = |((value, of), curves): ((_, DrawnOf), Vec<Series>)| {
            let value: &flowsched_papers::ClaimedValue = value;
            let title = value.drawn[0].title.clone();
            let row = Row::new(claim, value, &BTreeMap::new(), "quick");
            Row { drawings: vec![Drawing { title, of, curves }], ..row }
        };
        values.map(row).collect()
    }

    fn drawn(claims: &Claims, rows: &[Row]) -> Option<String> {
        drawn_chart(&claims.all[0], &rows.iter().collect::<Vec<_>>(), Of::Row)
    }

    #[test]
    fn a_drawing_is_a_panel_with_what_was_published() {
        let claims = Claims::parse(CLAIM).unwrap();
        let queue = vec![series("one & only", &[(0.0, 0.0), (9_000.0, 12.0), (21_000.0, 12.0)])];
        let shares = vec![series("s / t", &[(0.25, 0.0), (0.25, 0.5), (1.5, 1.0)])];
        let svg = drawn(&claims, &rows(&claims, queue, shares)).unwrap();
        let words = ["Figure 7, queue", "Figure 8", "one &amp; only", ">20 ms<", "Ratio of FCTs"];
        for words in words.into_iter().chain([">100%<", ">published<"]) {
            assert_eq!(svg.matches(words).count(), 1, "{words}: {svg}");
        }
        let red = Look::at(PUBLISHED).colour;
        let lines = svg.matches(&format!("stroke=\"{red}\" stroke-width=\"1.5\"")).count();
        assert_eq!(lines, 2, "the least and the most of a range: {svg}");
        assert_eq!(svg.matches(&format!("height=\"4\" fill=\"{red}\"")).count(), 1, "{svg}");
        // Three in the legend, one in each panel.
        assert_eq!(svg.matches("<polyline").count(), 5, "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn a_published_range_lies_where_it_holds() {
        let claims = Claims::parse(CLAIM).unwrap();
        let queue = vec![series("s", &[(0.0, 0.0), (20_000.0, 10.0)])];
        let svg = drawn(&claims, &rows(&claims, queue, Vec::new())).unwrap();
        // From 10 to 19 of 20 ms, in a panel of 250 pixels.
        let is_there =
            |line: &&str| line.starts_with("x1=\"125\"") && line.contains("x2=\"237.5\"");
        assert_eq!(svg.split("<line ").filter(is_there).count(), 2, "{svg}");
    }

    #[test]
    fn a_queue_is_joined_by_lines_and_a_share_holds_until_the_next() {
        let claims = Claims::parse(CLAIM).unwrap();
        let points = [(0.0, 0.0), (10_000.0, 10.0), (20_000.0, 10.0)];
        let corners = |queue: Vec<Series>, shares: Vec<Series>| {
            let svg = drawn(&claims, &rows(&claims, queue, shares)).unwrap();
            let last = svg.rsplit("<polyline points=\"").next().unwrap();
            last.split('"').next().unwrap().split(' ').count()
        };
        assert_eq!(corners(vec![series("s", &points)], Vec::new()), 3);
        assert_eq!(corners(Vec::new(), vec![series("s", &points)]), 5);
    }

    #[test]
    fn what_the_claim_does_not_name_and_what_is_empty_is_not_drawn() {
        let claims = Claims::parse(CLAIM).unwrap();
        assert_eq!(drawn(&claims, &rows(&claims, Vec::new(), Vec::new())), None);
        let mut rows = rows(&claims, vec![series("s", &[(0.0, 0.0), (1.0, 1.0)])], Vec::new());
        assert!(drawn(&claims, &rows).is_some());
        rows[0].drawings[0].title = "Figure 9".to_owned();
        assert_eq!(drawn(&claims, &rows), None);
        rows.iter_mut().for_each(|row| row.drawings.clear());
        assert_eq!(drawn(&claims, &rows), None);
    }
}
