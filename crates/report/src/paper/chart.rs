//! A claim's published numbers and measured intervals beside each other.

use flowsched_papers::{Kind, Row};
use maud::{Markup, html};

use crate::scale::{Axis, Quantity, Scale};
use crate::style::{AXIS, GRID, Look};
use crate::svg::{Anchor, Frame, drawing, line, marker, name, px, text};
use crate::ticks::{level_ticks, whisker};

const WIDTH: f64 = 700.0;
/// Height of a row.
const ROW: f64 = 24.0;
/// Space for the names of values, and the longest of them in letters.
const NAMES: f64 = 270.0;
const LETTERS: usize = 38;
/// Space at the right, so that the last number of the axis is not cut off.
const RIGHT: f64 = 24.0;
/// Height of the axis's numbers.
const LABELS: f64 = 24.0;
/// Half the height of what marks a published number.
const HALF: f64 = 7.0;

/// The chart of a claim's rows: published numbers as red bars, measured ones as blue points with
/// their intervals. `None` if no row has both.
pub fn claim_chart(rows: &[&Row]) -> Option<String> {
    let drawn: Vec<Drawn<'_>> = rows.iter().filter_map(|row| Drawn::new(row)).collect();
    let first = drawn.first()?.row;
    let axis =
        Axis::holding(quantity(first.kind), Scale::Linear, drawn.iter().flat_map(Drawn::all));
    let frame = Frame {
        title: &first.id,
        context: "",
        caption: "Published numbers as red bars, measured ones as blue points with 95% intervals.",
        legend: Vec::new(),
    };
    Some(drawing(&frame, WIDTH, plot(&axis, &drawn)))
}

pub(super) fn quantity(kind: Kind) -> Quantity {
    let label: fn(f64) -> String = match kind {
        Kind::Reduction | Kind::Gap | Kind::Order => |share| Kind::Gap.in_words(share),
        Kind::Ratio | Kind::Value | Kind::Property => |number| Kind::Value.in_words(number),
    };
    Quantity { title: String::new(), column: String::new(), label }
}

fn plot(axis: &Axis, drawn: &[Drawn<'_>]) -> (f64, Markup) {
    let span = WIDTH - NAMES - RIGHT;
    let at = |value: f64| NAMES + span * axis.fraction(value);
    let bottom = ROW * drawn.len() as f64;
    let plot = html! {
        @for tick in level_ticks(axis, span) {
            (line((at(tick), 0.0), (at(tick), bottom), GRID, 1.0))
            (text(at(tick), bottom + 11.0, Anchor::Middle, &axis.text(tick)))
        }
        (line((NAMES, bottom), (NAMES + span, bottom), AXIS, 1.0))
        (line((at(0.0), 0.0), (at(0.0), bottom), AXIS, 1.0))
        @for (place, row) in drawn.iter().enumerate() {
            (row.draw(axis, ROW * (place as f64 + 0.5), &at))
        }
    };
    (bottom + LABELS, plot)
}

/// A row with numbers on both sides.
struct Drawn<'a> {
    row: &'a Row,
    published: (f64, f64),
    measured: f64,
    interval: (f64, f64),
}

impl<'a> Drawn<'a> {
    fn new(row: &'a Row) -> Option<Drawn<'a>> {
        let published = row.published?.ends()?;
        let measured = row.measured?;
        let interval = row.interval.unwrap_or((measured, measured));
        let drawn = Drawn { row, published, measured, interval };
        drawn.all().iter().all(|number| number.is_finite()).then_some(drawn)
    }

    fn all(&self) -> [f64; 5] {
        [self.published.0, self.published.1, self.measured, self.interval.0, self.interval.1]
    }

    fn draw(&self, axis: &Axis, y: f64, at: &impl Fn(f64) -> f64) -> Markup {
        let (ours, theirs) = (Look::at(0), Look::at(1));
        let title = if self.row.value.is_empty() { &self.row.id } else { &self.row.value };
        let (least, most) = (at(self.published.0), at(self.published.1));
        html! {
            (text(NAMES - 8.0, y, Anchor::End, &name(title, LETTERS)))
            rect x=(px(least - 2.0)) y=(px(y - HALF)) width=(px(most - least + 4.0))
                height=(px(2.0 * HALF)) fill=(theirs.colour) {}
            (marker(ours, (at(self.measured), y), 4.0))
            (whisker(axis, self.interval, ours.colour, |value, across| (at(value), y + across)))
        }
    }
}

#[cfg(test)]
mod tests {
    use flowsched_papers::{Published, Verdict};

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
            curve: None,
            schemes: Vec::new(),
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
}
