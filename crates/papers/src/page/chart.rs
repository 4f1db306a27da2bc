//! A claim's published numbers and measured intervals beside each other, as SVG.

use std::fmt::Write;

use crate::row::{Row, in_words};

/// Columns of the picture: names, then the axis.
const WIDTH: f64 = 760.0;
const NAMES: f64 = 210.0;
const RIGHT: f64 = 24.0;
const LINE: f64 = 24.0;
const TOP: f64 = 8.0;
const BELOW: f64 = 30.0;

/// Colours that colour-blind readers can tell apart (Okabe and Ito).
const PUBLISHED: &str = "#d55e00";
const MEASURED: &str = "#0072b2";

/// The chart of a claim's rows; `None` if no row has both a published number and a measured one.
pub fn chart(rows: &[&Row]) -> Option<String> {
    let drawn: Vec<Drawn<'_>> = rows.iter().filter_map(|row| Drawn::new(row)).collect();
    let axis = Axis::around(&drawn)?;
    let height = TOP + LINE * drawn.len() as f64 + BELOW;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"{}: published and measured\" font-family=\"sans-serif\" font-size=\"12\">\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>",
        drawn[0].row.id
    );
    for (place, one) in drawn.iter().enumerate() {
        one.draw(&axis, TOP + LINE * (place as f64 + 0.5), &mut svg);
    }
    axis.draw(height - BELOW, drawn[0].row, &mut svg);
    svg.push_str("</svg>");
    Some(svg)
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

    fn draw(&self, axis: &Axis, y: f64, svg: &mut String) {
        let name = if self.row.value.is_empty() { &self.row.id } else { &self.row.value };
        let name = name.replace('&', "&amp;").replace('<', "&lt;");
        let (least, most) = (axis.x(self.published.0), axis.x(self.published.1));
        let (low, high) = (axis.x(self.interval.0), axis.x(self.interval.1));
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>\
             <rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"14\" rx=\"2\" \
             fill=\"{PUBLISHED}\" fill-opacity=\"0.75\"/>\
             <line x1=\"{low:.1}\" x2=\"{high:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" \
             stroke=\"{MEASURED}\" stroke-width=\"3\"/>\
             <circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{MEASURED}\"/>",
            NAMES - 10.0,
            y + 4.0,
            least - 2.0,
            y - 7.0,
            most - least + 4.0,
            axis.x(self.measured),
        );
    }
}

/// Numbers from left to right.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    /// From 0, or the least number below it, to the largest; `None` without rows.
    fn around(drawn: &[Drawn<'_>]) -> Option<Axis> {
        let all = || drawn.iter().flat_map(Drawn::all);
        let (low, high) = (all().fold(0.0, f64::min), all().fold(0.0, f64::max));
        (low < high).then_some(Axis { low, high })
    }

    fn x(&self, number: f64) -> f64 {
        NAMES + (number - self.low) / (self.high - self.low) * (WIDTH - NAMES - RIGHT)
    }

    fn draw(&self, y: f64, row: &Row, svg: &mut String) {
        let zero = self.x(0.0);
        let _ = write!(
            svg,
            "<line x1=\"{zero:.1}\" x2=\"{zero:.1}\" y1=\"{TOP}\" y2=\"{y:.1}\" stroke=\"#999\"/>\
             <line x1=\"{NAMES}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#999\"/>",
            WIDTH - RIGHT
        );
        let step = step((self.high - self.low) / 5.0);
        let mut tick = (self.low / step).ceil() * step;
        while tick <= self.high {
            let label = in_words(row.kind, if tick.abs() < step / 2.0 { 0.0 } else { tick });
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555\">{label}</text>",
                self.x(tick),
                y + 18.0
            );
            tick += step;
        }
    }
}

/// The largest of 1, 2 and 5 times a power of ten that is not above `most`.
fn step(most: f64) -> f64 {
    let power = 10f64.powf(most.log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step <= most).unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(step(0.13), 0.1);
        assert_eq!(step(73.0), 50.0);
        assert_eq!(step(2.0), 2.0);
    }
}
