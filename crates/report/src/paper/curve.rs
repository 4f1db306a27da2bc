//! A claim's figures along the sweeps of their experiments, with the published numbers where the paper has them.

use flowsched_papers::{Claim, Curve, Row};
use maud::{Markup, html};

use super::chart::quantity;
use crate::scale::{Axis, Quantity, Scale};
use crate::style::{AXIS, GRID, Look};
use crate::svg::{Anchor, Frame, curve, drawing, line, marker, name, px, text, width};
use crate::ticks::{level_ticks, whisker};

const WIDTH: f64 = 700.0;
/// Width and height of a panel, without its axes' numbers.
const PANEL: (f64, f64) = (268.0, 130.0);
/// Height of a panel's title, and of the numbers and the title of its lower axis.
const TITLE: f64 = 20.0;
const LABELS: f64 = 40.0;
/// Space for the numbers at the left of a panel.
const LEFT: f64 = 62.0;
/// Letters of a title that have room.
const LETTERS: usize = 44;
/// Half the length of what marks a published number.
const HALF: f64 = 7.0;

/// The curves of a claim's rows, a panel for each: measured figures as blue points with their intervals, and
/// published ones as red bars where the paper has one number, as red lines where it has the least and the most.
/// `None` if no row has a curve.
pub(super) fn curve_chart(claim: &Claim, rows: &[&Row]) -> Option<String> {
    let panels = panels(claim, rows);
    if panels.is_empty() {
        return None;
    }
    let frame = Frame {
        title: &claim.id,
        context: "",
        caption: "Measured figures as blue points with 95% intervals, published ones as red bars or lines.",
        legend: Vec::new(),
    };
    let row_height = TITLE + PANEL.1 + LABELS;
    let plot = html! {
        @for (place, panel) in panels.iter().enumerate() {
            @let left = LEFT + (place % 2) as f64 * (PANEL.0 + LEFT + 10.0);
            @let top = TITLE + (place / 2) as f64 * row_height;
            g transform={ "translate(" (px(left)) " " (px(top)) ")" } { (panel.draw()) }
        }
    };
    Some(drawing(&frame, WIDTH, (row_height * panels.len().div_ceil(2) as f64, plot)))
}

/// A curve and what was published of it.
struct Panel<'a> {
    curve: &'a Curve,
    names: Vec<&'a str>,
    of: Quantity,
    marks: Vec<Mark>,
}

/// A published number or range.
struct Mark {
    /// Where along the curve; everywhere if it is the least or the most.
    place: Option<f64>,
    ends: (f64, f64),
}

/// A panel for each curve: values that are the least and the most of one share it.
fn panels<'a>(claim: &'a Claim, rows: &[&'a Row]) -> Vec<Panel<'a>> {
    let mut panels: Vec<Panel<'a>> = Vec::new();
    for row in rows {
        let value = claim.values.iter().find(|value| value.name == row.value);
        // A recorded file can hold anything.
        let curve = row.curve.as_ref().filter(|curve| curve.points.len() > 1);
        let (Some(curve), Some(value)) = (curve, value) else { continue };
        let measure = if row.is_in_lab() { &value.lab } else { &value.measure };
        let (Some(measure), Some(ends)) = (measure, row.published.and_then(|it| it.ends())) else {
            continue;
        };
        let mark = Mark { place: measure.place_on(curve), ends };
        match panels.iter_mut().find(|panel| panel.curve == curve) {
            Some(panel) => {
                panel.names.push(&row.value);
                panel.marks.push(mark);
            }
            None => panels.push(Panel {
                curve,
                names: vec![&row.value],
                of: quantity(row.kind),
                marks: vec![mark],
            }),
        }
    }
    panels
}

/// The names of values that share a panel, `"web search, least and most"`.
fn title(names: &[&str]) -> String {
    let parts: Option<Vec<(&str, &str)>> =
        names.iter().map(|name| name.rsplit_once(", ")).collect();
    match parts.as_deref() {
        Some([(first, least), (second, most)]) if first == second => {
            format!("{first}, {least} and {most}")
        }
        _ => names.join("; "),
    }
}

impl Panel<'_> {
    fn draw(&self) -> Markup {
        let (x, y) = (self.level_axis(), self.upright_axis());
        let (wide, high) = PANEL;
        let across = |value: f64| wide * x.fraction(value);
        let up = |value: f64| high * (1.0 - y.fraction(value));
        let (ours, theirs) = (Look::at(0), Look::at(1));
        let points = self.curve.points.iter().map(|one| (across(one.at), up(one.measured)));
        html! {
            (text(0.0, -10.0, Anchor::Start, &name(&title(&self.names), LETTERS)))
            @for tick in y.ticks(5) {
                (line((0.0, up(tick)), (wide, up(tick)), GRID, 1.0))
                (text(-6.0, up(tick), Anchor::End, &y.text(tick)))
            }
            @for tick in level_ticks(&x, wide) {
                (text(across(tick), high + 11.0, Anchor::Middle, &x.text(tick)))
            }
            (text(wide / 2.0, high + 28.0, Anchor::Middle, &self.curve.key))
            (line((0.0, 0.0), (0.0, high), AXIS, 1.0))
            (line((0.0, up(0.0)), (wide, up(0.0)), AXIS, 1.0))
            @for mark in &self.marks { (mark.draw(&across, &up, theirs)) }
            (curve(&points.collect::<Vec<_>>(), ours))
            @for one in &self.curve.points {
                (marker(ours, (across(one.at), up(one.measured)), 4.0))
                @if let Some(interval) = one.interval {
                    (whisker(&y, interval, ours.colour, |value, aside| (across(one.at) + aside, up(value))))
                }
            }
        }
    }

    fn level_axis(&self) -> Axis {
        let places: Vec<f64> = self.curve.points.iter().map(|one| one.at).collect();
        let (from, to) = (places[0], places[places.len() - 1]);
        let room = (to - from) * 0.06;
        let title = self.curve.key.clone();
        let of = Quantity { column: title.clone(), title, label: |value| value.to_string() };
        let axis = Axis::between(of, Scale::Linear, (from - room, to + room));
        let fits = places.iter().map(|at| width(&axis.text(*at)) + 8.0).sum::<f64>() < PANEL.0;
        if fits { axis.with_ticks(places) } else { axis }
    }

    fn upright_axis(&self) -> Axis {
        let measured = self.curve.points.iter().flat_map(|one| {
            let (low, high) = one.interval.unwrap_or((one.measured, one.measured));
            [one.measured, low, high]
        });
        let published = self.marks.iter().flat_map(|mark| [mark.ends.0, mark.ends.1]);
        Axis::holding(self.of.clone(), Scale::Linear, measured.chain(published))
    }
}

