//! The lower axis of curves for a varied key, whose values are numbers or texts.

use flowsched_papers::{At, Curve};
use maud::{Markup, html};

use crate::scale::{Axis, Quantity, Scale};
use crate::svg::{Anchor, text, width, wrapped};
use crate::ticks::level_ticks;

/// The approximate width of a letter, and height of a line of text.
const LETTER: f64 = 6.8;
const LINE: f64 = 13.0;
/// The distance between the points of different schemes at the same text.
const ASIDE: f64 = 9.0;

/// The axis of a varied key, `wide` pixels wide.
pub(super) struct Across {
    axis: Axis,
    /// The key's values if they are not all numbers; otherwise empty.
    texts: Vec<String>,
    wide: f64,
}

impl Across {
    /// The axis that holds all values of these curves' key.
    pub fn new<'a>(curves: impl Iterator<Item = &'a Curve>, wide: f64) -> Across {
        let curves: Vec<&Curve> = curves.collect();
        let key = curves.first().map_or("", |curve| curve.key.as_str());
        let numbers: Option<Vec<Vec<f64>>> = curves.iter().map(|curve| curve.numbers()).collect();
        if let Some(numbers) = numbers {
            let axis = of_numbers(key, numbers.into_iter().flatten().collect(), wide);
            return Across { axis, texts: Vec::new(), wide };
        }
        let mut texts: Vec<String> = Vec::new();
        for at in curves.iter().flat_map(|curve| &curve.points).map(|one| one.at.to_string()) {
            if !texts.contains(&at) {
                texts.push(at);
            }
        }
        Across { axis: Axis::of_names(key, texts.clone()), texts, wide }
    }

    /// Whether the key's values are numbers.
    pub fn is_numeric(&self) -> bool {
        self.texts.is_empty()
    }

    /// The place of a value, in pixels.
    pub fn of(&self, at: &At) -> f64 {
        match at {
            At::Number(number) if self.is_numeric() => self.of_number(*number),
            at => {
                let text = at.to_string();
                let place = self.texts.iter().position(|known| *known == text);
                self.of_number(place.unwrap_or_default() as f64)
            }
        }
    }

    /// The place of a number, in pixels.
    pub fn of_number(&self, number: f64) -> f64 {
        self.wide * self.axis.fraction(number)
    }

    /// How far aside to draw the points of scheme number `index`, so that none hides another at a text.
    pub fn aside(&self, index: usize, schemes: usize) -> f64 {
        if self.is_numeric() { 0.0 } else { ASIDE * (index as f64 - (schemes as f64 - 1.0) / 2.0) }
    }

    /// The height of the axis, and its values and title below a plot of this height.
    pub fn draw(&self, high: f64) -> (f64, Markup) {
        if self.is_numeric() {
            let title = text(self.wide / 2.0, high + 28.0, Anchor::Middle, &self.axis.title);
            let drawn = html! {
                @for tick in level_ticks(&self.axis, self.wide) {
                    (text(self.of_number(tick), high + 11.0, Anchor::Middle, &self.axis.text(tick)))
                }
                (title)
            };
            return (40.0, drawn);
        }
        let (start, names, end) = without_common_ends(&self.texts);
        let letters = (self.wide / self.texts.len() as f64 / LETTER) as usize;
        let names: Vec<Vec<String>> = names.iter().map(|name| wrapped(name, letters)).collect();
        let lines = names.iter().map(Vec::len).max().unwrap_or_default() as f64;
        let title = match (start, end) {
            ("", "") => self.axis.title.clone(),
            (start, end) => format!("{} = {start}…{end}", self.axis.title),
        };
        let drawn = html! {
            @for (place, name) in names.iter().enumerate() {
                @for (row, part) in name.iter().enumerate() {
                    (text(self.of_number(place as f64), high + 11.0 + LINE * row as f64, Anchor::Middle, part))
                }
            }
            (text(self.wide / 2.0, high + 15.0 + LINE * lines, Anchor::Middle, &title))
        };
        (27.0 + LINE * lines, drawn)
    }
}

fn of_numbers(key: &str, mut places: Vec<f64>, wide: f64) -> Axis {
    places.sort_by(f64::total_cmp);
    places.dedup();
    let (from, to) = (places[0], places[places.len() - 1]);
    let room = (to - from) * 0.06;
    let of = Quantity {
        title: key.to_owned(),
        column: key.to_owned(),
        label: |value| value.to_string(),
    };
    let axis = Axis::between(of, Scale::Linear, (from - room, to + room));
    let fits = places.iter().map(|at| width(&axis.text(*at)) + 8.0).sum::<f64>() < wide;
    if fits { axis.with_ticks(places) } else { axis }
}

/// What all texts begin and end with, up to a character that is not a letter or digit, and the texts without
/// these ends.
fn without_common_ends(texts: &[String]) -> (&str, Vec<&str>, &str) {
    let first = texts.first().map_or("", String::as_str);
    let is_start = |start: &&str| texts.iter().all(|text| text.starts_with(start));
    let is_end = |end: &&str| texts.iter().all(|text| text.ends_with(end));
    let mark = |c: char| !c.is_alphanumeric();
    let starts = first.rmatch_indices(mark).map(|(place, mark)| &first[..place + mark.len()]);
    let ends = first.match_indices(mark).map(|(place, _)| &first[place..]);
    let (start, end) =
        (starts.clone().find(is_start).unwrap_or(""), ends.clone().find(is_end).unwrap_or(""));
    let inner = |text| -> Option<&str> { str::strip_suffix(str::strip_prefix(text, start)?, end) };
    let names: Option<Vec<&str>> = texts.iter().map(|text| inner(text.as_str())).collect();
    match names {
        Some(names) if texts.len() > 1 => (start, names, end),
        _ => ("", texts.iter().map(String::as_str).collect(), ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_all_of_them_begin_and_end_with() {
        let of = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            let (start, names, end) = without_common_ends(&texts);
            format!("{start}[{}]{end}", names.join("|"))
        };
        assert_eq!(of(&["fig1-abc.csv", "fig1-acb.csv"]), "fig1-[abc|acb].csv");
        assert_eq!(of(&["uniform 2KB 8KB", "uniform 52KB 98KB"]), "uniform [2KB 8KB|52KB 98KB]");
        assert_eq!(of(&["packet", "fluid"]), "[packet|fluid]");
        assert_eq!(of(&["a-b", "a-b-b"]), "[a-b|a-b-b]");
        assert_eq!(of(&[]), "[]");
    }
}
