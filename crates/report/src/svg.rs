//! Pieces of a drawing: text, lines, markers, and the frame with title and legend.
//!
//! A drawing needs nothing from the page around it: every piece carries its colours and sizes as
//! attributes, in the colours of paper. What may not live here: what a chart means, and where its
//! axes are.

use maud::{Markup, html};
use unicode_width::UnicodeWidthStr;

use crate::style::{Look, Marker, PAPER, TEXT};

/// Height of the text, in pixels.
const TEXT_SIZE: f64 = 11.5;
/// The approximate width of a letter.
const LETTER: f64 = 6.8;
/// How far below its middle a text's baseline is.
const BASELINE: f64 = 4.0;
/// Height of the title's letters, and the approximate width of one.
const TITLE_SIZE: f64 = 13.0;
const TITLE_LETTER: f64 = 7.8;
/// Height of a line of the title, the context or the legend.
const LINE: f64 = 17.0;
/// Length of a legend's piece of curve.
const SWATCH: f64 = 30.0;

/// Where a text lies relative to its place.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// The texts around the plot of a drawing.
pub(crate) struct Frame<'a> {
    pub title: &'a str,
    /// What the chart shows, below the title; may be empty.
    pub context: &'a str,
    /// What is plotted, for those who cannot see it or have only the drawing.
    pub caption: &'a str,
    /// The schemes' names and places; empty if the plot names its schemes itself.
    pub legend: Vec<(String, usize)>,
}

/// A number of pixels, to a tenth.
pub(crate) fn px(value: f64) -> String {
    // Adding 0 turns a negative zero into a positive one.
    ((value * 10.0).round() / 10.0 + 0.0).to_string()
}

/// The approximate width of a text, in pixels.
pub(crate) fn width(text: &str) -> f64 {
    LETTER * text.width() as f64
}

/// A scheme's name, short enough for a chart: its beginning and its end.
pub(crate) fn name(scheme: &str, most: usize) -> String {
    let letters: Vec<char> = scheme.chars().collect();
    if letters.len() <= most {
        return scheme.to_owned();
    }
    let start = most / 2;
    let end = letters.len() - (most - 1 - start);
    letters[..start].iter().chain(&['…']).chain(&letters[end..]).collect()
}

/// The text as XML can hold it: without control characters.
fn printable(text: &str) -> String {
    let allowed = |c: char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|c| if allowed(c) { c } else { ' ' }).collect()
}

/// A text whose middle is at height `y`.
pub(crate) fn text(x: f64, y: f64, anchor: Anchor, content: &str) -> Markup {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    html! {
        text x=(px(x)) y=(px(y + BASELINE)) text-anchor=(anchor) { (printable(content)) }
    }
}

/// A text that runs upwards, with its middle at this place.
pub(crate) fn upright_text(x: f64, y: f64, content: &str) -> Markup {
    html! {
        g transform={ "rotate(-90 " (px(x)) " " (px(y)) ")" } {
            (text(x, y, Anchor::Middle, content))
        }
    }
}

/// A straight line `width` pixels wide.
pub(crate) fn line(from: (f64, f64), to: (f64, f64), colour: &str, width: f64) -> Markup {
    html! {
        line x1=(px(from.0)) y1=(px(from.1)) x2=(px(to.0)) y2=(px(to.1)) stroke=(colour)
            stroke-width=(width) {}
    }
}

/// A curve in a scheme's look.
pub(crate) fn curve(points: &[(f64, f64)], look: Look) -> Markup {
    curve_with(points, look, None)
}

/// A curve whose stroke keeps its width when the reader stretches the drawing.
pub(crate) fn stretchable_curve(points: &[(f64, f64)], look: Look) -> Markup {
    curve_with(points, look, Some("non-scaling-stroke"))
}

fn curve_with(points: &[(f64, f64)], look: Look, effect: Option<&str>) -> Markup {
    let places: Vec<String> =
        points.iter().map(|(x, y)| format!("{},{}", px(*x), px(*y))).collect();
    html! {
        polyline points=(places.join(" ")) fill="none" stroke=(look.colour) stroke-width="1.75"
            stroke-linejoin="round" stroke-dasharray=(look.dash) vector-effect=[effect] {}
    }
}

