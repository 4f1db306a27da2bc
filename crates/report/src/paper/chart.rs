//! Charts of a claim's published numbers or orders beside the measured intervals.

use flowsched_papers::{Kind, Published, Row};
use maud::{Markup, html};

use crate::scale::{Axis, Quantity, Scale};
use crate::style::{AXIS, GRID, Look};
use crate::svg::{Anchor, Frame, drawing, line, marker, name, px, text};
use crate::ticks::{level_ticks, whisker};

const WIDTH: f64 = 700.0;
/// Height of a row.
const ROW: f64 = 24.0;
/// Space for the names of values, and the most letters of a name.
const NAMES: f64 = 270.0;
const LETTERS: usize = 38;
/// Space at the right, so that the last number of the axis is not cut off, and for the words of orders.
const RIGHT: f64 = 24.0;
const RIGHT_OF_ORDERS: f64 = 84.0;
/// Height of the axis's numbers.
const LABELS: f64 = 24.0;
/// Half the height of the mark for a published number.
const HALF: f64 = 7.0;
/// The least part of the largest gap that an axis of orders shows on either side of "no difference".
const SIDE: f64 = 0.15;

/// The chart of a claim's rows: published numbers as red bars, gaps that agree with a published order as red areas,
/// measured figures as blue points with their intervals. `None` if no row has both a published and a measured
/// figure.
pub(super) fn claim_chart(rows: &[&Row]) -> Option<String> {
    let drawn: Vec<Drawn<'_>> = rows.iter().filter_map(|row| Drawn::new(row)).collect();
    let first = drawn.first()?.row;
    let mut held: Vec<f64> = drawn.iter().flat_map(Drawn::all).collect();
    let is_order = first.kind == Kind::Order;
    if is_order {
        let side = SIDE * held.iter().map(|gap| gap.abs()).fold(0.0, f64::max);
        held.extend([-side, side]);
    }
    let axis = Axis::holding(quantity(first.kind), Scale::Linear, held);
    let (caption, right) = match is_order {
        true => (
            "Measured gaps to the baseline as blue points with 95% intervals. Gaps in the red areas agree with the paper.",
            RIGHT_OF_ORDERS,
        ),
        false => (
            "Published numbers as red bars, measured ones as blue points with 95% intervals.",
            RIGHT,
        ),
    };
    let frame = Frame { title: &first.id, context: "", caption, legend: Vec::new() };
    Some(drawing(&frame, WIDTH, plot(&axis, &drawn, WIDTH - NAMES - right)))
}

pub(super) fn quantity(kind: Kind) -> Quantity {
    let label: fn(f64) -> String = match kind {
        Kind::Reduction | Kind::Gap | Kind::Order => |share| Kind::Gap.in_words(share),
        Kind::Ratio | Kind::Value | Kind::Property => |number| Kind::Value.in_words(number),
    };
    Quantity { title: String::new(), column: String::new(), label }
}

fn plot(axis: &Axis, drawn: &[Drawn<'_>], span: f64) -> (f64, Markup) {
    let at = |value: f64| NAMES + span * axis.fraction(value);
    let bottom = ROW * drawn.len() as f64;
    let plot = html! {
        @for tick in level_ticks(axis, span) {
            (line((at(tick), 0.0), (at(tick), bottom), GRID, 1.0))
            (text(at(tick), bottom + 11.0, Anchor::Middle, &axis.text(tick)))
        }
        (line((NAMES, bottom), (NAMES + span, bottom), AXIS, 1.0))
        (line((at(0.0), 0.0), (at(0.0), bottom), AXIS, 1.5))
        @for (place, row) in drawn.iter().enumerate() {
            (row.draw(axis, ROW * (place as f64 + 0.5), span, &at))
        }
    };
    (bottom + LABELS, plot)
}

/// A row that has a published and a measured figure.
struct Drawn<'a> {
    row: &'a Row,
    published: Published,
    measured: f64,
    interval: (f64, f64),
}

