//! The looks of schemes, and the style sheet of the page.
//!
//! A drawing carries its own colours, those for paper, so that it stays legible outside the page.
//! The style sheet replaces them if the reader prefers a dark page.

use std::fmt::Write as _;

const SHEET: &str = include_str!("style.css");

/// The colours of a drawing that belong to no scheme: on paper, and what replaces them on a
/// dark page.
pub(crate) const PAPER: &str = "#ffffff";
pub(crate) const TEXT: &str = "#1d2125";
pub(crate) const GRID: &str = "#e6e8ea";
pub(crate) const AXIS: &str = "#8b949c";
const DARK: [(&str, &str); 4] =
    [(PAPER, "#1b1f23"), (TEXT, "#e6e9ec"), (GRID, "#2c3238"), (AXIS, "#7b858e")];

/// Colours of schemes on paper and on a dark page. Any two colours of a column differ for readers
/// who see few colours, and each stands out from its background, 3 to 1 (WCAG 2.2, 1.4.11).
const COLOURS: [(&str, &str); 8] = [
    ("#235fae", "#549abe"),
    ("#dd686f", "#d68030"),
    ("#0f9439", "#6ed224"),
    ("#9a4279", "#da8efa"),
    ("#5b6903", "#a9e77c"),
    ("#423b87", "#abb0bf"),
    ("#8c0755", "#b38c81"),
    ("#5e4303", "#51e8c1"),
];

/// Dash patterns of curves, in pixels.
const DASHES: [&str; 5] = ["none", "7 3", "2.5 2.2", "9 2.5 2.5 2.5", "4.5 2"];

/// The shape that marks points of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
    Down,
    Plus,
}

const MARKERS: [Marker; 7] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Cross,
    Marker::Down,
    Marker::Plus,
];

/// How a scheme is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// The colour on paper.
    pub colour: &'static str,
    pub dash: &'static str,
    pub marker: Marker,
}

impl Look {
    /// The look of the scheme at this place of the experiment. The numbers of colours, dashes and
    /// markers have no common factor, so the first 280 looks all differ.
    pub fn at(place: usize) -> Look {
        Look {
            colour: COLOURS[place % COLOURS.len()].0,
            dash: DASHES[place % DASHES.len()],
            marker: MARKERS[place % MARKERS.len()],
        }
    }
}

/// The style sheet.
pub(crate) fn sheet() -> String {
    let mut sheet = SHEET.to_owned();
    sheet.push_str("@media screen and (prefers-color-scheme: dark) {\n");
    for (paper, dark) in DARK.into_iter().chain(COLOURS) {
        _ = writeln!(
            sheet,
            "  [fill=\"{paper}\"] {{ fill: {dark}; }} [stroke=\"{paper}\"] {{ stroke: {dark}; }}"
        );
    }
    sheet.push_str("}\n");
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    type Triple = [f64; 3];

    /// Red, green and blue of linear light, 0 to 1.
    fn linear(colour: &str) -> Triple {
        [1, 3, 5].map(|at| {
            let value = u8::from_str_radix(&colour[at..at + 2], 16).unwrap();
            let value = f64::from(value) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn times(matrix: [Triple; 3], vector: Triple) -> Triple {
        matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
    }

    /// Everyone, then readers without red, green and blue cones (Machado et al., 2009).
    const EYES: [[Triple; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ];

    /// Lightness and two opponent colours, in which distances are as they look (Ottosson's Oklab).
    fn oklab(light: Triple) -> Triple {
        let cones = [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ];
        let opponents = [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ];
        let clamped = light.map(|value| value.clamp(0.0, 1.0));
        times(opponents, times(cones, clamped).map(f64::cbrt))
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |colour| times([[0.2126, 0.7152, 0.0722]; 3], linear(colour))[0] + 0.05;
        let (a, b) = (luminance(a), luminance(b));
        a.max(b) / a.min(b)
    }

    #[test]
    fn colours_stay_apart_for_every_eye_and_stand_out() {
        let columns =
            [(COLOURS.map(|pair| pair.0), PAPER), (COLOURS.map(|pair| pair.1), DARK[0].1)];
        for (colours, page) in columns {
            for (place, a) in colours.iter().enumerate() {
                assert!(contrast(a, page) >= 3.0, "{a} on {page}");
                for (b, eye) in colours[..place].iter().flat_map(|b| EYES.map(|eye| (b, eye))) {
                    let [a, b] = [a, b].map(|colour| oklab(times(eye, linear(colour))));
                    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
                    let apart = squares.sum::<f64>().sqrt();
                    assert!(apart > 0.08, "{} is {apart} from another", colours[place]);
                }
            }
        }
    }

    #[test]
    fn many_schemes_all_look_different() {
        let looks: Vec<Look> = (0..280).map(Look::at).collect();
        for (place, look) in looks.iter().enumerate() {
            assert!(!looks[..place].contains(look), "{look:?} is there twice");
        }
    }
}