impl Mark {
    fn draw(&self, across: &impl Fn(f64) -> f64, up: &impl Fn(f64) -> f64, look: Look) -> Markup {
        let (least, most) = (up(self.ends.0), up(self.ends.1));
        match self.place {
            Some(place) => html! {
                rect x=(px(across(place) - HALF)) y=(px(most - 2.0)) width=(px(2.0 * HALF))
                    height=(px(least - most + 4.0)) fill=(look.colour) {}
            },
            None => html! {
                (line((0.0, least), (PANEL.0, least), look.colour, 1.5))
                @if most < least { (line((0.0, most), (PANEL.0, most), look.colour, 1.5)) }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use flowsched_papers::{Claims, Curve, Kind, OnCurve, Published, Verdict};

    use super::*;

    const CLAIM: &str = "[[claim]]\nid = \"a.b\"\npaper = \"a\"\nsection = \"1\"\nwhere = \"sim\"\nwords = \"\"\n\
                         setting = \"\"\nmetric = \"\"\nkind = \"reduction\"\n";

    /// A claim with a value for each name and what its measure has more, and their rows along two loads.
    fn claim(values: &[(&str, &str, f64)]) -> (Claims, Vec<Row>) {
        let of_claim = |(name, more, published): &(&str, &str, f64)| {
            format!(
                "[[claim.value]]\nname = \"{name}\"\npublished = {published}\n\
                 measure = {{ experiment = \"e\", figure = \"fct_us.all.mean\", scheme = \"s\", baseline = \"t\", {more} }}\n"
            )
        };
        let text = values.iter().map(of_claim).collect::<String>();
        let point = |at, measured| OnCurve { at, measured, interval: None };
        let row = |(name, _, published): &(&str, &str, f64)| Row {
            id: "a.b".to_owned(),
            value: (*name).to_owned(),
            kind: Kind::Reduction,
            bound: None,
            published: Some(Published::Number(*published)),
            measured: Some(0.2),
            interval: None,
            verdict: Verdict::Undecided,
            reason: None,
            scale: "quick".to_owned(),
            seeds: Some(5),
            cpu_s: None,
            curve: Some(Curve {
                key: "workload.load".to_owned(),
                points: vec![point(0.5, 0.1), point(0.8, 0.2)],
            }),
        };
        (Claims::parse(&(CLAIM.to_owned() + &text)).unwrap(), values.iter().map(row).collect())
    }

    fn drawn(values: &[(&str, &str, f64)]) -> String {
        let (claims, rows) = claim(values);
        curve_chart(&claims.all[0], &rows.iter().collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn the_least_and_the_most_are_lines_in_one_panel() {
        let svg =
            drawn(&[("x, least", "over = \"least\"", 0.3), ("x, most", "over = \"most\"", 0.4)]);
        let red = Look::at(1).colour;
        assert!(svg.contains("x, least and most"), "{svg}");
        assert_eq!(svg.matches("workload.load").count(), 1);
        assert_eq!(svg.matches(&format!("stroke=\"{red}\"")).count(), 2);
    }

    #[test]
    fn a_curve_without_points_is_not_drawn() {
        let (claims, mut rows) = claim(&[("x", "over = \"most\"", 0.3)]);
        rows[0].curve.as_mut().unwrap().points.clear();
        assert_eq!(curve_chart(&claims.all[0], &rows.iter().collect::<Vec<_>>()), None);
    }

    #[test]
    fn a_number_at_one_load_is_a_bar_there() {
        let svg = drawn(&[("x", "at = { \"workload.load\" = \"0.8\" }", 0.3)]);
        let red = Look::at(1).colour;
        assert_eq!(svg.matches(&format!("fill=\"{red}\"")).count(), 1, "{svg}");
        assert!(!svg.contains(&format!("stroke=\"{red}\"")));
    }
}