impl<'a> Drawn<'a> {
    fn new(row: &'a Row) -> Option<Drawn<'a>> {
        let (published, measured) = (row.published?, row.measured?);
        let interval = row.interval.unwrap_or((measured, measured));
        let drawn = Drawn { row, published, measured, interval };
        drawn.all().iter().all(|number| number.is_finite()).then_some(drawn)
    }

    fn all(&self) -> Vec<f64> {
        let measured = [self.measured, self.interval.0, self.interval.1];
        let published = self.published.ends().into_iter().flat_map(|(least, most)| [least, most]);
        published.chain(measured).collect()
    }

    fn draw(&self, axis: &Axis, y: f64, span: f64, at: &impl Fn(f64) -> f64) -> Markup {
        let ours = Look::at(0);
        let title = if self.row.value.is_empty() { &self.row.id } else { &self.row.value };
        html! {
            (text(NAMES - 8.0, y, Anchor::End, &name(title, LETTERS)))
            (self.draw_published(y, span, at))
            (marker(ours, (at(self.measured), y), 4.0))
            (whisker(axis, self.interval, ours.colour, |value, across| (at(value), y + across)))
        }
    }

    fn draw_published(&self, y: f64, span: f64, at: &impl Fn(f64) -> f64) -> Markup {
        let colour = Look::at(1).colour;
        let (top, high) = (y - HALF, 2.0 * HALF);
        if let Published::Order(expected) = self.published {
            // One end or both are infinite.
            let (least, most) = expected.gaps();
            let within = |gap: f64| at(gap).clamp(NAMES, NAMES + span);
            let (left, right) = (within(least), within(most));
            return html! {
                rect x=(px(left)) y=(px(top)) width=(px(right - left)) height=(px(high))
                    fill=(colour) fill-opacity="0.25" {}
                (text(NAMES + span + 8.0, y, Anchor::Start, expected.words()))
            };
        }
        let Some((least, most)) = self.published.ends() else { return html! {} };
        let (left, right) = (at(least), at(most));
        html! {
            rect x=(px(left - 2.0)) y=(px(top)) width=(px(right - left + 4.0)) height=(px(high))
                fill=(colour) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use flowsched_papers::{Expected, Verdict};

    use super::*;

    fn row(published: Option<Published>, measured: Option<f64>) -> Row {
        Row {
            id: "a.b".to_owned(),
            value: "small & tail".to_owned(),
            kind: Kind::Reduction,
            bound: None,
            published,
            measured,
            interval: measured.map(|figure| (figure - 0.1, figure + 0.1)),
            extremes: None,
            verdict: Verdict::Undecided,
            reason: None,
            scale: "quick".to_owned(),
            seeds: Some(5),
            cpu_s: None,
            experiment_hash: None,
            curve: None,
            schemes: Vec::new(),
            drawings: Vec::new(),
        }
    }

    #[test]
    fn rows_with_both_numbers_are_drawn_and_others_are_not() {
        let both = row(Some(Published::Number(0.5)), Some(0.3));
        let unmeasured = row(Some(Published::Range([0.1, 0.2])), None);
        let svg = claim_chart(&[&both, &unmeasured]).unwrap();
        assert_eq!(svg.matches("small &amp; tail").count(), 1, "{svg}");
        assert!(svg.contains("50.0%") && !svg.contains("\n\n"), "{svg}");
        assert_eq!(claim_chart(&[&unmeasured]), None);
        assert_eq!(claim_chart(&[&row(None, Some(f64::INFINITY))]), None);
    }

    #[test]
    fn an_order_is_an_area_beside_the_measured_gap() {
        let order = |expected, gap| Row {
            kind: Kind::Order,
            ..row(Some(Published::Order(expected)), Some(gap))
        };
        let (lower, alike) = (order(Expected::Lower, -0.4), order(Expected::Alike, 0.3));
        let svg = claim_chart(&[&lower, &alike]).unwrap();
        assert_eq!(svg.matches("fill-opacity").count(), 2, "{svg}");
        assert!(svg.contains(">lower<") && svg.contains(">alike<"), "{svg}");
        assert!(!svg.contains("inf") && !svg.contains("NaN"), "{svg}");
        // From the left end of the plot to "no difference", and between a tenth less and a tenth more.
        let widths = svg.split("<rect ").filter(|rect| rect.contains("fill-opacity"));
        let widths =
            widths.map(|rect| rect.split("width=\"").nth(1).unwrap().split('"').next().unwrap());
        let widths: Vec<f64> = widths.map(|width| width.parse().unwrap()).collect();
        assert!(widths[0] > 2.0 * widths[1] && widths[1] > 10.0, "{widths:?}");
    }
}