/// A scheme's marker around this place, `r` pixels in each direction.
pub(crate) fn marker(look: Look, (x, y): (f64, f64), r: f64) -> Markup {
    let shape = |corners: &[(f64, f64)]| {
        let corner = |(dx, dy): &(f64, f64)| format!("{},{}", px(x + r * dx), px(y + r * dy));
        let corners: Vec<String> = corners.iter().map(corner).collect();
        html! { polygon points=(corners.join(" ")) fill=(look.colour) {} }
    };
    let strokes = |ends: [[(f64, f64); 2]; 2]| {
        let at = |(dx, dy): (f64, f64)| (x + r * dx, y + r * dy);
        html! { @for [a, b] in ends { (line(at(a), at(b), look.colour, 1.75)) } }
    };
    match look.marker {
        Marker::Circle => html! { circle cx=(px(x)) cy=(px(y)) r=(px(r)) fill=(look.colour) {} },
        Marker::Square => shape(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        Marker::Triangle => shape(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        Marker::Down => shape(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
        Marker::Diamond => shape(&[(0.0, -1.3), (1.2, 0.0), (0.0, 1.3), (-1.2, 0.0)]),
        Marker::Cross => strokes([[(-1.0, -1.0), (1.0, 1.0)], [(-1.0, 1.0), (1.0, -1.0)]]),
        Marker::Plus => strokes([[(-1.3, 0.0), (1.3, 0.0)], [(0.0, -1.3), (0.0, 1.3)]]),
    }
}

/// A piece of a scheme's curve from `x` on, as a legend shows it.
fn sample(place: usize, x: f64, y: f64) -> Markup {
    let look = Look::at(place);
    html! {
        (curve(&[(x, y), (x + SWATCH, y)], look))
        (marker(look, (x + SWATCH / 2.0, y), 3.5))
    }
}

/// A small drawing of a scheme's look, for the page's own legend.
pub(crate) fn swatch(place: usize) -> Markup {
    html! {
        svg viewBox={ "0 0 " (SWATCH) " 12" } aria-hidden="true" { (sample(place, 0.0, 6.0)) }
    }
}

/// A drawing `width` pixels wide: the frame, and `plot` of the given height below it.
pub(crate) fn drawing(frame: &Frame<'_>, width: f64, (height, plot): (f64, Markup)) -> String {
    let titles = wrapped(frame.title, ((width - 8.0) / TITLE_LETTER) as usize);
    let contexts = wrapped(frame.context, ((width - 8.0) / LETTER) as usize);
    let mut y = LINE / 2.0 + 2.0;
    let mut next = || {
        y += LINE;
        y - LINE
    };
    let head = html! {
        @for part in &titles {
            g font-size=(TITLE_SIZE) font-weight="600" { (text(4.0, next(), Anchor::Start, part)) }
        }
        @for part in &contexts { (text(4.0, next(), Anchor::Start, part)) }
        @for row in legend_rows(&frame.legend, width) {
            @let y = next();
            @for (x, place, name) in row {
                (sample(place, x, y))
                (text(x + SWATCH + 5.0, y, Anchor::Start, &name))
            }
        }
    };
    let top = y - LINE / 2.0 + 4.0;
    let height = top + height;
    let label = [frame.title, frame.context].join(" ");
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label=(printable(label.trim()))
            width=(px(width)) height=(px(height)) viewBox={ "0 0 " (px(width)) " " (px(height)) }
            font-family="system-ui, 'DejaVu Sans', Verdana, sans-serif" font-size=(TEXT_SIZE)
            fill=(TEXT) {
            title { (printable(label.trim())) }
            desc { (printable(frame.caption)) }
            rect width=(px(width)) height=(px(height)) fill=(PAPER) {}
            (head)
            g transform={ "translate(0 " (px(top)) ")" } { (plot) }
        }
    };
    // What has no content needs no end tag.
    let shapes = ["line", "polyline", "polygon", "circle", "rect"];
    let short = |svg: String, shape| svg.replace(&format!("></{shape}>"), "/>");
    shapes.into_iter().fold(svg.into_string(), short)
}

/// Lines of at most `most` letters, broken at blanks.
pub(crate) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(name(word, most)),
        }
    }
    lines
}

/// The entries of a legend with their places in each row.
fn legend_rows(entries: &[(String, usize)], all: f64) -> Vec<Vec<(f64, usize, String)>> {
    let mut rows: Vec<Vec<(f64, usize, String)>> = Vec::new();
    let mut x = f64::INFINITY;
    for (scheme, place) in entries {
        let name = name(scheme, 24);
        let needs = SWATCH + 5.0 + width(&name);
        if x + needs > all - 4.0 {
            rows.push(Vec::new());
            x = 4.0;
        }
        if let Some(row) = rows.last_mut() {
            row.push((x, *place, name));
        }
        x += needs + 12.0;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_both_of_its_ends() {
        assert_eq!(name("dctcp", 5), "dctcp");
        assert_eq!(name("dctcp-threshold-65", 14), "dctcp-t…old-65");
        assert_ne!(name("dctcp-threshold-65", 14), name("dctcp-threshold-30", 14));
    }

    #[test]
    fn text_wraps_and_a_word_that_is_too_long_is_cut() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghijkl", 5), ["ab…kl"]);
        assert!(wrapped("", 8).is_empty());
    }

    #[test]
    fn pixels_have_one_decimal_and_no_negative_zero() {
        assert_eq!([px(1.26), px(-0.01), px(3.0)], ["1.3", "0", "3"]);
    }
}
